// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "patchfold/table.hpp"

namespace patchfold::tensorflow {

/// The rows of ExtractImagePatches and ExtractVolumePatches.
std::vector<OperatorSpec> patch_rows();

}  // namespace patchfold::tensorflow
