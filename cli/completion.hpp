// SPDX-License-Identifier: Apache-2.0
// `patchfold completion` and `patchfold __complete`.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace patchfold::cli {

/// Prints or writes the script with which a shell completes. Throws Error(usage, file_write).
void run_completion(const std::vector<std::string>& words);
std::vector<OptionInfo> completion_options();
/// Returns the answer to `patchfold __complete WORD...`: a line for each word that may stand in place of the last one.
std::string candidates(const std::vector<std::string>& words);

}  // namespace patchfold::cli
