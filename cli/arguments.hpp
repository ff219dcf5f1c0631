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

/// A shape input that is given as a file.
struct ShapeInput {
  const ArgumentSpec* argument = nullptr;
  std::string path{};
};

/// What `patchfold run` is asked to do: show its help or run an operator.
struct RunRequest {
  std::string help{};  ///< if not empty, this text is shown and nothing is run
  const OperatorSpec* op = nullptr;
  std::vector<Argument> arguments{};  ///< as given on the command line
  std::string data{};                 ///< path of the data input; empty if the operator has none
  std::vector<ShapeInput> shape_inputs{};
  std::optional<BoundOperator> bound{};  ///< if no shape input is a file
  std::string output{};
  formats::FileFormat format = formats::FileFormat::npy;  ///< of the output
  std::optional<DType> dtype{};  ///< what the elements of the .npy data are; for coverage, what is counted in
  std::optional<DType> as{};     ///< what the data is converted to on the way in
  bool chw = false;              ///< pictures are C x H x W
  bool is_settled = false;       ///< the layout follows the data that came through a pipe
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
