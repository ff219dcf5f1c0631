// SPDX-License-Identifier: Apache-2.0
// The example of a row of the operator table, as a command.
#pragma once

#include <string>

#include "patchfold/table.hpp"

namespace patchfold::cli {

struct Example {
  std::string command{};  ///< "patchfold run fold columns.npy --output_size 4,4 --kernel_size 2,2 -o output.npy"
  std::string options{};  ///< of them " --output_size 4,4 --kernel_size 2,2"
  Dims shape{};           ///< of the data input
};

Example example_of(const OperatorSpec& op);

}  // namespace patchfold::cli
