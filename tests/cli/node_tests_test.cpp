// SPDX-License-Identifier: Apache-2.0
// ONNX node tests, written here as protocol buffers byte by byte.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "formats/node_test.hpp"
#include "tests/cli/program.hpp"

namespace patchfold::cli_test {
namespace {

std::string varint(std::uint64_t value) {
  std::string text;
  for (; value >= 128; value >>= 7) text += static_cast<char>(value | 128);
  return text + static_cast<char>(value);
}
std::string number(unsigned field, std::uint64_t value) {
  return varint(field << 3) + varint(value);
}
std::string bytes(unsigned field, const std::string& value) {
  return varint(field << 3 | 2) + varint(value.size()) + value;
}

enum Type { float32 = 1, int64 = 7, float16 = 10 };

template <class T>
std::string tensor(Type type, const std::vector<std::int64_t>& shape, const std::vector<T>& values) {
  std::string text;
  for (const auto extent : shape) text += number(1, static_cast<std::uint64_t>(extent));
  return text + number(2, type) +
         bytes(9, std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
}

std::string integer_attribute(const std::string& name, std::int64_t value) {
  return bytes(5, bytes(1, name) + number(3, static_cast<std::uint64_t>(value)) + number(20, 2));
}
std::string text_attribute(const std::string& name, const std::string& value) {
  return bytes(5, bytes(1, name) + bytes(4, value) + number(20, 3));
}
std::string list_attribute(const std::string& name, const std::vector<std::int64_t>& values) {
  std::string text = bytes(1, name);
  for (const auto value : values) text += number(8, static_cast<std::uint64_t>(value));
  return bytes(5, text + number(20, 7));
}

std::string model(const std::string& op, int inputs, const std::string& attributes, int opset) {
  std::string node, graph;
  for (int i = 0; i < inputs; ++i) node += bytes(1, "input" + std::to_string(i));
  node += bytes(2, "output") + bytes(4, op) + attributes;
  graph = bytes(1, node) + bytes(2, "test");
  for (int i = 0; i < inputs; ++i) graph += bytes(11, bytes(1, "input" + std::to_string(i)));
  graph += bytes(12, bytes(1, "output"));
  return number(1, 8) + bytes(7, graph) + bytes(8, number(2, static_cast<std::uint64_t>(opset)));
}

class NodeTests : public testing::Test {
 protected:
  void SetUp() override {
    if (!formats::has_onnx()) GTEST_SKIP() << "built without ONNX";
  }
  void add(const std::string& name, const std::string& model_bytes, const std::vector<std::string>& inputs,
           const std::string& output, const std::string& set = "test_data_set_0") {
    folder_.write(name + "/model.onnx", model_bytes);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      folder_.write(name + "/" + set + "/input_" + std::to_string(i) + ".pb", inputs[i]);
    folder_.write(name + "/" + set + "/output_0.pb", output);
  }
  /// ONNX's test_col2im_pads; the 24 was published as 14.
  void add_col2im(const std::string& name, float published, const std::string& set = "test_data_set_0") {
    std::vector<float> columns(75);
    for (std::size_t row = 0; row < 5; ++row)
      for (std::size_t position = 0; position < 15; ++position)
        columns[row * 15 + position] = static_cast<float>(1 + row + 5 * position);
    std::vector<float> image = {8,   21, 24, 27,  24,  38,  66,  69,  72,  54,  68,  111, 114,
                                117, 84, 98, 156, 159, 162, 114, 128, 201, 204, 207, 144};
    image[4] = published;
    add(name, model("Col2Im", 3, list_attribute("pads", {0, 1, 0, 1}), 18),
        {tensor(float32, {1, 5, 15}, columns), tensor<std::int64_t>(int64, {2}, {5, 5}),
         tensor<std::int64_t>(int64, {2}, {1, 5})},
        tensor(float32, {1, 1, 5, 5}, image), set);
  }

  Folder folder_;
};

TEST_F(NodeTests, PassWhereResultsAreEqual) {
  add_col2im("pads", 24);
  const Outcome outcome = folder_.run("run pads");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "pass test_data_set_0 onnx.Col2Im-18 float32 (1, 1, 5, 5)\n1 passed, 0 failed\n");
  EXPECT_EQ(folder_.run("run pads --quiet").out, "1 passed, 0 failed\n");
}

TEST_F(NodeTests, FailWhereOneElementDiffers) {
  add_col2im("pads", 14);
  add_col2im("pads", 24, "test_data_set_1");
  const Outcome outcome = folder_.run("run pads");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out,
            "fail test_data_set_0 onnx.Col2Im-18 float32 (1, 1, 5, 5): first difference at [0,0,0,4]: got 24, expected 14\n"
            "pass test_data_set_1 onnx.Col2Im-18 float32 (1, 1, 5, 5)\n"
            "1 passed, 1 failed\n");
}

TEST_F(NodeTests, RunSeveralFolders) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  add_col2im("pads", 24);
  add("depth", model("DepthToSpace", 1, integer_attribute("blocksize", 2) + text_attribute("mode", "CRD"), 13),
      {tensor<float>(float32, {1, 4, 1, 1}, {1, nan, -0.0F, 4})}, tensor<float>(float32, {1, 1, 2, 2}, {1, -nan, -0.0F, 4}));
  add("space", model("SpaceToDepth", 1, integer_attribute("blocksize", 2), 20),
      {tensor<float>(float32, {1, 1, 2, 2}, {1, 2, 0, 4})}, tensor<float>(float32, {1, 4, 1, 1}, {1, 2, -0.0F, 4}));
  const Outcome outcome = folder_.run("run pads depth space");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out,
            "pass pads/test_data_set_0 onnx.Col2Im-18 float32 (1, 1, 5, 5)\n"
            "pass depth/test_data_set_0 onnx.DepthToSpace-13 float32 (1, 1, 2, 2)\n"
            "fail space/test_data_set_0 onnx.SpaceToDepth-13 float32 (1, 4, 1, 1): first difference at [0,2,0,0]: got 0, "
            "expected -0\n"
            "2 passed, 1 failed\n");
}

