// SPDX-License-Identifier: Apache-2.0
// Lists the integers of a problem: extents of the data and the numbers of all arguments.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "patchfold/table.hpp"

namespace patchfold::limits {

/// A function that sets one integer of a problem of the same form.
using Slot = std::function<void(ProblemText&, std::int64_t)>;

inline std::vector<Slot> slots_of(const ProblemText& problem) {
  std::vector<Slot> slots;
  for (int axis = 0; axis < problem.shape.size(); ++axis)
    slots.push_back([axis](ProblemText& p, std::int64_t value) { p.shape[axis] = value; });
  const OperatorSpec& spec = find_operator(problem.op);
  for (std::size_t a = 0; a < problem.arguments.size(); ++a) {
    const Argument& argument = problem.arguments[a];
    const auto kind = std::ranges::find(spec.arguments, argument.name, &ArgumentSpec::name)->kind;
    if (kind == ArgumentKind::boolean || kind == ArgumentKind::number) continue;
    const auto add = [&](auto set) {
      slots.push_back([a, set](ProblemText& p, std::int64_t value) { set(p.arguments[a].value, value); });
    };
    if (std::holds_alternative<std::int64_t>(argument.value)) add([](ArgumentValue& to, std::int64_t v) { to = v; });
    if (const auto* list = std::get_if<Dims>(&argument.value))
      for (int i = 0; i < list->size(); ++i) add([i](ArgumentValue& to, std::int64_t v) { std::get<Dims>(to)[i] = v; });
    if (const auto* tensor = std::get_if<IndexTensor>(&argument.value))
      for (int i = 0; i < tensor->values.size(); ++i)
        add([i](ArgumentValue& to, std::int64_t v) { std::get<IndexTensor>(to).values[i] = v; });
    if (const auto* pairs = std::get_if<PadsList>(&argument.value))
      for (int i = 0; i < 2 * pairs->size(); ++i)
        add([i](ArgumentValue& to, std::int64_t v) {
          const PadsList before = std::get<PadsList>(to);
          PadsList after;
          for (int axis = 0; axis < before.size(); ++axis)
            after.push_back({2 * axis == i ? v : before[axis].begin, 2 * axis + 1 == i ? v : before[axis].end});
          to = after;
        });
  }
  return slots;
}

}  // namespace patchfold::limits
