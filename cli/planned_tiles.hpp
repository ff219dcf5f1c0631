// SPDX-License-Identifier: Apache-2.0
// The files of a plan of tiles, as `patchfold merge` reads them.
#pragma once

#include <memory>

#include "cli/merge_options.hpp"
#include "cli/tile_files.hpp"
#include "formats/tile_plan.hpp"

namespace patchfold::cli {

/// The tiling of the output's first axes. Throws Error(value).
Tiling tiling_of(const MergeRequest& request, const formats::TilePlan& plan);

/// Tiles in files, all of which are there, and of which the first has been looked at. Errors name the tile and its file.
class PlannedTiles {
 public:
  /// The plan, and the tiling that tiling_of() gave, must live as long. Throws Error(file_open, shape, dtype, ..).
  PlannedTiles(const MergeRequest& request, const formats::TilePlan& plan, const Tiling& tiling);
  ~PlannedTiles();
  PlannedTiles(const PlannedTiles&) = delete;
  PlannedTiles& operator=(const PlannedTiles&) = delete;

  const formats::ElementType& type() const noexcept;
  /// Extents of the axes that are not tiled.
  const Dims& channels() const noexcept;
  bool are_pictures() const;
  /// A tile as the output has its axes, checked, also against the plan's checksum. From several threads at once.
  LoadedTile read(std::int64_t index) const;

 private:
  class Files;
  std::unique_ptr<const Files> files_;
};

}  // namespace patchfold::cli
