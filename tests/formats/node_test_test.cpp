// SPDX-License-Identifier: Apache-2.0
#include "formats/node_test.hpp"

#include "tests/formats/node_test_files.hpp"

namespace patchfold::formats {
namespace {

using namespace test;

class NodeTestRead : public ::testing::Test {
 protected:
  NodeTest read(const NodeTestSpec& spec) {
    std::filesystem::remove_all(folder_ / "t");
    write_node_test(folder_ / "t", spec);
    return read_node_test(folder_ / "t");
  }
  std::string op_of(const std::string& op_type, std::int64_t opset) { return read(one_input_test(op_type, opset)).op; }

  TempFolder folder_;
};

TEST_F(NodeTestRead, ModelAndData) {
  EXPECT_TRUE(has_onnx());
  NodeTestSpec spec = col2im_test();
  spec.add_ints("pads", {0, 1, 0, 1});
  spec.add_ints("strides", {});
  const NodeTest test = read(spec);
  EXPECT_EQ(test.op, "onnx.Col2Im-18");
  ASSERT_EQ(test.attributes.size(), 2U);
  EXPECT_EQ(test.attributes[0].name, "pads");
  EXPECT_EQ(std::get<Dims>(test.attributes[0].value), (Dims{0, 1, 0, 1}));
  EXPECT_EQ(std::get<Dims>(test.attributes[1].value), Dims{});
  ASSERT_EQ(test.data_sets.size(), 1U);
  EXPECT_EQ(test.data_sets[0].name, "test_data_set_0");
  ASSERT_EQ(test.data_sets[0].inputs.size(), 3U);
  EXPECT_EQ(test.data_sets[0].inputs[0].view.shape, (Dims{1, 2, 1}));
  EXPECT_EQ(test.data_sets[0].inputs[1].view.dtype, DType::int64);
  EXPECT_EQ(elements_of(test.data_sets[0].inputs[2].view), bytes_of(std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(test.data_sets[0].expected.view.shape, (Dims{1, 1, 1, 2}));
}

TEST_F(NodeTestRead, AttributesOfEveryKind) {
  NodeTestSpec spec = one_input_test("DepthToSpace", 13);
  spec.add_string("mode", "CRD");
  auto& number = *spec.node().add_attribute();
  number.set_name("number");
  number.set_type(::onnx::AttributeProto::FLOAT);
  number.set_f(1.5F);
  const NodeTest test = read(spec);
  ASSERT_EQ(test.attributes.size(), 3U);
  EXPECT_EQ(std::get<std::int64_t>(test.attributes[0].value), 2);
  EXPECT_EQ(std::get<std::string>(test.attributes[1].value), "CRD");
  EXPECT_EQ(std::get<Scalar>(test.attributes[2].value).real(), 1.5);
}

TEST_F(NodeTestRead, NewestVersionThatTheOpsetHas) {
  EXPECT_EQ(op_of("SpaceToDepth", 1), "onnx.SpaceToDepth-1");
  EXPECT_EQ(op_of("SpaceToDepth", 12), "onnx.SpaceToDepth-1");
  EXPECT_EQ(op_of("SpaceToDepth", 13), "onnx.SpaceToDepth-13");
  EXPECT_EQ(op_of("SpaceToDepth", 18), "onnx.SpaceToDepth-13");
  EXPECT_EQ(op_of("SpaceToDepth", 1000), "onnx.SpaceToDepth-28");
  EXPECT_EQ(op_of("DepthToSpace", 11), "onnx.DepthToSpace-11");
  NodeTestSpec spec = one_input_test("SpaceToDepth", 13);
  spec.node().set_domain("ai.onnx");
  spec.model.mutable_opset_import(0)->set_domain("ai.onnx");
  auto& other = *spec.model.add_opset_import();
  other.set_domain("com.example");
  other.set_version(1000);
  EXPECT_EQ(read(spec).op, "onnx.SpaceToDepth-13");
}

TEST_F(NodeTestRead, DataSetsInTheOrderOfTheirNumbers) {
  const NodeTestSpec spec = col2im_test();
  write_node_test(folder_ / "t", spec);
  for (const auto* name : {"test_data_set_10", "test_data_set_2"}) write_data_set(folder_ / "t" / name, spec);
  std::vector<std::string> names;
  for (const auto& data_set : read_node_test(folder_ / "t").data_sets) names.push_back(data_set.name);
  EXPECT_EQ(names, (std::vector<std::string>{"test_data_set_0", "test_data_set_2", "test_data_set_10"}));
}

TEST_F(NodeTestRead, InputsInTheOrderOfTheNodeAndConstantsFromTheModel) {
  NodeTestSpec spec = col2im_test();
  auto& graph = *spec.model.mutable_graph();
  // The graph takes block_shape first; image_shape is a constant, which old models list among the inputs too.
  graph.mutable_input(0)->set_name("block_shape");
  graph.mutable_input(1)->set_name("image_shape");
  graph.mutable_input(2)->set_name("input");
  auto& constant = *graph.add_initializer();
  constant = int64_proto({5, 6, 7});
  constant.set_name("image_shape");
  spec.inputs = {int64_proto({8}), tensor_proto(::onnx::TensorProto::UINT8, {1}, "x")};
  const NodeTest test = read(spec);
  ASSERT_EQ(test.data_sets[0].inputs.size(), 3U);
  EXPECT_EQ(elements_of(test.data_sets[0].inputs[0].view), "x");
  EXPECT_EQ(elements_of(test.data_sets[0].inputs[1].view), bytes_of(std::vector<std::int64_t>{5, 6, 7}));
  EXPECT_EQ(elements_of(test.data_sets[0].inputs[2].view), bytes_of(std::vector<std::int64_t>{8}));
}

TEST_F(NodeTestRead, OutlivesItsFiles) {
  const NodeTest test = read(col2im_test());
  std::filesystem::remove_all(folder_ / "t");
  const auto set = test.data_sets[0];
  EXPECT_EQ(elements_of(set.expected.view), bytes_of(std::vector<float>{1, 2}));
}

}  // namespace
}  // namespace patchfold::formats