/// 2048 + 1 + 1 is 2048 if each step is rounded to float16, and 2050 if the sum is.
TEST_F(NodeTests, AllowHalfPrecisionSumsToBeRoundedAtEveryStep) {
  const auto half = [](int value) {
    return static_cast<std::uint16_t>(value == 0 ? 0
                                                 : 0x3c00 + (std::ilogb(value) << 10) +
                                                       static_cast<int>((value / std::exp2(std::ilogb(value)) - 1) * 1024));
  };
  const auto add_sum = [&](const std::string& name, int expected) {
    const std::vector<std::uint16_t> columns = {0, 0, half(2048), 0, half(1), 0, half(1), 0, 0};
    add(name, model("Col2Im", 3, "", 18),
        {tensor(float16, {1, 3, 3}, columns), tensor<std::int64_t>(int64, {1}, {5}), tensor<std::int64_t>(int64, {1}, {3})},
        tensor<std::uint16_t>(float16, {1, 1, 5}, {0, 0, half(expected), 0, 0}));
  };
  add_sum("step", 2048);
  add_sum("once", 2050);
  add_sum("wrong", 2112);
  EXPECT_EQ(folder_.run("run step once").code, 0);
  EXPECT_EQ(folder_.run("run wrong").out,
            "fail test_data_set_0 onnx.Col2Im-18 float16 (1, 1, 5): first difference at [0,0,2]: got 2050, expected 2112\n"
            "0 passed, 1 failed\n");
  add("moved", model("DepthToSpace", 1, integer_attribute("blocksize", 1), 13),
      {tensor<std::uint16_t>(float16, {1, 1, 1, 1}, {half(2048)})},
      tensor<std::uint16_t>(float16, {1, 1, 1, 1}, {half(2050)}));
  EXPECT_EQ(folder_.run("run moved").code, 1);
}

TEST_F(NodeTests, FailWhereTypesOrShapesDiffer) {
  const std::string depth = model("DepthToSpace", 1, integer_attribute("blocksize", 2), 13);
  const std::string input = tensor<float>(float32, {1, 4, 1, 1}, {1, 2, 3, 4});
  add("shape", depth, {input}, tensor<float>(float32, {1, 1, 4, 1}, {1, 2, 3, 4}));
  add("type", depth, {input}, tensor<std::int64_t>(int64, {1, 1, 2, 2}, {1, 2, 3, 4}));
  add("odd", depth, {tensor<float>(float32, {1, 3, 1, 1}, {1, 2, 3})}, tensor<float>(float32, {1, 1, 2, 2}, {1, 2, 3, 4}));
  EXPECT_NE(folder_.run("run shape").out.find("got float32 (1, 1, 2, 2), expected float32 (1, 1, 4, 1)"), std::string::npos);
  EXPECT_NE(folder_.run("run type").out.find("got float32 (1, 1, 2, 2), expected int64 (1, 1, 2, 2)"), std::string::npos);
  const Outcome odd = folder_.run("run odd");
  EXPECT_EQ(odd.code, 1);
  EXPECT_NE(odd.out.find("fail test_data_set_0 onnx.DepthToSpace-13: "), std::string::npos) << odd.out;
  EXPECT_NE(odd.out.find("0 passed, 1 failed\n"), std::string::npos) << odd.out;
}

TEST_F(NodeTests, SayWhatTheyCannotRead) {
  std::filesystem::create_directory(folder_.path("empty"));
  add("other", model("Relu", 1, "", 13), {}, "");
  folder_.write("junk/model.onnx", "this is no model");
  for (const char* name : {"empty", "other", "junk"}) {
    const Outcome outcome = folder_.run(std::string("run ") + name);
    EXPECT_EQ(outcome.code, 1) << name;
    EXPECT_EQ(outcome.err.find("patchfold: onnx: "), 0U) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  add_col2im("pads", 24);
  const Outcome mixed = folder_.run("run junk pads");
  EXPECT_EQ(mixed.code, 1);
  EXPECT_EQ(mixed.out, "pass pads/test_data_set_0 onnx.Col2Im-18 float32 (1, 1, 5, 5)\n1 passed, 1 failed\n");
  EXPECT_EQ(folder_.run("run pads", {.close_output = true}).code, 1);
  EXPECT_EQ(folder_.run("run empty -o out.npy").code, 2);
  EXPECT_EQ(folder_.run("run empty --chw").code, 2);
}

}  // namespace
}  // namespace patchfold::cli_test
