// SPDX-License-Identifier: Apache-2.0
// Examples of the dialects that vectors.txt cannot state: types of shape inputs, cases by formula, modes, and large images.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

using keras::ExtractPatches;
using keras::Unfold;
using onnx::DepthToSpace;
using onnx::Mode;
using onnx::SpaceToDepth;
using openvino::AutoPad;
using openvino::ExtractImagePatches;

TEST(OpenvinoSpaceToBatchTypeProp, space_to_batch_invalid_element_type) {
  constexpr std::string_view names[] = {"block_shape", "pads_begin", "pads_end"};
  for (const auto wrong : names) {
    std::vector<Argument> arguments;
    for (const auto name : names)
      arguments.push_back({std::string(name), IndexTensor{{1, 1}, {2}, name == wrong ? DType::float32 : DType::int64}});
    expect_error_of_binding("openvino.SpaceToBatch-2", arguments, {ErrorCode::type}, {wrong});
  }
}

TEST(OpenvinoSpaceToBatchTypeProp, any_integral_type_each) {
  const auto op = table_op("openvino.SpaceToBatch-2", {{"block_shape", IndexTensor{{1, 5}, {2}, DType::uint8}},
                                                       {"pads_begin", IndexTensor{{0, 2}, {2}, DType::int64}},
                                                       {"pads_end", IndexTensor{{0, 0}, {2}, DType::int16}}});
  expect_shape(op, {2, 128}, {10, 26});
}

std::vector<Argument> crops(DType block_shape, DType crops_begin, DType crops_end, const Dims& shape = {2}) {
  return {{"block_shape", IndexTensor{{1, 1}, shape, block_shape}},
          {"crops_begin", IndexTensor{{0, 0}, shape, crops_begin}},
          {"crops_end", IndexTensor{{0, 0}, shape, crops_end}}};
}

TEST(OpenvinoBatchToSpaceTypeProp, batch_to_space_incompatible_input_element_types) {
  const auto i32 = DType::int32, i64 = DType::int64, f32 = DType::float32;
  expect_error_of_binding("openvino.BatchToSpace-2", crops(i64, i32, i32), {ErrorCode::type});
  expect_error_of_binding("openvino.BatchToSpace-2", crops(i32, i64, i32), {ErrorCode::type});
  expect_error_of_binding("openvino.BatchToSpace-2", crops(i64, f32, f32), {ErrorCode::type});
}

TEST(OpenvinoBatchToSpaceTypeProp, batch_to_space_invalid_input_element_types) {
  const auto f32 = DType::float32;
  expect_error_of_binding("openvino.BatchToSpace-2", crops(f32, f32, f32), {ErrorCode::type});
}

TEST(OpenvinoBatchToSpaceTypeProp, batch_to_space_invalid_secondary_inputs_rank) {
  const auto i64 = DType::int64;
  expect_error_of_binding("openvino.BatchToSpace-2", crops(i64, i64, i64, {2, 1}),
                          {ErrorCode::rank, ErrorCode::length, ErrorCode::shape});
}

const openvino::Col2Im large = {{32, 32}, {2, 2}, {2, 2}, {2, 2}, {3, 3}, {3, 3}};

std::vector<Argument> arguments(const IndexTensor& output_size, const IndexTensor& kernel_size) {
  return {{"output_size", output_size}, {"kernel_size", kernel_size}};
}

TEST(OpenvinoCol2ImTypeProp, default_ctor) {
  const auto op = table_op("openvino.Col2Im-15", arguments({{16, 16}, {2}, DType::int64}, {{2, 2}, {2}, DType::int64}));
  expect_shape(op, {3, 12, 225}, {3, 3, 16, 16});
  const openvino::Col2Im defaults;
  EXPECT_TRUE(defaults.strides == Dims({1, 1}) && defaults.dilations == Dims({1, 1}));
  EXPECT_TRUE(defaults.pads_begin == Dims({0, 0}) && defaults.pads_end == Dims({0, 0}));
}

