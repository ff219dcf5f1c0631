// SPDX-License-Identifier: Apache-2.0
// Tests that a sum of one element keeps the bits of every number but -0.0, and that the elements of source and destination
// may be interleaved.
// Tests parameters near 2^40 and 2^63 with few positions: results are right, come at once, and need no number that
// overflows. Sizes that do not fit are refused.
// Tests cases that users of other libraries reported as broken. Expected values for the data 1, 2, 3, .. come from a
// separate index-by-index program in Python, unless the result must equal the data.
// Tests rulings that rulings.txt cannot state: messages, explanations, and types that cannot be added.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "patchfold/explain.hpp"
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

// Expects that fold, which adds even where a pixel has one contribution, changes -0.0 to +0.0, keeps NaN as NaN, and keeps
// the bits of every other number.
template <class T>
void expect_fold(const Fold& op, DType dtype, const Dims& in, const Dims& out, const Ints& source, T exponent, T mantissa) {
  const auto bits = special_bits(dtype);
  std::vector<T> data;
  for (std::size_t i = 0; i < static_cast<std::size_t>(element_count(in)); ++i)
    data.push_back(static_cast<T>(bits[i % bits.size()]));
  const T minus_zero = static_cast<T>(T{1} << (8 * sizeof(T) - 1));
  const auto got = result_of(op, dtype, in, bytes_of(data), out);
  ASSERT_EQ(got.size(), source.size() * sizeof(T));
  for (std::size_t i = 0; i < source.size(); ++i) {
    T value = 0;
    for (std::size_t byte = sizeof(T); byte-- > 0;)
      value = static_cast<T>(value << 8 | std::to_integer<T>(got[i * sizeof(T) + byte]));
    const T from = data[static_cast<std::size_t>(source[i] - 1)];
    if ((from & exponent) == exponent && (from & mantissa) != 0)
      EXPECT_TRUE((value & exponent) == exponent && (value & mantissa) != 0) << name_of(dtype) << " element " << i;
    else
      EXPECT_EQ(value, from == minus_zero ? T{0} : from) << name_of(dtype) << " element " << i;
  }
}

void expect_fold_of_all(const Fold& op, const Dims& in, const Dims& out, const Ints& source) {
  expect_fold<std::uint16_t>(op, DType::float16, in, out, source, 0x7c00, 0x03ff);
  expect_fold<std::uint16_t>(op, DType::bfloat16, in, out, source, 0x7f80, 0x007f);
  expect_fold<std::uint32_t>(op, DType::float32, in, out, source, 0x7f800000, 0x007fffff);
  expect_fold<std::uint64_t>(op, DType::float64, in, out, source, 0x7ff0000000000000, 0x000fffffffffffff);
}

TEST(FoldOfSingleContributions, KernelOneStrideOne) {
  expect_fold_of_all(Fold{.output_size = {13}, .kernel_size = 1}, {1, 2, 13}, {1, 2, 13}, iota({26}));
  expect_fold_of_all(Fold{.output_size = {5, 13}, .kernel_size = 1}, {2, 3, 65}, {2, 3, 5, 13}, iota({390}));
}

TEST(FoldOfSingleContributions, KernelEqualToStride) {
  expect_fold_of_all(Fold{.output_size = {4, 6}, .kernel_size = 2, .stride = 2}, {1, 8, 6}, {1, 2, 4, 6},
                     {1,  7,  2,  8,  3,  9,  13, 19, 14, 20, 15, 21, 4,  10, 5,  11, 6,  12, 16, 22, 17, 23, 18, 24,
                      25, 31, 26, 32, 27, 33, 37, 43, 38, 44, 39, 45, 28, 34, 29, 35, 30, 36, 40, 46, 41, 47, 42, 48});
  expect_fold_of_all(Fold{.output_size = {26}, .kernel_size = {2}, .stride = 2}, {1, 2, 13}, {1, 1, 26},
                     {1, 14, 2, 15, 3, 16, 4, 17, 5, 18, 6, 19, 7, 20, 8, 21, 9, 22, 10, 23, 11, 24, 12, 25, 13, 26});
}

