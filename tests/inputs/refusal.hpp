// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "patchfold/error.hpp"

namespace patchfold::inputs {

/// The error that a call throws, if it does.
template <class F>
std::optional<Error> refusal(const F& call) {
  try {
    call();
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  }
}

}  // namespace patchfold::inputs
