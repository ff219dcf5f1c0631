// SPDX-License-Identifier: Apache-2.0
// The official ONNX node-test layout: FOLDER/model.onnx and FOLDER/test_data_set_*/{input,output}_*.pb.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "formats/npy.hpp"
#include "patchfold/table.hpp"

namespace patchfold::formats {

struct NodeTestDataSet {
  std::string name{};                  ///< test_data_set_0
  std::vector<LoadedTensor> inputs{};  ///< in the order of the node's inputs, shape inputs included
  LoadedTensor expected{};
};

/// A model that holds one node of one of our operators.
struct NodeTest {
  std::string op{};  ///< name in the operator table: onnx.DepthToSpace-13
  std::vector<Argument> attributes{};
  std::vector<NodeTestDataSet> data_sets{};
};

/// Whether this build reads ONNX files.
bool has_onnx() noexcept;

/// Throws Error with op "onnx" and the path as argument: file_open, file_format, file_unsupported (more than one node,
/// another operator, domain or opset).
NodeTest read_node_test(const std::filesystem::path& folder);

}  // namespace patchfold::formats
