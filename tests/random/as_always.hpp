// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/table.hpp"
#include "patchfold/plan.hpp"

namespace patchfold::testing {

/// Undoes forced strategies and settings at its end, also where a check ends early.
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