TEST(FoldOfSingleContributions, BooleansBecomeZeroOrOne) {
  const std::vector<std::uint8_t> columns = {0, 1, 2, 0x80, 0xff, 0}, image = {0, 1, 1, 1, 1, 0};
  expect_same(Fold{.output_size = {6}, .kernel_size = {1}}, DType::boolean, {1, 1, 6}, columns, {1, 1, 6}, image);
  expect_same<std::uint8_t>(Fold{.output_size = {6}, .kernel_size = {2}, .stride = 2}, DType::boolean, {1, 2, 3}, columns,
                            {1, 1, 6}, {0, 1, 1, 1, 1, 0});
}

// Tests that interleaved buffers, whose elements do not overlap, are accepted.
TEST(InterleavedBuffers, AreDistinct) {
  std::vector<float> buffer{0, -1, 1, -1, 2, -1, 3, -1};
  const ConstTensorView src{buffer.data(), {1, 1, 4}, {32, 32, 8}, DType::float32, 4};
  const TensorView dst{buffer.data() + 1, {1, 1, 4}, {32, 32, 8}, DType::float32, 4};
  const Plan plan = Unfold{.kernel_size = {1}}.plan(src, dst);
  EXPECT_EQ(plan.run(src.data, dst.data), Status::ok);
  EXPECT_EQ(buffer, (std::vector<float>{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(plan.run(src.data, buffer.data() + 2), Status::overlap);
}

constexpr std::int64_t far = std::int64_t{1} << 40;

/// Tests that coverage counts taps without adding a one for each, which would take too long.
TEST(FarKernels, AreCountedByCoverageAtOnce) {
  const auto counts = [](const Coverage& op) {
    std::vector<std::int64_t> counted(static_cast<std::size_t>(element_count(op.output_size)));
    coverage(op, view(counted.data(), op.output_size));
    return counted;
  };
  using Counts = std::vector<std::int64_t>;
  EXPECT_EQ(counts({.output_size = {4}, .kernel_size = far, .dilation = 0}), Counts(4, far));
  EXPECT_EQ(counts({.output_size = {2, 3}, .kernel_size = {far, 3}, .dilation = {0, 1}, .padding = {{0, 0}, {1, 1}}}),
            (Counts{2 * far, 3 * far, 2 * far, 2 * far, 3 * far, 2 * far}));
  EXPECT_EQ(counts({.output_size = {3}, .kernel_size = far, .padding = far}), Counts(3, far));
}

/// Tests that the counts in an element type equal a sum of ones, added one by one in that type.
TEST(FarKernels, AreCountedInTheElementsType) {
  const struct {
    DType dtype;
    std::int64_t ones;
    std::uint64_t low, high;  // the halves of the element's bits
  } rows[] = {
      {DType::boolean, 256, 1, 0},
      {DType::int8, 300, 44, 0},
      {DType::uint16, 65536, 0, 0},
      {DType::int32, (std::int64_t{1} << 32) + 7, 7, 0},
      {DType::uint64, far, std::uint64_t{1} << 40, 0},
      {DType::float16, 2049, 0x6800, 0},   // 2048
      {DType::float16, 65520, 0x7c00, 0},  // infinity
      {DType::bfloat16, 257, 0x4380, 0},   // 256
      {DType::float32, 16777215, 0x4b7fffff, 0},
      {DType::float32, far, 0x4b800000, 0},                            // 2^24
      {DType::float64, std::int64_t{1} << 59, 0x4340000000000000, 0},  // 2^53
      {DType::complex64, far, 0x4b800000, 0},
      {DType::complex128, 3, 0x4008000000000000, 0},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(name_of(row.dtype));
    std::uint64_t bits[2] = {~std::uint64_t{0}, ~std::uint64_t{0}};
    coverage({.output_size = {1}, .kernel_size = row.ones, .dilation = 0}, contiguous(bits, {1}, row.dtype));
    const std::size_t size = size_of(row.dtype);
    const std::uint64_t mask = size >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * size)) - 1;
    EXPECT_EQ(bits[0] & mask, row.low);
    if (size == 16) {
      EXPECT_EQ(bits[1], row.high);
    }
  }
}

TEST(Sizes, OfHugeImages) {
  const torch::Fold op = {
      .output_size = {far / 2048, far / 2048}, .kernel_size = 2, .dilation = far, .padding = far, .stride = far};
  // A shape of 2^58 elements is computed, although no memory can hold it.
  expect_shape(op, {1, 4, 4}, {1, 1, far / 2048, far / 2048});
  // A shape of 2^61 elements is computed or refused; a shape of 2^64 elements is refused.
  try {
    EXPECT_TRUE(op.output_shape({1, 4 * 8, 4}) == Dims({1, 8, far / 2048, far / 2048}));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::overflow) << error.what();
  }
  EXPECT_THROW(op.output_shape({1, 4 * 64, 4}), Error);
  EXPECT_THROW(contiguous(static_cast<void*>(nullptr), {8, far / 2048, far / 2048}, DType::float32), Error);
}

