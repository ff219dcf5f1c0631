// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/split_options.hpp"

namespace patchfold::cli {

/// Does what `patchfold split` is asked to do.
void run_split(const SplitRequest& request);

}  // namespace patchfold::cli
