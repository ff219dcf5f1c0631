// SPDX-License-Identifier: Apache-2.0
#include "tests/formats/node_test_files.hpp"

namespace patchfold::formats::test {
namespace {

using Attribute = ::onnx::AttributeProto;

Attribute& add_attribute(NodeTestSpec& spec, const std::string& name, Attribute::AttributeType type) {
  Attribute& attribute = *spec.node().add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

NodeTestSpec make(const std::string& op_type, std::int64_t opset, const std::vector<std::string>& inputs) {
  NodeTestSpec spec;
  spec.model.set_ir_version(8);
  spec.model.add_opset_import()->set_version(opset);
  auto& graph = *spec.model.mutable_graph();
  auto& node = *graph.add_node();
  node.set_op_type(op_type);
  for (const auto& name : inputs) {
    node.add_input(name);
    graph.add_input()->set_name(name);
  }
  node.add_output("output");
  graph.add_output()->set_name("output");
  return spec;
}

}  // namespace

::onnx::TensorProto tensor_proto(int data_type, const std::vector<std::int64_t>& dims, const std::string& raw_data) {
  ::onnx::TensorProto proto;
  proto.set_data_type(data_type);
  for (const auto extent : dims) proto.add_dims(extent);
  proto.set_raw_data(raw_data);
  return proto;
}

::onnx::TensorProto int64_proto(const std::vector<std::int64_t>& values) {
  return tensor_proto(::onnx::TensorProto::INT64, {static_cast<std::int64_t>(values.size())}, bytes_of(values));
}

Attribute& NodeTestSpec::add_ints(const std::string& name, const std::vector<std::int64_t>& values) {
  Attribute& attribute = add_attribute(*this, name, Attribute::INTS);
  for (const auto value : values) attribute.add_ints(value);
  return attribute;
}

Attribute& NodeTestSpec::add_int(const std::string& name, std::int64_t value) {
  Attribute& attribute = add_attribute(*this, name, Attribute::INT);
  attribute.set_i(value);
  return attribute;
}

Attribute& NodeTestSpec::add_string(const std::string& name, const std::string& value) {
  Attribute& attribute = add_attribute(*this, name, Attribute::STRING);
  attribute.set_s(value);
  return attribute;
}

NodeTestSpec col2im_test() {
  NodeTestSpec spec = make("Col2Im", 18, {"input", "image_shape", "block_shape"});
  spec.inputs = {tensor_proto(::onnx::TensorProto::FLOAT, {1, 2, 1}, bytes_of(std::vector<float>{1, 2})),
                 int64_proto({1, 2}), int64_proto({1, 2})};
  spec.outputs = {tensor_proto(::onnx::TensorProto::FLOAT, {1, 1, 1, 2}, bytes_of(std::vector<float>{1, 2}))};
  return spec;
}

NodeTestSpec one_input_test(const std::string& op_type, std::int64_t opset) {
  NodeTestSpec spec = make(op_type, opset, {"input"});
  spec.inputs = {tensor_proto(::onnx::TensorProto::UINT8, {1, 1, 2, 2}, "abcd")};
  spec.outputs = {tensor_proto(::onnx::TensorProto::UINT8, {1, 4, 1, 1}, "abcd")};
  spec.add_int("blocksize", 2);
  return spec;
}

void write_data_set(const std::filesystem::path& folder, const NodeTestSpec& spec) {
  std::filesystem::create_directories(folder);
  for (std::size_t i = 0; i < spec.inputs.size(); ++i)
    write_bytes(folder / ("input_" + std::to_string(i) + ".pb"), spec.inputs[i].SerializeAsString());
  for (std::size_t i = 0; i < spec.outputs.size(); ++i)
    write_bytes(folder / ("output_" + std::to_string(i) + ".pb"), spec.outputs[i].SerializeAsString());
}

void write_node_test(const std::filesystem::path& folder, const NodeTestSpec& spec) {
  write_data_set(folder / "test_data_set_0", spec);
  write_bytes(folder / "model.onnx", spec.model.SerializeAsString());
}

}  // namespace patchfold::formats::test
