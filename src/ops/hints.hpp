// SPDX-License-Identifier: Apache-2.0
// Hints for refused calls. A hint is a change of the call; each change is tried before it is proposed.
#pragma once

#include "ops/lowering.hpp"
#include "patchfold/error.hpp"

namespace patchfold::ops {

/// Returns the error of a refused call with working changes of the call, as its hint or as the expected value. Changes that still
/// give an error are left out.
Error with_hints(const Error& error, const Neutral& op, const Dims& data, const Names& names);

}  // namespace patchfold::ops
