// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/table.hpp"
#include "patchfold/plan.hpp"

namespace patchfold::testing {

/// An object whose destructor undoes forced strategies and settings, even if a check returns early.
struct AsAlways {
  AsAlways() = default;
  AsAlways(const AsAlways&) = delete;
  AsAlways& operator=(const AsAlways&) = delete;
  ~AsAlways() {
    engine::force({});
    use_instruction_set("");
  }
};

}  // namespace patchfold::testing