TEST(Sizes, OfViewsWhoseElementsShareMemory) {
  // A broadcast view with one element in memory has 2^40 elements, of which two are read.
  const float value = 3;
  std::vector<float> columns(2, 0);
  const ConstTensorView image = {&value, {1, 1, 1, far}, {0, 0, 0, 0}, DType::float32, 4};
  run(Unfold{.kernel_size = {1, 1}, .stride = {1, far - 1}}, image, contiguous(columns.data(), {1, 1, 2}, DType::float32));
  EXPECT_EQ(columns, (std::vector<float>{3, 3}));
}

// Tests that float16 sums differ from the exact sums by at most half a unit in the last place plus the rounding errors of
// float32.
TEST(Regressions, Float16SumsKeepTheirBound) {
  const std::int64_t taps = 9, extent = 200, positions = extent + taps - 1;
  const auto value = [](std::uint16_t bits) {
    const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    return (bits >> 15 ? -1 : 1) * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25));
  };
  std::vector<std::uint16_t> columns;
  for (std::uint32_t i = 0; i < taps * positions; ++i) {
    auto x = (i + 1) * 2654435761u;
    x ^= x >> 15;
    x *= 2246822519u;
    columns.push_back(static_cast<std::uint16_t>((x >> 16 & 0x83ff) | (1 + (x >> 8 & 255) % 26) << 10));
  }
  const Fold op = {.output_size = {extent}, .kernel_size = {taps}, .padding = taps - 1};
  const auto image = result_of(op, DType::float16, {1, taps, positions}, bytes_of(columns), {1, 1, extent});
  for (std::int64_t y = 0; y < extent; ++y) {
    double exact = 0, magnitude = 0;
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      const double x = value(columns[static_cast<std::size_t>(tap * positions + y + taps - 1 - tap)]);
      exact += x;  // exact: these sums need fewer than 53 bits
      magnitude += std::fabs(x);
    }
    std::uint16_t bits = 0;
    std::memcpy(&bits, &image[static_cast<std::size_t>(2 * y)], 2);
    const double n = static_cast<double>(taps), unit = std::ldexp(1, -24);
    const double ulp = std::ldexp(1, std::max((bits >> 10 & 31) - 25, -24));
    EXPECT_LE(std::fabs(value(bits) - exact), ulp / 2 + (n - 1) * unit * magnitude * (1 + n * unit)) << "pixel " << y;
  }
}

// Expects fold(unfold(x)) == x, bit for bit, for patches that neither overlap nor leave gaps.
template <class T>
void expect_round_trip(const Dims& image, const Axes& window, const Padding& padding, const Dims& columns) {
  const Unfold unfold = {.kernel_size = window, .stride = window, .padding = padding};
  const Fold fold = {.output_size = image.slice(2, 4), .kernel_size = window, .stride = window, .padding = padding};
  std::vector<T> x(static_cast<std::size_t>(element_count(image)));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(i * 2654435761u >> 7);
  std::vector<T> patches(static_cast<std::size_t>(element_count(columns))), back(x.size(), T{99});
  expect_shape(unfold, image, columns);
  expect_shape(fold, columns, image);
  run(unfold, view(x.data(), image), view(patches.data(), columns));
  run(fold, view(patches.data(), columns), view(back.data(), image));
  EXPECT_TRUE(x == back) << to_string(image) << ' ' << to_string(window);
}

