// SPDX-License-Identifier: Apache-2.0
// `patchfold ops`: the operator table as text, Markdown and JSON.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace patchfold::cli {

/// Runs `patchfold ops` with the words that follow it. Throws Error(usage, unknown_operator).
void run_ops(const std::vector<std::string>& words);
std::vector<OptionInfo> ops_options();

/// The names of all operators.
std::vector<std::string> operator_names();

}  // namespace patchfold::cli
