// SPDX-License-Identifier: Apache-2.0
// Running one operator from file to file.
#pragma once

#include "cli/arguments.hpp"

namespace patchfold::cli {

/// Runs the operator of the request and writes its output, whole or not at all. Throws Error.
void run_operator(const RunRequest& request);

}  // namespace patchfold::cli