TEST(OpenvinoCol2ImTypeProp, shape_inputs_of_both_index_types) {
  for (const auto type : {DType::int32, DType::int64}) {
    const auto op = table_op("openvino.Col2Im-15", {{"output_size", IndexTensor{{2, 3}, {2}, type}},
                                                    {"kernel_size", IndexTensor{{1, 2}, {2}, type}},
                                                    {"pads_begin", Dims{1, 0}}});
    expect_iota(op, {2, 6}, {1, 2, 3}, {3, 13, 10, 5, 17, 12});
  }
}

TEST(OpenvinoCol2ImTypeProp, incorrect_types) {
  const auto refuse = [](DType output_size, DType kernel_size) {
    expect_error_of_binding("openvino.Col2Im-15", arguments({{16, 16}, {2}, output_size}, {{2, 2}, {2}, kernel_size}),
                            {ErrorCode::type});
  };
  refuse(DType::uint8, DType::int64);
  refuse(DType::int64, DType::uint8);
  refuse(DType::int32, DType::int64);
  refuse(DType::int64, DType::int32);
  refuse(DType::uint32, DType::uint32);
  refuse(DType::float32, DType::float32);
}

TEST(OpenvinoCol2ImTypeProp, shape_inputs_must_have_two_elements) {
  const Dims lists[] = {{}, {2}, {2, 2, 2}};
  for (const auto& list : lists) {
    expect_error(openvino::Col2Im{.output_size = list, .kernel_size = {2, 2}}, {12, 9},
                 {ErrorCode::length, ErrorCode::missing});
    expect_error(openvino::Col2Im{.output_size = {4, 4}, .kernel_size = list}, {12, 9},
                 {ErrorCode::length, ErrorCode::missing});
  }
  expect_error_of_binding("openvino.Col2Im-15", arguments({{16, 16}, {1, 2}, DType::int64}, {{2, 2}, {2}, DType::int64}),
                          {ErrorCode::rank, ErrorCode::length, ErrorCode::shape});
}

const Dims image = {64, 3, 10, 10};

TEST(OpenvinoExtractImagePatchesTypeProp, not_supported_padding) {
  const std::vector<Argument> lists = {{"sizes", Dims{3, 3}}, {"strides", Dims{5, 5}}, {"rates", Dims{1, 1}}};
  auto arguments = lists;
  arguments.push_back({"auto_pad", std::string("explicit")});
  expect_error_of_binding("openvino.ExtractImagePatches-3", arguments, {ErrorCode::value}, {"explicit", "same_lower"});
  expect_error(ExtractImagePatches{{3, 3}, {5, 5}, {1, 1}}, image, {ErrorCode::missing}, {"auto_pad"});
}

// Returns the number of patches along an axis of this extent: those whose last tap lies inside or, with SAME, those whose
// first tap does.
std::int64_t patches(std::int64_t extent, std::int64_t size, std::int64_t rate, std::int64_t stride, AutoPad pad) {
  std::int64_t count = 0;
  const auto last_tap = pad == AutoPad::valid ? (size - 1) * rate : 0;
  for (std::int64_t start = 0; start + last_tap < extent; start += stride) ++count;
  return count;
}

TEST(OpenvinoExtractImagePatchesTypeProp, check_calc_padding) {
  for (const auto pad : {AutoPad::valid, AutoPad::same_lower})
    for (std::int64_t size = 1; size <= 10; ++size)
      for (std::int64_t rate = 1; rate <= 10; ++rate)
        for (std::int64_t stride = 1; stride <= 10; ++stride) {
          const auto expected = patches(100, size, rate, stride, pad);
          const ExtractImagePatches op = {{size, size}, {stride, stride}, {rate, rate}, pad};
          EXPECT_TRUE(op.output_shape({64, 2, 100, 100}) == Dims({64, 2 * size * size, expected, expected}))
              << "size " << size << ", rate " << rate << ", stride " << stride;
        }
}

TEST(OnnxCol2Im, image_shape_and_block_shape_must_be_int64) {
  const auto arguments = [](DType image, DType block) -> std::vector<Argument> {
    return {{"image_shape", IndexTensor{{5, 5}, {2}, image}}, {"block_shape", IndexTensor{{1, 5}, {2}, block}}};
  };
  expect_shape(table_op("onnx.Col2Im-18", arguments(DType::int64, DType::int64)), {1, 5, 5}, {1, 1, 5, 5});
  expect_error_of_binding("onnx.Col2Im-18", arguments(DType::int32, DType::int64), {ErrorCode::type});
  expect_error_of_binding("onnx.Col2Im-18", arguments(DType::int64, DType::int32), {ErrorCode::type});
}

