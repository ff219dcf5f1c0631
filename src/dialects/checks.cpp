// SPDX-License-Identifier: Apache-2.0
#include "dialects/checks.hpp"

#include "tensor/fail.hpp"

namespace patchfold::dialects {

void check_length(std::string_view op, std::string_view argument, const Dims& list, int length) {
  if (list.size() == length) return;
  if (list.empty()) fail(ErrorCode::missing, op, argument, "must be given", {}, ErrorValue(length, " numbers"));
  fail(ErrorCode::length, op, argument, "must have " + std::to_string(length) + " entries", list,
       ErrorValue(length, " numbers"));
}

void check_each(std::string_view op, std::string_view argument, const Dims& list, std::int64_t bound) {
  for (const std::int64_t value : list)
    if (value < bound) fail(ErrorCode::value, op, argument, "every entry must be at least " + std::to_string(bound), list);
}

void check_each(std::string_view op, std::string_view argument, const PadsList& list, std::int64_t bound) {
  for (int i = 0; i < list.size(); ++i) check_each(op, argument, {list[i].begin, list[i].end}, bound);
}

void check_number(std::string_view op, std::string_view argument, std::int64_t value, std::int64_t bound) {
  if (value < bound) fail(ErrorCode::value, op, argument, "must be at least " + std::to_string(bound), value);
}

void check_rank(std::string_view op, std::string_view argument, const Dims& shape, int rank) {
  if (shape.size() != rank)
    fail_rank(op, argument, "must have " + std::to_string(rank) + " axes", shape, ErrorValue("rank ", rank));
}

PadsList pairs_of(const Dims& begins, const Dims& ends) {
  PadsList pairs;
  for (int i = 0; i < begins.size(); ++i) pairs.push_back({begins[i], ends[i]});
  return pairs;
}

}  // namespace patchfold::dialects
