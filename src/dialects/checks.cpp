// SPDX-License-Identifier: Apache-2.0
#include "dialects/checks.hpp"

#include "base/checked.hpp"
#include "base/fail.hpp"

namespace patchfold::dialects {

void check_length(std::string_view op, std::string_view argument, const Dims& list, int length) {
  if (list.size() == length) return;
  if (list.empty()) fail(ErrorCode::missing, op, argument, "must be given", {}, ErrorValue(length, " numbers"));
  fail(ErrorCode::length, op, argument, "must have " + std::to_string(length) + " entries", list,
       ErrorValue(length, " numbers"));
}

namespace {

void check_entries(std::string_view op, std::string_view argument, const Dims& list, std::int64_t bound,
                   const ErrorValue& given) {
  for (const std::int64_t value : list)
    if (value < bound) fail(ErrorCode::value, op, argument, "every entry must be at least " + std::to_string(bound), given);
}

}  // namespace

void check_each(std::string_view op, std::string_view argument, const Dims& list, std::int64_t bound) {
  check_entries(op, argument, list, bound, list);
}

void check_each(std::string_view op, std::string_view argument, const Axes& list, std::int64_t bound) {
  check_entries(op, argument, list.values(), bound, list);
}

void check_each(std::string_view op, std::string_view argument, const PadsList& list, std::int64_t bound) {
  for (int i = 0; i < list.size(); ++i) check_each(op, argument, Dims{list[i].begin, list[i].end}, bound);
}

void check_lists(std::string_view op, std::initializer_list<BoundedList> lists) {
  for (const BoundedList& each : lists) check_length(op, each.argument, each.list, each.length);
  for (const BoundedList& each : lists) check_each(op, each.argument, each.list, each.bound);
}

void check_number(std::string_view op, std::string_view argument, std::int64_t value, std::int64_t bound) {
  if (value < bound) fail(ErrorCode::value, op, argument, "must be at least " + std::to_string(bound), value);
}

Dims without_grid(const Dims& columns, int rank) {
  const int axes = columns.size();
  if (rank < 2 || axes < rank + 1 || axes > rank + 2) return {};
  const auto positions = checked_product(columns.slice(axes - rank, axes)).value();
  if (!positions) return {};
  Dims flat = columns.slice(0, axes - rank);
  flat.push_back(*positions);
  return flat;
}

bool folds_grid(const ops::Neutral& op, const Dims& grid, const ops::Names& names) {
  Fold fold = std::get<Fold>(op);
  fold.positions = Positions::grid;
  return ops::Change<Fold>{ops::neutral, fold, grid, names}.plans();
}

PadsList pairs_of(const Dims& begins, const Dims& ends) {
  PadsList pairs;
  for (int i = 0; i < begins.size(); ++i) pairs.push_back({begins[i], ends[i]});
  return pairs;
}

}  // namespace patchfold::dialects
