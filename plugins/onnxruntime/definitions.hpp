// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "plugins/common/operation.hpp"

namespace patchfold::plugins::ort {

/// Returns the operators of the domain "patchfold". docs/runtimes.md lists their inputs and attributes.
const std::vector<Definition>& definitions();

}  // namespace patchfold::plugins::ort
