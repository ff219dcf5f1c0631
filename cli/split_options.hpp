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
  std::string help{};  ///< if not empty, this text is shown and nothing is done
  std::string picture{};
  std::string folder{};
  Axes tile{};
  TilingSpec spec{};             ///< without shape and tile
  std::optional<int> quality{};  ///< of JPEG tiles
  std::string format{};          ///< of tiles: png, tif, npy, jpg; empty: what suits the picture
  TileNames names = TileNames::index;
  std::optional<int> page{};
  bool force = false;
  bool dry_run = false;
  Reporting reporting{};
  int threads = 0;  ///< 0: as many as the machine has
};

/// Reads the words that follow `patchfold split`. Every Error that it throws is one of usage.
SplitRequest parse_split(const std::vector<std::string>& words);
std::vector<OptionInfo> split_options();

}  // namespace patchfold::cli
