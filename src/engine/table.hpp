// SPDX-License-Identifier: Apache-2.0
// Chooses the strategy that runs a problem in normal form.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/compiled.hpp"
#include "kernels/stream.hpp"

namespace patchfold::engine {

/// Returns the names in the strategy table, in the order in which strategies are tried.
std::vector<std::string_view> strategy_names();

/// Returns the plan of a problem in normal form, by the first strategy that fits it and pays.
std::unique_ptr<Compiled> plan_normal(const Problem& normal);

/// Overrides for the choice of strategies and stores, for tests and measurements.
struct Forced {
  std::string_view strategy{};            ///< the only row that is tried; "": all. A problem that this row does not fit is
                                          ///< planned as without this field.
  std::optional<kernels::Store> store{};  ///< replaces the result of store_of()
  std::string_view without{};             ///< a row that is not tried if another one fits; "": none
};
/// Sets the choices that all later plans must make. No other thread may plan during this call.
void force(const Forced& forced) noexcept;

}  // namespace patchfold::engine
