// SPDX-License-Identifier: Apache-2.0
// `patchfold explain`.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "patchfold/table.hpp"

namespace patchfold::cli {

/// Prints what an operator does to a tensor of one shape. Throws Error: every one but file_write is one of usage.
void run_explain(const std::vector<std::string>& words);
/// `patchfold explain` with an operator, and without one.
std::vector<OptionInfo> explain_options(const OperatorSpec& op);
std::vector<OptionInfo> explain_options();

/// `patchfold explain tiling`. Throws as run_explain does.
void run_explain_tiling(const std::vector<std::string>& words);
std::vector<OptionInfo> explain_tiling_options();

}  // namespace patchfold::cli
