// SPDX-License-Identifier: Apache-2.0
// The command line of `patchfold merge`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/picture_options.hpp"
#include "cli/report.hpp"
#include "formats/rows.hpp"
#include "patchfold/tiling.hpp"

namespace patchfold::cli {

struct MergeRequest {
  std::string help{};  ///< the help text to show; if not empty, nothing is done
  std::string folder{};
  std::string output{};
  formats::FileFormat format = formats::FileFormat::npy;  ///< the output's format
  std::string plan{};                                     ///< path of plan.json; empty: plan.json in the folder
  std::string pattern{};  ///< what the names of tiles mean, if no plan lists the tiles; may be empty
  Axes tile{};            ///< with a pattern: extents of tiles; empty: those of the largest file
  TilingSpec spec{};      ///< with a pattern: all members but shape and tile
  bool has_tail = false;  ///< whether the spec's tail was given
  Dims shape{};           ///< with a pattern: height and width of the whole; empty: where tiles end
  bool chw = false;                                       ///< results are arrays of C x H x W, the output is a picture
  bool processed = false;          ///< tiles are results of a function: checksum, type and channels may differ from the plan's
  std::optional<Reduce> reduce{};  ///< none: the default of MergeSpec::reduce
  WeightWindow window{};
  std::optional<DType> dtype{};  ///< the output's element type
  std::optional<Scalar> fill{};
  PictureOptions picture{};
  bool dry_run = false;
  bool force = false;  ///< an output with the name of the picture that was split replaces this picture
  Reporting reporting{};
  int threads = 0;  ///< 0: one for each processor of the machine
};

/// Reads the words that follow `patchfold merge`. Throws only errors of usage.
MergeRequest parse_merge(const std::vector<std::string>& words);
std::vector<OptionInfo> merge_options();

}  // namespace patchfold::cli
