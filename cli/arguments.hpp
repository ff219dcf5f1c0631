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

/// The data input of an operator. A stream is an array or a picture: its first bytes tell, once run_operator() reads them.
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
  std::string help{};  ///< if not empty, this text is shown and nothing is run
  const OperatorSpec* op = nullptr;
  std::vector<Argument> arguments{};  ///< as given on the command line
  Source data{};
  std::vector<ShapeInput> shape_inputs{};
  std::optional<BoundOperator> bound{};  ///< if no shape input is a file
  std::string output{};
  formats::FileFormat format = formats::FileFormat::npy;  ///< of the output
  std::optional<DType> dtype{};  ///< the type of the elements of .npy data; for coverage, of the counts
  std::optional<DType> as{};     ///< the type that the data is converted to on the way in
  bool chw = false;              ///< pictures are C x H x W
  bool batch = false;            ///< pictures have a batch axis of length 1 in front
  PictureOptions picture{};
  std::optional<int> page{};  ///< of a TIFF file
  Reporting reporting{};
  int threads = 0;  ///< 0: as many as the machine has
};

/// Reads the words that follow `patchfold run`. Every Error that it throws is one of usage.
RunRequest parse_run(const std::vector<std::string>& words);

/// `patchfold run` without an operator, and with one.
std::vector<OptionInfo> run_options();
std::vector<OptionInfo> run_options(const OperatorSpec& op);

}  // namespace patchfold::cli
