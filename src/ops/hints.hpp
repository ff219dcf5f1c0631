// SPDX-License-Identifier: Apache-2.0
// Hints for calls that were refused. Each hint is a change of the call, and was tried before it is written.
#pragma once

#include "ops/lowering.hpp"
#include "patchfold/error.hpp"

namespace patchfold::ops {

/// Returns the error of a refused call together with changes that would do, as its hint or as the expected value. A change
/// that leads to no plan is left out.
Error with_hints(const Error& error, const Neutral& op, const Dims& data, const Names& names);

}  // namespace patchfold::ops
