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
  std::string help{};  ///< if not empty, this text is shown and nothing is done
  std::string folder{};
  std::string output{};
  formats::FileFormat format = formats::FileFormat::npy;  ///< of the output
  std::string plan{};                                     ///< path of plan.json; empty: in the folder
  bool chw = false;                                       ///< results are arrays of C x H x W, the output is a picture
  bool processed = false;          ///< tiles are results: their checksums, types and channels are their own
  std::optional<Reduce> reduce{};  ///< none: mean of pictures, that of the library for arrays
  WeightWindow window{};
  std::optional<DType> dtype{};  ///< of the output
  std::optional<Scalar> fill{};
  formats::TiffOptions tiff{};
  PictureOptions picture{};
  bool dry_run = false;
  Reporting reporting{};
  int threads = 0;  ///< 0: as many as the machine has
};

/// Reads the words that follow `patchfold merge`. Every Error that it throws is one of usage.
MergeRequest parse_merge(const std::vector<std::string>& words);
std::vector<OptionInfo> merge_options();

}  // namespace patchfold::cli
