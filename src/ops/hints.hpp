// SPDX-License-Identifier: Apache-2.0
// What to type instead of a call that was refused. Every proposal is a change of the call, tried before it is written.
#pragma once

#include "ops/lowering.hpp"
#include "patchfold/error.hpp"

namespace patchfold::ops {

/// Returns the error of a call that was refused, with the changes of the call that would do: as its hint, or as what it
/// expects. A change that does not lead to a plan is not in it.
Error with_hints(const Error& error, const Neutral& op, const Dims& data, const Names& names);

}  // namespace patchfold::ops