TEST(OrtDepthToSpace, DepthToSpaceTest_3_to_4_mode_defaults_to_DCR) {
  EXPECT_EQ(DepthToSpace{}.mode, Mode::DCR);
  EXPECT_EQ(SpaceToDepth{}.mode, Mode::DCR);
}

TEST(OnnxDepth, unknown_modes_are_refused) {
  for (const auto* name : {"onnx.SpaceToDepth-28", "onnx.DepthToSpace-28"})
    expect_error_of_binding(name, {{"blocksize", std::int64_t{2}}, {"mode", std::string("CDR")}}, {ErrorCode::value},
                            {"CDR", "DCR", "CRD"});
}

// Tests that an infinity stays in its place. Keras itself multiplies by ones and zeros, and infinity times zero is NaN.
TEST(KerasExtractPatches, an_infinity_stays_in_its_place) {
  constexpr std::uint32_t inf = 0x7f800000, one = 0x3f800000, nan = 0x7f800001;
  expect_same<std::uint32_t>(ExtractPatches{.size = 2}, DType::float32, {1, 2, 4, 1},
                             {one, inf, one, nan, one, one, one, one}, {1, 1, 2, 4},
                             {one, inf, one, one, one, nan, one, one});
  expect_same<std::uint32_t>(Unfold{.kernel_size = 2}, DType::float32, {1, 1, 2, 2}, {one, inf, nan, one}, {1, 4, 1},
                             {one, inf, nan, one});
}

// Folds patches of ones to 4 x 512 x 512 with kernel 5 and SAME, so every pixel counts the patches that cover it.
TEST(TensorflowExtractImagePatches, ConstructGradientWithLargeImages) {
  const Dims patches = {4, 512, 512, 25};
  const Fold gradient = {.output_size = {512, 512},
                         .kernel_size = 5,
                         .padding = 2,
                         .layout = Layout::channels_last,
                         .order = Order::kernel,
                         .positions = Positions::grid};
  Ints expected;
  for (int n = 0; n < 4; ++n)
    for (int row = 0; row < 512; ++row)
      for (int column = 0; column < 512; ++column) {
        const auto cover = [](int at) { return std::min({5, at + 3, 514 - at}); };
        expected.push_back(cover(row) * cover(column));
      }
  const DType type[] = {DType::uint8};
  expect_values(gradient, patches, Ints(4 * 512 * 512 * 25, 1), {4, 512, 512, 1}, expected, type);
}

// Expects the fold of 25 patches of 2 x 2, far apart, in an image of more than 2^24 elements, whose indices float32 cannot
// represent. All other pixels are zero.
void expect_far_patches(std::int64_t extent, std::int64_t stride) {
  const auto columns = iota({4, 25});
  const Dims shape = {1, 1, extent, extent};
  const torch::Fold op = {.output_size = {extent, extent}, .kernel_size = 2, .stride = stride};
  expect_shape(op, {1, 4, 25}, shape);
  const auto image = result_of(op, DType::int8, {1, 4, 25}, encode(DType::int8, columns), shape);
  std::int64_t total = 0;
  for (const auto value : image) total += std::to_integer<int>(value);
  EXPECT_EQ(total, 5050);
  for (std::int64_t tap = 0; tap < 4; ++tap)
    for (std::int64_t position = 0; position < 25; ++position) {
      const auto row = position / 5 * stride + tap / 2, column = position % 5 * stride + tap % 2;
      EXPECT_EQ(std::to_integer<int>(image[static_cast<std::size_t>(row * extent + column)]), tap * 25 + position + 1);
    }
}

TEST(UnfoldNdFold, precision_just_beyond_2_24) {
  expect_far_patches(4098, 1024);
}

TEST(UnfoldNdFold, precision_5000_squared) {
  expect_far_patches(5000, 1000);
}

}  // namespace
}  // namespace patchfold::vectors