// kornia dropped the rest of images whose size is no multiple of the window.
TEST(Regressions, RoundTripOf1200x2040WithWindow256) {
  const Padding centred = {{40, 40}, {4, 4}}, at_the_end = {{0, 80}, {0, 8}};
  expect_round_trip<std::uint8_t>({1, 3, 1200, 2040}, 256, centred, {1, 196608, 40});
  expect_round_trip<std::uint8_t>({1, 3, 1200, 2040}, 256, at_the_end, {1, 196608, 40});
  expect_round_trip<float>({1, 1, 1200, 2040}, 256, centred, {1, 65536, 40});
}

// kornia failed on integer images with windows of 64 and more.
TEST(Regressions, RoundTripOfIntegerPatches) {
  for (const std::int64_t window : {64, 128, 512, 1024}) {
    const auto grid = 1024 / window;
    expect_round_trip<std::int32_t>({1, 3, 1024, 1024}, window, 0, {1, 3 * window * window, grid * grid});
  }
  expect_round_trip<std::uint8_t>({1, 3, 1024, 1024}, 64, 0, {1, 12288, 256});
  expect_round_trip<std::int64_t>({1, 1, 1024, 1024}, 256, 0, {1, 65536, 16});
}

// Tests <unfold(x), y> == <x, fold(y)> in integers, and that fold(unfold(1)) is the coverage.
TEST(Regressions, FoldIsTheAdjointOfUnfold) {
  const struct {
    Dims image, kernel, stride, dilation;
    PadsList pads;
    Dims columns;
  } cases[] = {{{2, 3, 7, 6}, {3, 2}, {2, 1}, {1, 2}, {{1, 0}, {2, 1}}, {2, 18, 21}},
               {{1, 2, 9}, {4}, {3}, {2}, {{2, 2}}, {1, 8, 3}},
               {{1, 1, 4, 5, 6}, {2, 3, 1}, {1, 2, 2}, {3, 1, 1}, {{0, 0}, {1, 1}, {0, 1}}, {1, 6, 12}}};
  for (const auto& test : cases) {
    const Unfold unfold = {
        .kernel_size = test.kernel, .stride = test.stride, .dilation = test.dilation, .padding = test.pads};
    const Fold fold = {.output_size = test.image.slice(2, test.image.size()),
                       .kernel_size = test.kernel,
                       .stride = test.stride,
                       .dilation = test.dilation,
                       .padding = test.pads};
    const auto x = iota(test.image, 5), y = iota(test.columns, -40);
    Ints unfolded(y.size()), folded(x.size()), ones(x.size(), 1), cover(x.size());
    run(unfold, view(x.data(), test.image), view(unfolded.data(), test.columns));
    run(fold, view(y.data(), test.columns), view(folded.data(), test.image));
    std::int64_t left = 0, right = 0;
    for (std::size_t i = 0; i < y.size(); ++i) left += unfolded[i] * y[i];
    for (std::size_t i = 0; i < x.size(); ++i) right += x[i] * folded[i];
    EXPECT_EQ(left, right) << to_string(test.image);

    run(unfold, view(ones.data(), test.image), view(unfolded.data(), test.columns));
    run(fold, view(unfolded.data(), test.columns), view(cover.data(), test.image));
    const auto pixels = static_cast<std::size_t>(element_count(fold.output_size));
    Ints counted(pixels);
    coverage({fold.output_size, test.kernel, test.stride, test.dilation, test.pads}, view(counted.data(), fold.output_size));
    for (std::size_t i = 0; i < cover.size(); ++i) EXPECT_EQ(cover[i], counted[i % pixels]) << to_string(test.image);
  }
}

TEST(ElementTypes, FoldNamesTheTypeThatItCannotAdd) {
  const auto refuse = [](DType dtype, std::size_t size) {
    const auto name = name_of(dtype);
    const Dims in = {1, 4, 6}, out = {1, 1, 3, 4};
    EXPECT_FALSE(is_summable(dtype)) << name;
    expect_type_error(Fold{.output_size = {3, 4}, .kernel_size = 2}, dtype, size, in, out, name);
    expect_type_error(onnx::Col2Im{.image_shape = {3, 4}, .block_shape = {2, 2}}, dtype, size, in, out, name);
    expect_type_error(openvino::Col2Im{.output_size = {3, 4}, .kernel_size = {2, 2}}, dtype, size, in, out, name);
    expect_type_error(torch::Fold{.output_size = {3, 4}, .kernel_size = {2, 2}}, dtype, size, in, out, name);
    expect_type_error(Coverage{.output_size = {3, 4}, .kernel_size = 2}, dtype, size, {}, {3, 4}, name);
  };
  for (const auto dtype : {DType::float8_e4m3fn, DType::float8_e4m3fnuz, DType::float8_e5m2, DType::float8_e5m2fnuz})
    refuse(dtype, 1);
  for (const std::size_t size : {1, 3, 4, 8, 16}) refuse(DType::opaque, size);
}

