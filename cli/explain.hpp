// SPDX-License-Identifier: Apache-2.0
// `patchfold explain`.
#pragma once

#include <string>
#include <vector>

namespace patchfold::cli {

/// Prints what an operator does to a tensor of one shape. Throws Error: every one but file_write is one of usage.
void run_explain(const std::vector<std::string>& words);

}  // namespace patchfold::cli
