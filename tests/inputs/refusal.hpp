// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>

#include "patchfold/error.hpp"

namespace patchfold::inputs {

/// Returns the error that a call throws, or nothing.
template <class F>
std::optional<Error> refusal(const F& call) {
  try {
    call();
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  }
}

/// Returns whether a list of codes or names contains `value`.
bool holds(const auto& list, const auto& value) {
  return std::ranges::find(list, value) != list.end();
}

}  // namespace patchfold::inputs
