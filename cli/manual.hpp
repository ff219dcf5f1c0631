// SPDX-License-Identifier: Apache-2.0
// `patchfold man`: manual pages, made from the definitions of the commands and from the operator table.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace patchfold::cli {

/// Runs `patchfold man` with the words that follow it. Throws Error(usage, file_write).
void run_man(const std::vector<std::string>& words);
CommandInfo man_info();

}  // namespace patchfold::cli
