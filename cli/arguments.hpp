// SPDX-License-Identifier: Apache-2.0
// The command line of `patchfold run`, read with the operator table.
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

/// The data input of an operator. run_operator() sees from its first bytes whether a stream is an array or a picture.
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
  std::string help{};  ///< if not empty, patchfold shows this text and runs nothing
  const OperatorSpec* op = nullptr;
  std::vector<Argument> arguments{};  ///< as given on the command line
  Source data{};
  std::vector<ShapeInput> shape_inputs{};
  std::optional<BoundOperator> bound{};  ///< if no shape input is a file
  std::string output{};
  formats::FileFormat format = formats::FileFormat::npy;  ///< the output's format
  std::optional<DType> dtype{};                           ///< element type of .npy data; for coverage, of the counts
  std::optional<DType> as{};  ///< element type that the data is converted to before the operator runs
  bool chw = false;           ///< pictures are C x H x W
  bool batch = false;         ///< pictures get a batch axis of length 1 in front
  PictureOptions picture{};
  std::optional<int> page{};  ///< TIFF only: the number of the page
  Reporting reporting{};
  int threads = 0;  ///< 0: one for each processor of the machine
};

/// Reads the words that follow `patchfold run`. Throws only errors of usage.
RunRequest parse_run(const std::vector<std::string>& words);

/// Returns the options of `patchfold run` without an operator, and with one.
std::vector<OptionInfo> run_options();
std::vector<OptionInfo> run_options(const OperatorSpec& op);

}  // namespace patchfold::cli
