// SPDX-License-Identifier: Apache-2.0
// Pictures and the layout of operators.
#pragma once

#include "cli/arguments.hpp"

namespace patchfold::cli {

/// Sets the operator's layout to the layout of its pictures: channels last, or with --chw channels first. A layout that the command
/// line names, or that the operator cannot change, must be the layout of the pictures. A single number for the kernel or the block
/// stands for both spatial axes of a picture. Throws Error(usage).
void settle_layout(RunRequest& request);

/// Returns the request with channels first in place of last, or the reverse, if the operator has a layout.
RunRequest with_other_layout(const RunRequest& request);

}  // namespace patchfold::cli
