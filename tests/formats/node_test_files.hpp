// SPDX-License-Identifier: Apache-2.0
// Node tests made by hand, as messages and on the disk.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

#include "tests/formats/support.hpp"

namespace patchfold::formats::test {

::onnx::TensorProto tensor_proto(int data_type, const std::vector<std::int64_t>& dims, const std::string& raw_data);
::onnx::TensorProto int64_proto(const std::vector<std::int64_t>& values);

/// A node test of Col2Im with one data set, which a test then damages.
struct NodeTestSpec {
  ::onnx::ModelProto model{};
  std::vector<::onnx::TensorProto> inputs{};
  std::vector<::onnx::TensorProto> outputs{};

  ::onnx::NodeProto& node() { return *model.mutable_graph()->mutable_node(0); }
  ::onnx::AttributeProto& add_ints(const std::string& name, const std::vector<std::int64_t>& values);
  ::onnx::AttributeProto& add_int(const std::string& name, std::int64_t value);
  ::onnx::AttributeProto& add_string(const std::string& name, const std::string& value);
};

NodeTestSpec col2im_test();
/// The same for an operator with one input.
NodeTestSpec one_input_test(const std::string& op_type, std::int64_t opset);

/// Writes folder/model.onnx and folder/test_data_set_0.
void write_node_test(const std::filesystem::path& folder, const NodeTestSpec& spec);
void write_data_set(const std::filesystem::path& folder, const NodeTestSpec& spec);

}  // namespace patchfold::formats::test