TEST(SingleNumbers, StandForTheTwoSpatialAxesOfRankFour) {
  const auto rank = {ErrorCode::rank};
  for (const Dims& shape : {Dims{8, 8, 8}, Dims{8, 8, 8, 8, 8}, Dims{8, 8, 8, 8, 8, 8}}) {
    const std::string two = "=2,2 for two spatial axes", other = shape.size() == 3 ? "=2, for one" : "=2,2,2 for three";
    expect_error(Unfold{.kernel_size = 2}, shape, rank, {"kernel_size" + two, "kernel_size" + other});
    expect_error(SpaceToDepth{.block = 2}, shape, rank, {"block" + two, "block" + other});
    expect_error(DepthToSpace{.block = 2}, shape, rank, {"block" + two, "block" + other});
    expect_error(SpaceToBatch{.block = 2}, shape, rank, {"block" + two, "block" + other});
    expect_error(BatchToSpace{.block = 2}, shape, rank, {"block" + two, "block" + other});
    expect_error(Reorder{.kernel_size = 2, .positions = Positions::grid}, shape, rank, {"kernel_size" + two});
  }
  // Errors propose no lists that the operator would refuse too.
  expect_error(DepthToSpace{.block = 2}, {1, 4, 4, 4, 4}, rank, {"expected block=2,2 for two spatial axes"});
  expect_error(BatchToSpace{.block = 2}, {1, 4, 4, 4, 4}, rank, {"a list with one entry for each spatial axis"});
  expect_error(Unfold{.kernel_size = 2}, {4, 4}, rank, {"rank 4", "a grey picture: image with shape [1, 4, 4]"});
  // A list decides the number of axes, whichever argument has it.
  expect_iota(Unfold{.kernel_size = 2, .stride = {1, 1}}, {1, 2, 2}, {4, 1}, {1, 2, 3, 4});
  expect_iota(Unfold{.kernel_size = 2, .padding = {0}}, {1, 1, 2}, {1, 2, 1}, {1, 2});
  expect_iota(SpaceToBatch{.block = 2, .padding = {0, 0}}, {1, 2, 2}, {4, 1, 1}, {1, 2, 3, 4});
}

TEST(NoSpatialAxis, IsTheIdentityWhereTheSpecificationHasIt) {
  const auto refused = {ErrorCode::length, ErrorCode::missing};
  expect_iota(tensorflow::SpaceToBatchND{.block_shape = {}, .paddings = {}}, {2, 3}, {2, 3}, {1, 2, 3, 4, 5, 6});
  expect_error(Unfold{.kernel_size = Dims()}, {1, 1, 4, 4}, refused, {"kernel_size"});
  expect_error(SpaceToBatch{.block = Dims()}, {1, 1, 4, 4}, refused, {"block"});
}

TEST(TensorflowSame, IsShownInExplanations) {
  const std::string_view op = "tensorflow.ExtractVolumePatches";
  const std::string rest = " ksizes=1,1,2,2,1 strides=1,3,3,3,1 padding=SAME";
  const auto expect = [&](const std::string& shape, const std::string& line) {
    const std::string text = explain(parse_problem(std::string(op) + " f32 " + shape + rest));
    EXPECT_NE(text.find(line), std::string::npos) << text;
  };
  expect("1x6x6x7x2", "\n  axis 1 of input: extent 6, kernel 1, stride 3, dilation 1, pads -1 and -1\n");
  expect("1x6x6x7x2", "\n    patches start at 1, 4; the last one ends at 4\n");
  expect("1x6x6x7x2", "  first   output[0, 0, 0, 0, 0] <- input[0, 1, 0, 0, 0]\n");
  expect("1x600x600x700x2", "\n    patches start at 1, 4, ");
}

}  // namespace
}  // namespace patchfold::vectors
