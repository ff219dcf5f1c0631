// SPDX-License-Identifier: Apache-2.0
// The command line of `patchfold run`; the operator table defines each operator's options.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/picture_options.hpp"
#include "cli/report.hpp"
#include "formats/rows.hpp"
#include "patchfold/table.hpp"

namespace patchfold::cli {

/// The data input of an operator. A stream may be an array or a picture: run_operator() tells which from its first bytes.
struct Source {
  enum class Kind { none, array, picture, stream };

  std::string path{};
  Kind kind = Kind::none;
};

/// A shape input that is given as a file.
struct ShapeInput {
  const ArgumentSpec* argument = nullptr;
  std::string path{};
};

/// A request to `patchfold run`: to show its help, or to run an operator.
struct RunRequest {
  std::string help{};  ///< the help text to show; if not empty, nothing is run
  const OperatorSpec* op = nullptr;
  std::vector<Argument> arguments{};  ///< as given on the command line
  Source data{};
  std::vector<ShapeInput> shape_inputs{};
  std::optional<BoundOperator> bound{};  ///< set if no shape input is a file
  std::string output{};
  formats::FileFormat format = formats::FileFormat::npy;  ///< the output's format
  std::optional<DType> dtype{};                           ///< element type of .npy data; for coverage, of its counts
  std::optional<DType> as{};  ///< element type to which the data is converted before the operator runs
  bool chw = false;           ///< pictures are C x H x W
  bool batch = false;         ///< pictures get a batch axis of length 1 in front
  PictureOptions picture{};
  std::optional<int> page{};  ///< the page of a TIFF file
  int level = 0;              ///< of a TIFF file: 0, or the number of a smaller copy
  Reporting reporting{};
  int threads = 0;  ///< 0: one for each processor of the machine
};

/// Reads the words that follow `patchfold run`. Throws only errors of usage.
RunRequest parse_run(const std::vector<std::string>& words);

/// Returns the options of `patchfold run` without an operator, and with one.
std::vector<OptionInfo> run_options();
std::vector<OptionInfo> run_options(const OperatorSpec& op);

}  // namespace patchfold::cli
