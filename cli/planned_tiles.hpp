// SPDX-License-Identifier: Apache-2.0
// The files of a plan of tiles, as `patchfold merge` reads them.
#pragma once

#include <memory>

#include "cli/merge_options.hpp"
#include "cli/tile_files.hpp"
#include "formats/tile_plan.hpp"

namespace patchfold::cli {

/// Returns the tiling of the output's first axes. Throws Error(value).
Tiling tiling_of(const MergeRequest& request, const formats::TilePlan& plan);

/// The tiles of a plan in their files. All files exist, and the first file is checked. Errors name the tile and its file.
class PlannedTiles {
 public:
  virtual ~PlannedTiles() = default;

  virtual const formats::ElementType& type() const noexcept = 0;
  /// Returns the extents of the axes that are not tiled.
  virtual const Dims& channels() const noexcept = 0;
  /// Reads and checks a tile, also by its checksum, and returns it with the axes of the output. Several threads may call read() at
  /// once.
  virtual LoadedTile read(std::int64_t index) const = 0;
};

/// Opens the tiles; `plan` and the result of tiling_of() must live as long as the object. Throws Error(file_open, shape,
/// dtype, ..).
std::unique_ptr<const PlannedTiles> open_tiles(const MergeRequest& request, const formats::TilePlan& plan,
                                               const Tiling& tiling);

}  // namespace patchfold::cli
