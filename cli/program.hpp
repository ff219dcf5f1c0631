// SPDX-License-Identifier: Apache-2.0
// The program: chooses the command, and turns errors into one line and an exit code.
#pragma once

#include <string>
#include <vector>

namespace patchfold::cli {

/// Runs the program with the words that follow its name; returns the exit code. Throws nothing.
int run_program(const std::vector<std::string>& words);

}  // namespace patchfold::cli
