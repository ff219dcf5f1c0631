// SPDX-License-Identifier: Apache-2.0
// The command line of `patchfold run`, read with the operator table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/picture_options.hpp"
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
  std::optional<DType> dtype{};  ///< what the elements of the .npy data are; for coverage, what is counted in
  std::optional<DType> as{};     ///< what the data is converted to on the way in
  bool chw = false;              ///< pictures are C x H x W
  PictureOptions picture{};
  std::optional<int> page{};  ///< of a TIFF file
  bool quiet = false;
  int threads = 0;  ///< 0: as many as the machine has
};

/// Reads the words that follow `patchfold run`. Every Error that it throws is one of usage.
RunRequest parse_run(const std::vector<std::string>& words);

}  // namespace patchfold::cli
