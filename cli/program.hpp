// SPDX-License-Identifier: Apache-2.0
// The program: runs a command, and turns an error into one line and an exit code.
#pragma once

#include <string>
#include <vector>

namespace patchfold::cli {

/// Runs the program with the words after its name. Returns the exit code. Throws nothing.
int run_program(const std::vector<std::string>& words);

}  // namespace patchfold::cli
