// SPDX-License-Identifier: Apache-2.0
// Tiles that split did not make: the names of their files say where they lie.
#pragma once

#include "cli/merge_options.hpp"
#include "formats/tile_plan.hpp"

namespace patchfold::cli {

/// Returns the plan of the tiles in the folder whose names fit request.pattern. Opens every such file to read its size. The extents
/// of the whole are request.shape, or end with the last tiles. Throws Error(usage, value, ..), also for places that are no grid.
formats::TilePlan plan_of_names(const MergeRequest& request);

}  // namespace patchfold::cli
