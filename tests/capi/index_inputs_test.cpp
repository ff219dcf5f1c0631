// SPDX-License-Identifier: Apache-2.0
// Tests shape inputs, such as output_size: their element types and memory layouts, and calls with both shape inputs and
// attributes.
#include <algorithm>
#include <cstring>

#include "capi.hpp"

namespace patchfold::test {
namespace {

using Shape = std::vector<std::int64_t>;

constexpr pf_dtype integral[] = {PF_DTYPE_INT8,  PF_DTYPE_INT16,  PF_DTYPE_INT32,  PF_DTYPE_INT64,
                                 PF_DTYPE_UINT8, PF_DTYPE_UINT16, PF_DTYPE_UINT32, PF_DTYPE_UINT64};

/// A list of integers in an element type that is chosen at run time.
struct Index {
  std::vector<unsigned char> bytes;
  Shape shape;
  pf_dtype dtype;

  Index(pf_dtype type, Shape extents, const std::vector<std::int64_t>& values) : shape(std::move(extents)), dtype(type) {
    const std::size_t size = std::max<std::size_t>(pf_dtype_size(type), 1);
    for (const auto value : values) {
      unsigned char raw[16] = {};
      std::memcpy(raw, &value, sizeof value);  // little-endian: the low bytes come first
      bytes.insert(bytes.end(), raw, raw + size);
    }
  }
  pf_tensor view() { return {bytes.data(), shape.data(), nullptr, static_cast<std::int32_t>(shape.size()), dtype, 0}; }
};

/// An operator with two or three shape inputs, and the shape that its output must have.
struct Case {
  const char* op;
  Shape data;
  std::vector<std::pair<Shape, std::vector<std::int64_t>>> inputs;
  Shape expected;
};

const Case onnx_col2im = {"onnx.Col2Im-18", {1, 4, 9}, {{{2}, {4, 4}}, {{2}, {2, 2}}}, {1, 1, 4, 4}};
const Case openvino_col2im = {"openvino.Col2Im-15", {1, 4, 9}, {{{2}, {4, 4}}, {{2}, {2, 2}}}, {1, 1, 4, 4}};
const Case openvino_space_to_batch = {
    "openvino.SpaceToBatch-2", {1, 2, 3}, {{{3}, {1, 1, 2}}, {{3}, {0, 0, 1}}, {{3}, {0, 0, 0}}}, {2, 2, 2}};
const Case openvino_batch_to_space = {
    "openvino.BatchToSpace-2", {2, 2, 2}, {{{3}, {1, 1, 2}}, {{3}, {0, 0, 1}}, {{3}, {0, 0, 0}}}, {1, 2, 3}};
const Case tensorflow_space_to_batch = {"tensorflow.SpaceToBatchND", {1, 3, 2}, {{{1}, {2}}, {{1, 2}, {1, 0}}}, {2, 2, 2}};
const Case tensorflow_batch_to_space = {"tensorflow.BatchToSpaceND", {2, 2, 2}, {{{1}, {2}}, {{1, 2}, {1, 0}}}, {1, 3, 2}};

/// Sets `shape` to the shape of the output, where input i of the case has element type dtypes[i]. Returns the status.
pf_status shape_of(const Case& c, std::vector<pf_dtype> dtypes, Shape& shape) {
  std::vector<Index> lists;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) lists.emplace_back(dtypes[i], c.inputs[i].first, c.inputs[i].second);
  std::vector<pf_tensor> inputs = {
      {nullptr, c.data.data(), nullptr, static_cast<std::int32_t>(c.data.size()), PF_DTYPE_FLOAT32, 4}};
  for (auto& list : lists) inputs.push_back(list.view());
  shape.assign(PF_MAX_RANK, 0);
  std::int32_t rank = PF_MAX_RANK;
  const auto status =
      pf_output_shape(c.op, nullptr, 0, inputs.data(), static_cast<std::int32_t>(inputs.size()), shape.data(), &rank);
  shape.resize(status == PF_OK ? static_cast<std::size_t>(rank) : 0);
  return status;
}

void expect_taken(const Case& c, const std::vector<pf_dtype>& dtypes) {
  Shape shape;
  EXPECT_OK(shape_of(c, dtypes, shape));
  EXPECT_EQ(shape, c.expected);
}

void expect_refused(const Case& c, const std::vector<pf_dtype>& dtypes) {
  Shape shape;
  EXPECT_EQ(shape_of(c, dtypes, shape), PF_ERROR_TYPE)
      << c.op << " " << pf_dtype_name(dtypes[0]) << " " << pf_dtype_name(dtypes[1]);
  EXPECT_STREQ(pf_last_error_part(PF_PART_OPERATOR), c.op);
  EXPECT_STRNE(pf_last_error_part(PF_PART_ARGUMENT), "");
  EXPECT_STRNE(pf_last_error_part(PF_PART_RULE), "");
  EXPECT_STRNE(pf_last_error_part(PF_PART_GIVEN), "");
}

TEST(IndexInputs, OfOnnxAreInt64) {
  for (const auto a : integral)
    for (const auto b : integral)
      a == PF_DTYPE_INT64&& b == PF_DTYPE_INT64 ? expect_taken(onnx_col2im, {a, b}) : expect_refused(onnx_col2im, {a, b});
}

TEST(IndexInputs, OfOpenvinoCol2ImAreBothInt32OrBothInt64) {
  for (const auto a : integral) {
    for (const auto b : integral) {
      const bool taken = a == b && (a == PF_DTYPE_INT32 || a == PF_DTYPE_INT64);
      taken ? expect_taken(openvino_col2im, {a, b}) : expect_refused(openvino_col2im, {a, b});
    }
  }
}

TEST(IndexInputs, OfOpenvinoSpaceToBatchAreAnyIntegers) {
  for (const auto a : integral)
    for (const auto b : integral)
      for (const auto c : integral) expect_taken(openvino_space_to_batch, {a, b, c});
}

TEST(IndexInputs, OfOpenvinoBatchToSpaceAreAnyIntegersOfOneType) {
  for (const auto a : integral) {
    for (const auto b : integral) {
      for (const auto c : integral) {
        a == b&& b == c ? expect_taken(openvino_batch_to_space, {a, b, c})
                        : expect_refused(openvino_batch_to_space, {a, b, c});
      }
    }
  }
}

TEST(IndexInputs, OfTensorflowAreInt32OrInt64EachItsOwn) {
  const auto fine = [](pf_dtype dtype) { return dtype == PF_DTYPE_INT32 || dtype == PF_DTYPE_INT64; };
  for (const auto& op : {tensorflow_space_to_batch, tensorflow_batch_to_space})
    for (const auto a : integral)
      for (const auto b : integral) fine(a) && fine(b) ? expect_taken(op, {a, b}) : expect_refused(op, {a, b});
}

TEST(IndexInputs, NeverHoldAnythingButIntegers) {
  for (const auto dtype :
       {PF_DTYPE_BOOLEAN, PF_DTYPE_FLOAT16, PF_DTYPE_FLOAT32, PF_DTYPE_FLOAT64, PF_DTYPE_COMPLEX64, PF_DTYPE_FLOAT8_E5M2}) {
    expect_refused(onnx_col2im, {dtype, dtype});
    expect_refused(openvino_space_to_batch, {dtype, PF_DTYPE_INT64, PF_DTYPE_INT64});
    expect_refused(openvino_batch_to_space, {dtype, dtype, dtype});
    expect_refused(tensorflow_space_to_batch, {dtype, PF_DTYPE_INT32});
  }
}

/// Sets `shape` to the output's shape of openvino.Col2Im-15 for two shape inputs. Returns the status.
pf_status col2im(const pf_tensor& output_size, const pf_tensor& kernel_size, Shape& shape) {
  static constexpr std::int64_t data_shape[] = {1, 4, 9};
  const pf_tensor inputs[] = {{nullptr, data_shape, nullptr, 3, PF_DTYPE_FLOAT32, 4}, output_size, kernel_size};
  shape.assign(4, -1);
  std::int32_t rank = 4;
  return pf_output_shape("openvino.Col2Im-15", nullptr, 0, inputs, 3, shape.data(), &rank);
}

TEST(IndexInputs, AreReadThroughTheirStrides) {
  std::int32_t numbers[] = {4, -9, -9, 4};
  std::int32_t two = 2;
  const std::int64_t length[] = {2}, far[] = {12}, backwards[] = {-12}, still[] = {0};
  const pf_tensor kernel = {&two, length, still, 1, PF_DTYPE_INT32, 4};
  Shape shape;
  EXPECT_OK(col2im({numbers, length, far, 1, PF_DTYPE_INT32, 4}, kernel, shape));
  EXPECT_EQ(shape, (Shape{1, 1, 4, 4}));
  EXPECT_OK(col2im({numbers + 3, length, backwards, 1, PF_DTYPE_INT32, 4}, kernel, shape));
  EXPECT_EQ(shape, (Shape{1, 1, 4, 4}));
}

TEST(IndexInputs, NeedNoAlignment) {
  std::vector<unsigned char> bytes(33);
  const std::int64_t four[] = {4, 4}, two[] = {2, 2};
  std::memcpy(bytes.data() + 1, four, 16);
  std::memcpy(bytes.data() + 17, two, 16);
  const std::int64_t length[] = {2};
  Shape shape;
  EXPECT_OK(col2im({bytes.data() + 1, length, nullptr, 1, PF_DTYPE_INT64, 8},
                   {bytes.data() + 17, length, nullptr, 1, PF_DTYPE_INT64, 8}, shape));
  EXPECT_EQ(shape, (Shape{1, 1, 4, 4}));
}

TEST(IndexInputs, OfTwoAxesAreReadRowByRowThroughTheirStrides) {
  // The input `paddings` has the shape [2, 2], stored column by column.
  std::int64_t stored[] = {1, 3, 2, 4};
  const std::int64_t data_shape[] = {1, 3, 1, 1}, shape[] = {2, 2}, strides[] = {8, 16};
  const pf_tensor inputs[] = {{nullptr, data_shape, nullptr, 4, PF_DTYPE_FLOAT32, 4},
                              {stored, shape, strides, 2, PF_DTYPE_INT64, 8}};
  const pf_attribute block = pf_integer("block_size", 2);
  std::int64_t result[4];
  std::int32_t rank = 4;
  ASSERT_OK(pf_output_shape("tensorflow.SpaceToBatch", &block, 1, inputs, 2, result, &rank));
  EXPECT_EQ(Shape(result, result + 4), (Shape{4, 3, 4, 1}));
}

TEST(IndexInputs, MayBeGivenAsAttributesButNotTwice) {
  Index size(PF_DTYPE_INT64, {2}, {4, 4}), kernel(PF_DTYPE_INT64, {2}, {2, 2});
  const std::int64_t data_shape[] = {1, 4, 9};
  const pf_tensor inputs[] = {{nullptr, data_shape, nullptr, 3, PF_DTYPE_FLOAT32, 4}, size.view(), kernel.view()};
  const pf_attribute attributes[] = {pf_text("kernel_size", "2,2"), pf_text("output_size", "4,4")};
  std::int64_t shape[4];
  std::int32_t rank = 4;
  EXPECT_OK(pf_output_shape("openvino.Col2Im-15", attributes, 2, inputs, 1, shape, &rank));
  EXPECT_OK(pf_output_shape("openvino.Col2Im-15", attributes, 1, inputs, 2, shape, &rank));
  EXPECT_OK(pf_output_shape("openvino.Col2Im-15", nullptr, 0, inputs, 3, shape, &rank));
  EXPECT_EQ(pf_output_shape("openvino.Col2Im-15", attributes, 1, inputs, 3, shape, &rank), PF_ERROR_UNKNOWN_ARGUMENT);
  EXPECT_STREQ(pf_last_error_part(PF_PART_ARGUMENT), "kernel_size");
  EXPECT_EQ(pf_output_shape("openvino.Col2Im-15", nullptr, 0, inputs, 2, shape, &rank), PF_ERROR_MISSING);
  EXPECT_STREQ(pf_last_error_part(PF_PART_ARGUMENT), "kernel_size");
}

TEST(IndexInputs, ThatMakeNoSenseAreRefused) {
  const std::string op = "openvino.Col2Im-15: ";
  const std::int64_t two[] = {2}, negative[] = {-2}, many[] = {33}, huge[] = {INT64_MAX, 4}, none[] = {0}, square[] = {2, 2};
  std::int64_t numbers[40] = {4, 4, 4, 4};
  const pf_tensor good = {numbers, two, nullptr, 1, PF_DTYPE_INT64, 8};
  Shape shape;
  const auto refused = [&](const pf_tensor& size) { return outcome(col2im(size, good, shape)); };
  EXPECT_EQ(refused({nullptr, two, nullptr, 1, PF_DTYPE_INT64, 8}),
            "null_data: " + op + "output_size: a tensor with elements must have data");
  EXPECT_EQ(refused({numbers, negative, nullptr, 1, PF_DTYPE_INT64, 8}),
            "value: " + op + "output_size: extents must be at least 0; given [-2]");
  EXPECT_EQ(refused({numbers, many, nullptr, 1, PF_DTYPE_INT64, 8}),
            "limit: " + op + "output_size: a shape input holds too many entries; given 33, expected 32");
  EXPECT_EQ(refused({numbers, huge, nullptr, 2, PF_DTYPE_INT64, 8}),
            "overflow: " + op + "output_size: the number of elements must fit into 63 bits; given [9223372036854775807, 4]");
  EXPECT_EQ(refused({numbers, two, nullptr, -1, PF_DTYPE_INT64, 8}),
            "rank: " + op + "output_size: rank must lie between 0 and 32; given -1");
  EXPECT_EQ(refused({numbers, two, nullptr, 1, PF_DTYPE_INT64, 4}),
            "dtype: " + op + "output_size: element_size must be that of int64; given 4, expected 8");
  EXPECT_EQ(refused({numbers, two, nullptr, 1, PF_DTYPE_FLOAT64, 8}),
            "type: " + op + "output_size: a shape input must hold integers; given float64");
  // An empty shape input, a shape input of two axes and a scalar are refused.
  for (const pf_tensor& size :
       {pf_tensor{nullptr, none, nullptr, 1, PF_DTYPE_INT64, 8}, pf_tensor{numbers, square, nullptr, 2, PF_DTYPE_INT64, 8},
        pf_tensor{numbers, nullptr, nullptr, 0, PF_DTYPE_INT64, 8}}) {
    EXPECT_NE(col2im(size, good, shape), PF_OK);
    EXPECT_STREQ(pf_last_error_part(PF_PART_ARGUMENT), "output_size");
  }
  std::uint64_t large[] = {std::uint64_t{1} << 63, 4};
  const std::int64_t data_shape[] = {1, 2};
  const pf_tensor inputs[] = {{nullptr, data_shape, nullptr, 2, PF_DTYPE_FLOAT32, 4},
                              {large, two, nullptr, 1, PF_DTYPE_UINT64, 8}};
  std::int32_t rank = 0;
  EXPECT_EQ(outcome(pf_output_shape("openvino.SpaceToBatch-2", nullptr, 0, inputs, 2, nullptr, &rank)),
            "overflow: openvino.SpaceToBatch-2: block_shape: entries must fit into 63 bits; given 9223372036854775808");
}

}  // namespace
}  // namespace patchfold::test
