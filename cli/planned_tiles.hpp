// SPDX-License-Identifier: Apache-2.0
// The tiles of a plan in their files, as `patchfold merge` reads them.
#pragma once

#include <memory>

#include "cli/merge_options.hpp"
#include "cli/tile_files.hpp"
#include "formats/tile_plan.hpp"

namespace patchfold::cli {

/// Returns the plan's tiling, for the axes of the output: H x W x C where arrays of C x H x W become a picture. Throws
/// Error(value).
Tiling tiling_of(const MergeRequest& request, const formats::TilePlan& plan);

/// The tiles of a plan in their files. open_tiles() has found all files (some may be missing if there is a fill), and has checked
/// the first one. Errors name the tile and
/// its file.
class PlannedTiles {
 public:
  virtual ~PlannedTiles() = default;

  virtual const formats::ElementType& type() const noexcept = 0;
  /// Returns the extents of the axes that are not tiled.
  virtual const Dims& channels() const noexcept = 0;
  /// Returns a tile with the axes of the output, after checking it, also by its checksum. Several threads may call read() at once.
  virtual LoadedTile read(std::int64_t index) const = 0;
  /// Returns, for each tile, 0 if it has no file; an empty list if all have one.
  virtual const std::vector<std::uint8_t>& mask() const noexcept = 0;
  /// Returns the number of tiles whose files the plan lists and the folder lacks.
  virtual std::int64_t missing() const noexcept = 0;
};

/// Returns the opened tiles. `plan` and `tiling`, the result of tiling_of(), must outlive them. Throws Error(file_open, shape,
/// dtype, ..).
std::unique_ptr<const PlannedTiles> open_tiles(const MergeRequest& request, const formats::TilePlan& plan,
                                               const Tiling& tiling);

}  // namespace patchfold::cli
