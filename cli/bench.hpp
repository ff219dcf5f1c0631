// SPDX-License-Identifier: Apache-2.0
// `patchfold bench`: how fast this machine runs problems, against the roof of the same run.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace patchfold::cli {

/// Reads the words that follow `patchfold bench`, and measures. Throws Error.
void run_bench(const std::vector<std::string>& words);
std::vector<OptionInfo> bench_options();

}  // namespace patchfold::cli
