// SPDX-License-Identifier: Apache-2.0
// The example of a row of the operator table as a command line.
#pragma once

#include <string>

#include "patchfold/table.hpp"

namespace patchfold::cli {

struct Example {
  std::string command{};  ///< "patchfold run fold columns.npy --output_size 4,4 --kernel_size 2,2 -o output.npy"
  std::string options{};  ///< the options in `command`: " --output_size 4,4 --kernel_size 2,2"
  Dims shape{};           ///< shape of the data input
};

Example example_of(const OperatorSpec& op);

}  // namespace patchfold::cli
