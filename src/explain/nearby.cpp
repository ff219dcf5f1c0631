// SPDX-License-Identifier: Apache-2.0
// Finds problems that an operator accepts and that differ little from a problem that it refuses.
#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/checked.hpp"
#include "dialects/text.hpp"
#include "explain/patches.hpp"
#include "patchfold/explain.hpp"

namespace patchfold::explaining {
namespace {

/// The largest change of one number; the largest change of each of two numbers; the most problems that are shown.
constexpr std::int64_t most_away = 64, most_away_of_two = 8;
constexpr std::size_t most_shown = 5;

/// A number of a problem: an extent of the data, or an entry of an argument.
struct Slot {
  int argument = -1;  ///< -1: the shape
  int entry = -1;     ///< the number's index in a list; -1: the argument is a single number
  bool end = false;   ///< the number is the second one of a pair
};

std::int64_t number_at(const ProblemText& problem, const Slot& slot) {
  if (slot.argument < 0) return problem.shape[slot.entry];
  const ArgumentValue& value = problem.arguments[static_cast<std::size_t>(slot.argument)].value;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* list = std::get_if<Dims>(&value)) return (*list)[slot.entry];
  const Pads pads = std::get<PadsList>(value)[slot.entry];
  return slot.end ? pads.end : pads.begin;
}

void set_number(ProblemText& problem, const Slot& slot, std::int64_t wanted) {
  if (slot.argument < 0) {
    problem.shape[slot.entry] = wanted;
    return;
  }
  ArgumentValue& value = problem.arguments[static_cast<std::size_t>(slot.argument)].value;
  if (auto* number = std::get_if<std::int64_t>(&value)) {
    *number = wanted;
  } else if (auto* list = std::get_if<Dims>(&value)) {
    (*list)[slot.entry] = wanted;
  } else {
    PadsList pads;
    for (int i = 0; i < std::get<PadsList>(value).size(); ++i) {
      Pads pair = std::get<PadsList>(value)[i];
      if (i == slot.entry) (slot.end ? pair.end : pair.begin) = wanted;
      pads.push_back(pair);
    }
    value = pads;
  }
}

std::vector<Slot> slots_of(const OperatorSpec& op, const ProblemText& problem) {
  std::vector<Slot> slots;
  if (!op.data_input.empty())
    for (int axis = 0; axis < problem.shape.size(); ++axis) slots.push_back({-1, axis, false});
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    const auto argument = static_cast<int>(i);
    const ArgumentSpec* spec = dialects::find_argument(op, problem.arguments[i].name);
    if (spec == nullptr || spec->kind == ArgumentKind::boolean) continue;
    const ArgumentValue& value = problem.arguments[i].value;
    if (std::holds_alternative<std::int64_t>(value)) slots.push_back({argument, -1, false});
    if (const auto* list = std::get_if<Dims>(&value))
      for (int entry = 0; entry < list->size(); ++entry) slots.push_back({argument, entry, false});
    if (const auto* pads = std::get_if<PadsList>(&value))
      for (int entry = 0; entry < pads->size(); ++entry)
        for (const bool end : {false, true}) slots.push_back({argument, entry, end});
  }
  return slots;
}

/// Returns the error with which the operator refuses a problem; nothing if it accepts the problem.
std::optional<Error> refusal_of(const OperatorSpec& op, const ProblemText& problem) {
  try {
    (void)op.bind(problem.arguments).lower(op.data_input.empty() ? Dims{} : problem.shape);
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  }
}

/// A problem that the operator accepts, and how it differs from the wrong problem.
struct Fix {
  ProblemText problem;
  std::string change;
  std::int64_t distance = 0;
};

class Search {
 public:
  Search(const OperatorSpec& op, const ProblemText& wrong, const Error& error)
      : op_(op), wrong_(wrong), slots_(slots_of(op, wrong)) {
    // The expected value in an error is often the right number.
    for (const ErrorValue::Part& part : error.parts().expected.parts())
      if (const auto* number = std::get_if<std::int64_t>(&part)) expected_.push_back(*number);
  }

  std::vector<Fix> run() {
    for (const Slot& slot : slots_) try_slot(slot);
    if (fixes_.empty())
      for (std::size_t i = 0; i < slots_.size(); ++i)
        for (std::size_t j = i + 1; j < slots_.size(); ++j)
          if (slots_[i].argument == slots_[j].argument) try_pair(slots_[i], slots_[j]);
    std::ranges::stable_sort(fixes_, {}, &Fix::distance);
    if (fixes_.size() > most_shown) fixes_.erase(fixes_.begin() + most_shown, fixes_.end());
    return std::move(fixes_);
  }

