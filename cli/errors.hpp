// SPDX-License-Identifier: Apache-2.0
// `patchfold errors`: the catalogue of errors as text, Markdown and JSON.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace patchfold::cli {

/// Runs `patchfold errors` with the words that follow it. Throws Error(usage).
void run_errors(const std::vector<std::string>& words);
std::vector<OptionInfo> errors_options();

}  // namespace patchfold::cli
