// SPDX-License-Identifier: Apache-2.0
// Finds plans that a thread keeps by the operator's members, before anything is checked or translated.
#pragma once

#include <cstdint>
#include <type_traits>

#include "ops/change.hpp"
#include "patchfold/plan.hpp"

namespace patchfold::ops {

/// Adds all members of an operator to a key. An operator with more members than all others needs one more branch; without the
/// branch this does not compile.
template <class Op>
void add_members(detail::PlanKey& key, const Op& op) noexcept {
  // An aggregate has at least as many members as it takes initialisers.
  if constexpr (requires { Op{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; }) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k] = op;
    key.add(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (requires { Op{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; }) {
    const auto& [a, b, c, d, e, f, g, h, i, j] = op;
    key.add(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (requires { Op{{}, {}, {}, {}, {}, {}}; }) {
    const auto& [a, b, c, d, e, f] = op;
    key.add(a, b, c, d, e, f);
  } else if constexpr (requires { Op{{}, {}, {}, {}, {}}; }) {
    const auto& [a, b, c, d, e] = op;
    key.add(a, b, c, d, e);
  } else if constexpr (requires { Op{{}, {}, {}, {}}; }) {
    const auto& [a, b, c, d] = op;
    key.add(a, b, c, d);
  } else if constexpr (requires { Op{{}, {}, {}}; }) {
    const auto& [a, b, c] = op;
    key.add(a, b, c);
  } else if constexpr (requires { Op{{}, {}}; }) {
    const auto& [a, b] = op;
    key.add(a, b);
  } else if constexpr (!std::is_empty_v<Op>) {
    const auto& [a] = op;
    key.add(a);
  }
}

/// Returns one of the last plans of this thread, or a new one. Errors show the texts of `names`.
template <class Op>
Plan plan(const Op& op, NeutralOf<Op> neutral, const Names& names, const ConstTensorView& data, const TensorView& output) {
  detail::PlanKey key(detail::PlanKey::Maker::library);
  key.add_form(data);
  key.add_form(output);
  key.add(reinterpret_cast<std::uintptr_t>(&Op::name));
  add_members(key, op);
  const auto make = [&] {
    return detail::Planned{lower(neutral(op, data.shape, names), data.shape, names).plan(data, output)};
  };
  return detail::recent_plan(key, make).plan;
}

}  // namespace patchfold::ops
