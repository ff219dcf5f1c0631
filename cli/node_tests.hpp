// SPDX-License-Identifier: Apache-2.0
// Running the official ONNX node tests.
#pragma once

#include "cli/arguments.hpp"

namespace patchfold::cli {

/// Runs every data set of every folder, prints one line for each and one that counts them. Returns the exit code. A folder
/// that cannot be read is a line on standard error and counts as a failure.
/// Results must equal the expected ones bit for bit, where any NaN equals any other; only float16 and bfloat16 sums, which
/// the tests' reference rounds at every step, may differ by 16 units in the last place of the largest number involved.
int run_node_tests(const RunRequest& request);

}  // namespace patchfold::cli
