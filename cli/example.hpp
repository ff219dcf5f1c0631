// SPDX-License-Identifier: Apache-2.0
// An example command for every operator, found by trying: the table says what an operator accepts, so nothing has to be
// written down twice.
#pragma once

#include <string>

#include "patchfold/table.hpp"

namespace patchfold::cli {

struct Example {
  std::string command{};  ///< "patchfold run fold columns.npy --output_size 4,4 --kernel_size 2,2 -o output.npy"
  std::string options{};  ///< of them " --output_size 4,4 --kernel_size 2,2"
  Dims shape{};           ///< of the data input
};

/// The first small example that the operator accepts.
Example example_of(const OperatorSpec& op);

}  // namespace patchfold::cli