 private:
  void try_slot(const Slot& slot) {
    const std::int64_t given = number_at(wrong_, slot);
    for (const std::int64_t number : expected_)
      if (number != given && slot.argument < 0) try_change({{slot, number}});
    for (const std::int64_t sign : {-1, 1})
      for (std::int64_t away = 1; away <= most_away; ++away) {
        const std::int64_t number = moved(given, sign * away);
        if (number < 0 && given >= 0) break;
        if (try_change({{slot, number}})) break;
      }
  }

  void try_pair(const Slot& a, const Slot& b) {
    std::optional<Fix> nearest;
    const std::int64_t first = number_at(wrong_, a), second = number_at(wrong_, b);
    for (std::int64_t i = -most_away_of_two; i <= most_away_of_two; ++i)
      for (std::int64_t j = -most_away_of_two; j <= most_away_of_two; ++j) {
        if (i == 0 || j == 0 || moved(first, i) < 0 || moved(second, j) < 0) continue;
        if (nearest && std::abs(i) + std::abs(j) >= nearest->distance) continue;
        if (auto fix = changed({{a, moved(first, i)}, {b, moved(second, j)}})) nearest = std::move(fix);
      }
    if (nearest) fixes_.push_back(std::move(*nearest));
  }

  /// Returns a + b; a if the sum overflows, which the small numbers of this search never do.
  static std::int64_t moved(std::int64_t a, std::int64_t b) { return checked_add(a, b).value_or(a); }

  using Changes = std::vector<std::pair<Slot, std::int64_t>>;

  bool try_change(const Changes& changes) {
    auto fix = changed(changes);
    if (!fix) return false;
    if (std::ranges::find(fixes_, fix->change, &Fix::change) == fixes_.end()) fixes_.push_back(std::move(*fix));
    return true;
  }

  std::optional<Fix> changed(const Changes& changes) {
    Fix fix{wrong_, {}, 0};
    for (const auto& [slot, number] : changes) {
      const std::int64_t away = checked_sub(number, number_at(wrong_, slot)).value_or(size_limit);
      fix.distance = checked_add(fix.distance, std::abs(away)).value_or(size_limit);
      set_number(fix.problem, slot, number);
    }
    if (refusal_of(op_, fix.problem)) return std::nullopt;
    const Slot& slot = changes.front().first;
    if (slot.argument < 0) {
      fix.change =
          std::string(op_.data_input) + " " + to_string(fix.problem.shape) + " instead of " + to_string(wrong_.shape);
      fix.distance -= 1;  // of two equally large changes, the change of the data's shape is better
    } else {
      const auto i = static_cast<std::size_t>(slot.argument);
      fix.change = wrong_.arguments[i].name + "=" + to_string(fix.problem.arguments[i].value) + " instead of " +
                   to_string(wrong_.arguments[i].value);
    }
    return fix;
  }

  const OperatorSpec& op_;
  ProblemText wrong_;
  std::vector<Slot> slots_;
  std::vector<std::int64_t> expected_{};
  std::vector<Fix> fixes_{};
};

}  // namespace
}  // namespace patchfold::explaining

namespace patchfold {

std::string explain_error(const ProblemText& problem) {
  using namespace explaining;
  const OperatorSpec& op = find_operator(problem.op);
  const std::optional<Error> error = refusal_of(op, problem);
  if (!error) return {};
  const std::vector<Fix> fixes = Search(op, problem, *error).run();
  if (fixes.empty()) return {};
  Text text;
  text.line("What is wrong");
  text.line("  " + std::string(error->what()));
  text.section("What would be right, nearest first");
  for (const Fix& fix : fixes) {
    text.line("  " + fix.change);
    text.line("    " + to_string(fix.problem), 6);
  }
  const Fix& nearest = fixes.front();
  const Subject subject{op, nearest.problem.arguments,
                        op.bind(nearest.problem.arguments).lower(op.data_input.empty() ? Dims{} : nearest.problem.shape),
                        nearest.problem.dtype, nearest.problem.element_size};
  text.section("Why: the formulas of the nearest one, " + to_string(nearest.problem));
  if (subject.has_input()) text.line("  " + std::string(op.data_input) + ": " + to_string(subject.input()));
  text.line("  output: " + to_string(subject.output()));
  for (const AxisFormula& line : output_formulas(subject)) text.line("  " + line.axis + ": " + line.formula);
  write_windows(text, subject);
  return text.take();
}

}  // namespace patchfold
