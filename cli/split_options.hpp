// SPDX-License-Identifier: Apache-2.0
// The command line of `patchfold split`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/report.hpp"
#include "cli/tile_files.hpp"
#include "patchfold/tiling.hpp"

namespace patchfold::cli {

struct SplitRequest {
  std::string help{};  ///< the help text to show; if not empty, nothing is done
  std::string picture{};
  std::string folder{};
  Axes tile{};
  TilingSpec spec{};             ///< all members but shape and tile
  std::optional<int> quality{};  ///< quality of JPEG tiles
  std::string format{};          ///< format of tiles: png, tif, npy, jpg; empty: one that suits the picture
  TileNames names = TileNames::index;
  std::optional<int> page{};
  std::optional<Scalar> empty{};  ///< tiles that hold only this number get no file
  int level = 0;  ///< of a TIFF file: 0, or the number of a smaller copy
  bool force = false;
  bool dry_run = false;
  Reporting reporting{};
  int threads = 0;  ///< 0: one for each processor of the machine
};

/// Reads the words that follow `patchfold split`. Throws only errors of usage.
SplitRequest parse_split(const std::vector<std::string>& words);
std::vector<OptionInfo> split_options();

}  // namespace patchfold::cli
