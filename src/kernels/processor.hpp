// SPDX-License-Identifier: Apache-2.0
// The instruction sets that kernels run on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace patchfold::kernels {

/// Returns the instruction sets that are built in and that the processor has, best first.
std::vector<std::string> instruction_sets();
/// Chooses one of instruction_sets() by its name, in upper or lower case; "" chooses the best. Returns false if there is no such
/// set. Before the first choice, kernels use the set in the environment variable PATCHFOLD_INSTRUCTION_SET, or else the best set.
bool use_instruction_set(std::string_view name);

}  // namespace patchfold::kernels
