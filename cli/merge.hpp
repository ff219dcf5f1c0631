// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/merge_options.hpp"

namespace patchfold::cli {

/// Does what `patchfold merge` is asked to do.
void run_merge(const MergeRequest& request);

}  // namespace patchfold::cli
