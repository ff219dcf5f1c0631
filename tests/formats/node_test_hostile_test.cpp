// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "formats/node_test.hpp"
#include "tests/formats/node_test_files.hpp"

namespace patchfold::formats {
namespace {

using namespace test;

const ErrorCode format = ErrorCode::file_format;
const ErrorCode unsupported = ErrorCode::file_unsupported;

class NodeTestHostile : public ::testing::Test {
 protected:
  void expect_refused(ErrorCode code, const std::string& where, std::string_view fragment) {
    const auto path = where.empty() ? test_ : test_ / where;
    expect_error([&] { read_node_test(test_); }, code, "onnx", path, fragment);
  }

  TempFolder folder_;
  std::filesystem::path test_ = folder_ / "t";
};

TEST_F(NodeTestHostile, EveryDamagedModelIsTheErrorThatItShouldBe) {
  using Damage = std::function<void(NodeTestSpec&)>;
  const struct {
    std::string name;
    Damage damage;
    ErrorCode code;
    std::string fragment;
  } cases[] = {
      {"no node", [](auto& t) { t.model.mutable_graph()->clear_node(); }, unsupported,
       "must be a model of one node; given 0"},
      {"two nodes", [](auto& t) { t.model.mutable_graph()->add_node(); }, unsupported,
       "must be a model of one node; given 2"},
      {"no graph", [](auto& t) { t.model.clear_graph(); }, unsupported, "must be a model of one node; given 0"},
      {"other domain", [](auto& t) { t.node().set_domain("com.example"); }, unsupported,
       "has an operator of a domain that is not read; given com.example"},
      {"other operator", [](auto& t) { t.node().set_op_type("Conv"); }, unsupported,
       "has an operator that is not in the operator table; given Conv of opset 18"},
      {"no operator", [](auto& t) { t.node().clear_op_type(); }, unsupported,
       "has an operator that is not in the operator table"},
      {"operator with a version", [](auto& t) { t.node().set_op_type("Col2Im-18"); }, unsupported,
       "has an operator that is not in the operator table"},
      {"old opset", [](auto& t) { t.model.mutable_opset_import(0)->set_version(17); }, unsupported,
       "given Col2Im of opset 17"},
      {"no opset", [](auto& t) { t.model.clear_opset_import(); }, format, "must import an opset of ONNX"},
      {"opset of another domain", [](auto& t) { t.model.mutable_opset_import(0)->set_domain("x"); }, format,
       "must import an opset of ONNX"},
      {"negative opset", [](auto& t) { t.model.mutable_opset_import(0)->set_version(-1); }, format,
       "must import an opset of ONNX"},
      {"input missing", [](auto& t) { t.node().mutable_input()->RemoveLast(); }, format,
       "must give each input of its operator; given 2, expected 3"},
      {"input too many", [](auto& t) { t.node().add_input("input"); }, format, "given 4, expected 3"},
      {"input from nowhere", [](auto& t) { t.node().set_input(1, "void"); }, format,
       "has a node whose input comes from nowhere; given void"},
      {"input left out", [](auto& t) { t.node().set_input(1, ""); }, format, "has a node whose input comes from nowhere"},
      {"output missing", [](auto& t) { t.node().clear_output(); }, format,
       "must have the output of its node as its only output"},
      {"two outputs", [](auto& t) { t.model.mutable_graph()->add_output(); }, format,
       "must have the output of its node as its only output"},
      {"other output", [](auto& t) { t.node().set_output(0, "void"); }, format,
       "must have the output of its node as its only output"},
      {"attribute without a type", [](auto& t) { t.node().add_attribute()->set_name("odd"); }, unsupported,
       "must have attributes that are numbers, strings or lists of at most 32 integers; given odd"},
      {"attribute with a tensor", [](auto& t) { t.add_int("odd", 1).set_type(::onnx::AttributeProto::TENSOR); }, unsupported,
       "given odd"},
      {"attribute of 33 integers", [](auto& t) { t.add_ints("odd", std::vector<std::int64_t>(33, 1)); }, unsupported,
       "given odd"},
      {"constant that is too short",
       [](auto& t) {
         auto& constant = *t.model.mutable_graph()->add_initializer();
         constant = tensor_proto(7, {2}, "x");
         constant.set_name("image_shape");
       },
       format, "must hold as many values as its shape says; given 1 byte, expected 16 bytes"},
  };
  for (const auto& [name, damage, code, fragment] : cases) {
    SCOPED_TRACE(name);
    NodeTestSpec spec = col2im_test();
    damage(spec);
    write_node_test(test_, spec);
    expect_refused(code, "model.onnx", fragment);
  }
}

TEST_F(NodeTestHostile, FilesThatAreNotThere) {
  expect_refused(ErrorCode::file_open, "model.onnx", "cannot be opened: No such file or directory");
  write_bytes(test_, "a file and no folder");
  expect_refused(ErrorCode::file_open, "model.onnx", "cannot be opened: Not a directory");
  std::filesystem::remove(test_);
  std::filesystem::create_directories(test_ / "model.onnx");
  expect_refused(ErrorCode::file_open, "model.onnx", "must be a regular file; given a folder");
  std::filesystem::remove_all(test_);

  const NodeTestSpec spec = col2im_test();
  write_node_test(test_, spec);
  std::filesystem::remove_all(test_ / "test_data_set_0");
  expect_refused(format, "", "must hold folders named test_data_set_N");
  write_bytes(test_ / "test_data_set_0", "a file and no folder");
  expect_refused(ErrorCode::file_open, "test_data_set_0", "cannot be read: Not a directory");
}

TEST_F(NodeTestHostile, DataThatDoesNotFitTheModel) {
  const auto set = test_ / "test_data_set_0";
  const NodeTestSpec spec = col2im_test();
  write_node_test(test_, spec);
  std::filesystem::remove(set / "input_2.pb");
  expect_refused(format, "test_data_set_0", "must hold one input_N.pb for each input of the model; given 2, expected 3");
  write_bytes(set / "input_3.pb", "");
  expect_refused(ErrorCode::file_open, "test_data_set_0/input_2.pb", "cannot be opened: No such file or directory");
  write_node_test(test_, spec);
  expect_refused(format, "test_data_set_0", "given 4, expected 3");
  std::filesystem::remove(set / "input_3.pb");
  EXPECT_NO_THROW(read_node_test(test_));
  write_bytes(set / "output_1.pb", "");
  expect_refused(format, "test_data_set_0", "must hold one output_N.pb for each output of the model; given 2, expected 1");
  std::filesystem::remove(set / "output_1.pb");
  std::filesystem::remove(set / "output_0.pb");
  expect_refused(format, "test_data_set_0", "given 0, expected 1");
}

TEST_F(NodeTestHostile, FilesThatAreNoMessages) {
  write_node_test(test_, col2im_test());
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "\x3A\x7F";
  // A length of 2 GB, a group that does not end, a tag of zero, and a varint of more than ten bytes.
  for (const std::string& bytes : {std::string(), std::string("\x3A\xFF\xFF\xFF\xFF\x07"), std::string("\x0B"),
                                   std::string(8, '\0'), std::string(20, '\xFF'), deep, std::string("hello world")}) {
    SCOPED_TRACE(bytes.substr(0, 20));
    write_bytes(test_ / "model.onnx", bytes);
    expect_refused(format, "model.onnx", "must be an ONNX file (a protocol buffer)");
  }
  write_node_test(test_, col2im_test());
  write_bytes(test_ / "test_data_set_0/input_0.pb", "hello world");
  expect_refused(format, "test_data_set_0/input_0.pb", "must be an ONNX file (a protocol buffer)");
}

TEST_F(NodeTestHostile, ModelsThatAreTooLarge) {
  write_node_test(test_, col2im_test());
  std::filesystem::resize_file(test_ / "model.onnx", (std::uint64_t{1} << 26) + 1);
  expect_refused(unsupported, "model.onnx", "is too large; given 67108865 bytes, expected at most 67108864 bytes");
  write_node_test(test_, col2im_test());
  std::filesystem::resize_file(test_ / "test_data_set_0/input_0.pb", std::uint64_t{1} << 31);
  expect_refused(unsupported, "test_data_set_0/input_0.pb", "is too large; given 2147483648 bytes");
}

}  // namespace
}  // namespace patchfold::formats
