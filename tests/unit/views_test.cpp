// SPDX-License-Identifier: Apache-2.0
// Tests views of memory: pointers, ranges, multi-dimensional spans, DLPack's tensors, and a program's own types.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/index.hpp"
#include "patchfold/operators.hpp"
#include "patchfold/tiling.hpp"

namespace {

struct MyHalf {
  std::uint16_t bits;
};
struct TooLarge {
  std::uint64_t bits;
};

}  // namespace

template <>
inline constexpr std::optional<patchfold::DType> patchfold::dtype_for<MyHalf> = patchfold::DType::float16;
template <>
inline constexpr std::optional<patchfold::DType> patchfold::dtype_for<TooLarge> = patchfold::DType::float16;

namespace patchfold {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A stand-in for std::mdspan with two axes, the first with any stride.
template <class T>
struct Matrix {
  struct Mapping {
    std::size_t pitch;
    std::size_t stride(std::size_t axis) const { return axis == 0 ? pitch : 1; }
  };
  T* elements;
  std::array<std::size_t, 2> extents;
  std::size_t pitch;
  bool strided = true;

  T* data_handle() const { return elements; }
  static constexpr std::size_t rank() { return 2; }
  std::size_t extent(std::size_t axis) const { return extents[axis]; }
  bool is_strided() const { return strided; }
  Mapping mapping() const { return {pitch}; }
};

/// A stand-in for DLPack's DLTensor.
struct Dl {
  struct Device {
    int device_type = 1;
    int device_id = 0;
  };
  struct Type {
    std::uint8_t code = 2;
    std::uint8_t bits = 32;
    std::uint16_t lanes = 1;
  };
  void* data = nullptr;
  Device device{};
  std::int32_t ndim = 0;
  Type dtype{};
  std::int64_t* shape = nullptr;
  std::int64_t* strides = nullptr;
  std::uint64_t byte_offset = 0;
};

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Views, KnowTheTypesOfTheLibraryAndOfTheProgram) {
  EXPECT_EQ(dtype_for<bool>, DType::boolean);
  EXPECT_EQ(dtype_for<long>, sizeof(long) == 8 ? DType::int64 : DType::int32);  // 32 bits on Windows
  EXPECT_EQ(dtype_for<long long>, DType::int64);
  EXPECT_EQ(dtype_for<unsigned char>, DType::uint8);
  EXPECT_EQ(dtype_for<Float16>, DType::float16);
  EXPECT_EQ(dtype_for<Bfloat16>, DType::bfloat16);
  EXPECT_EQ(dtype_for<Float8E5M2>, DType::float8_e5m2);
  EXPECT_EQ(dtype_for<std::complex<double>>, DType::complex128);
  EXPECT_FALSE(dtype_for<void*>);
  MyHalf halves[6] = {};
  EXPECT_EQ(view(halves, {2, 3}).dtype, DType::float16);
  EXPECT_FALSE(Element<TooLarge>);  // its size is not that of a float16
  EXPECT_FALSE(Element<Opaque>);
}

TEST(Views, AreConstWhereElementsAre) {
  std::vector<float> vector(6);
  static_assert(std::is_same_v<decltype(view(vector, {6})), TensorView>);
  static_assert(std::is_same_v<decltype(view(std::as_const(vector), {6})), ConstTensorView>);
  static_assert(std::is_same_v<decltype(view(std::span<const float>(vector), {6})), ConstTensorView>);
  EXPECT_EQ(view(vector, {2, 3}).data, vector.data());
}

TEST(Views, OfRangesHaveAllTheirElements) {
  std::vector<std::int16_t> vector(6);
  std::array<std::int16_t, 6> array{};
  EXPECT_EQ(view(vector, {2, 3}).strides, (Dims{6, 2}));
  EXPECT_EQ(view(array, {3, 2}).strides, (Dims{4, 2}));
  EXPECT_EQ(message_of([&] { (void)view(vector, {2, 2}); }),
            "tensor: shape: must have as many elements as the range; given [2, 2], expected 6 elements");
}

TEST(Views, TakeStridesInElements) {
  std::vector<double> vector(6);
  const TensorView transposed = view(vector.data(), {3, 2}, {1, 3});
  EXPECT_EQ(transposed.strides, (Dims{8, 24}));
  EXPECT_THAT(message_of([&] { (void)view(vector.data(), {3, 2}, {1}); }), StartsWith("tensor: strides: must have one entry"));
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(message_of([&] { (void)view(vector.data(), {3}, {most}); }), HasSubstr("must fit into 63 bits in bytes"));
}

TEST(Views, TakeMultidimensionalSpans) {
  std::vector<float> vector(20);
  const TensorView matrix = view(Matrix<float>{vector.data(), {4, 3}, 5});
  EXPECT_EQ(matrix.shape, (Dims{4, 3}));
  EXPECT_EQ(matrix.strides, (Dims{20, 4}));
  static_assert(std::is_same_v<decltype(view(std::declval<Matrix<const float>>())), ConstTensorView>);
  EXPECT_EQ(message_of([&] { (void)view(Matrix<float>{vector.data(), {4, 3}, 5, false}); }),
            "tensor: span: must have a layout with strides");
}

TEST(Views, TakeTensorsOfDlpack) {
  std::vector<float> vector(20);
  std::int64_t shape[] = {4, 3}, strides[] = {5, 1};
  Dl tensor{.data = vector.data(), .ndim = 2, .shape = shape, .strides = strides, .byte_offset = 8};
  EXPECT_EQ(view(tensor).data, vector.data() + 2);
  EXPECT_EQ(view(tensor).strides, (Dims{20, 4}));
  EXPECT_EQ(view(tensor).dtype, DType::float32);
  tensor.strides = nullptr;
  EXPECT_EQ(view(tensor).strides, (Dims{12, 4}));
  for (const DTypeInfo& info : dtype_table) {
    if (info.dtype == DType::opaque) continue;
    tensor.dtype = {static_cast<std::uint8_t>(info.dlpack), static_cast<std::uint8_t>(info.size * 8), 1};
    EXPECT_EQ(view(tensor).dtype, info.dtype) << info.name;
  }
  tensor.dtype.lanes = 2;
  EXPECT_THAT(message_of([&] { (void)view(tensor); }), StartsWith("tensor: dtype: must be an element type of this library"));
  tensor.dtype.lanes = 1;
  tensor.device.device_type = 2;
  EXPECT_EQ(message_of([&] { (void)view(tensor); }), "tensor: device: must be the CPU; given 2, expected 1");
  tensor.device.device_type = 1;
  for (const int rank : {-1, max_rank + 1}) {
    tensor.ndim = rank;
    EXPECT_THAT(message_of([&] { (void)view(tensor); }), StartsWith("tensor: ndim: must be from 0 to 32"));
  }
}

/// Runs space_to_depth with blocks of 1, which is a copy, from one view to the other.
Status copy(const ConstTensorView& from, const TensorView& to) {
  return SpaceToDepth{.block = 1}.plan(from, to).run(from.data, to.data);
}

TEST(Overlap, IsOfElementsAndNotOfRanges) {
  // In pixels of six channels, the first three channels are copied onto the last three, as a concatenation in place does.
  std::vector<float> pixels(4 * 5 * 6);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i);
  const Dims shape{1, 3, 4, 5}, strides{0, 1, 30, 6};
  ASSERT_EQ(copy(view(pixels.data(), shape, strides), view(pixels.data() + 3, shape, strides)), Status::ok);
  for (std::size_t pixel = 0; pixel < 20; ++pixel)
    for (std::size_t channel = 0; channel < 3; ++channel)
      EXPECT_EQ(pixels[pixel * 6 + channel + 3], static_cast<float>(pixel * 6 + channel));
  EXPECT_EQ(copy(view(pixels.data() + 3, shape, strides), view(pixels.data(), shape, strides)), Status::ok);
  EXPECT_EQ(copy(view(pixels.data(), shape, strides), view(pixels.data() + 2, shape, strides)), Status::overlap);
  EXPECT_EQ(copy(view(pixels.data(), shape, strides), view(pixels.data() + 4, shape, strides)), Status::overlap);
}

TEST(Overlap, IsSeenWhereColumnsOfOneRowAreCopied) {
  std::vector<std::uint8_t> rows(8 * 10);
  const Dims left{1, 1, 8, 5}, strides{0, 0, 10, 1};
  EXPECT_EQ(copy(view(rows.data(), left, strides), view(rows.data() + 5, left, strides)), Status::ok);
  EXPECT_EQ(copy(view(rows.data(), left, strides), view(rows.data() + 4, left, strides)), Status::overlap);
  EXPECT_EQ(copy(view(rows.data() + 70, left, {0, 0, -10, 1}), view(rows.data() + 5, left, strides)), Status::ok);
  EXPECT_EQ(copy(view(rows.data() + 70, left, {0, 0, -10, 1}), view(rows.data() + 1, left, strides)), Status::overlap);
}

TEST(Overlap, OfWindowsCountsAllTheirElements) {
  // The image lies in the first 4 of each 10 bytes; the columns lie in one of the other 6 bytes, with a step of 10.
  std::vector<std::uint8_t> memory(10 * 40);
  const Unfold unfold{.kernel_size = {2, 2}};
  const ConstTensorView image = view(memory.data(), {1, 1, 4, 4}, {0, 0, 10, 1});
  const auto run = [&](std::int64_t offset) {
    const TensorView columns = view(memory.data() + offset, {1, 4, 9}, {0, 90, 10});
    return unfold.plan(image, columns).run(image.data, columns.data);
  };
  EXPECT_EQ(run(4), Status::ok);
  EXPECT_EQ(run(9), Status::ok);
  EXPECT_EQ(run(3), Status::overlap);
  EXPECT_EQ(run(10), Status::overlap);
}

/// Returns the bytes that a view's elements occupy, as offsets from `memory`.
std::set<std::ptrdiff_t> bytes_of(const ConstTensorView& view, const std::uint8_t* memory) {
  std::set<std::ptrdiff_t> bytes;
  Dims index = Dims::filled(view.shape.size(), 0);
  do {
    std::ptrdiff_t at = static_cast<const std::uint8_t*>(view.data) - memory;
    for (int axis = 0; axis < index.size(); ++axis) at += index[axis] * view.strides[axis];
    for (std::size_t i = 0; i < view.element_size; ++i) bytes.insert(at + static_cast<std::ptrdiff_t>(i));
  } while (advance(index, view.shape));
  return bytes;
}

TEST(Overlap, IsNeverMissedAndCopiesBesideItAreRight) {
  std::mt19937 random(7);
  const auto draw = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
  std::vector<std::uint8_t> memory(4096);
  int run = 0, refused_in_vain = 0;
  for (int i = 0; i < 5000; ++i) {
    const Dims shape{draw(1, 9), draw(1, 4), draw(1, 4)};
    const auto any_view = [&] {
      // No two elements of a destination may share memory. So each stride steps over the whole extent of the axis below it,
      // as in a box cut from a larger box. The order of the axes is random.
      std::array<int, 3> order{0, 1, 2};
      std::ranges::shuffle(order, random);
      TensorView view{memory.data() + 2048 + draw(-40, 40), shape, Dims::filled(3, 0), DType::uint16, 2};
      std::int64_t pitch = 2;
      for (const int axis : order) {
        view.strides[axis] = draw(0, 3) == 0 ? -pitch : pitch;
        pitch *= shape[axis] + draw(0, 2);
        if (draw(0, 2) == 0) pitch += draw(0, 12);
      }
      return view;
    };
    const TensorView from = any_view(), to = any_view();
    const std::set<std::ptrdiff_t> read = bytes_of(from, memory.data()), written = bytes_of(to, memory.data());
    const bool meet = std::ranges::any_of(read, [&](std::ptrdiff_t at) { return written.contains(at); });
    for (std::size_t at = 0; at < memory.size(); ++at) memory[at] = static_cast<std::uint8_t>(random());
    std::vector<std::uint8_t> expected = memory;
    Dims index = Dims::filled(shape.size(), 0);
    do {
      const auto at = [&](const TensorView& view) {
        std::ptrdiff_t offset = static_cast<std::uint8_t*>(view.data) - memory.data();
        for (int axis = 0; axis < index.size(); ++axis) offset += index[axis] * view.strides[axis];
        return static_cast<std::size_t>(offset);
      };
      for (std::size_t byte = 0; byte < 2; ++byte) expected[at(to) + byte] = memory[at(from) + byte];
    } while (advance(index, shape));
    const Status status = Copy{}.plan(from, to).run(from.data, to.data, serial_executor());
    EXPECT_TRUE(status != Status::ok || memory == expected) << to_string(from.strides) << to_string(to.strides);
    EXPECT_TRUE(!meet || status == Status::overlap) << to_string(shape) << to_string(from.strides) << to_string(to.strides);
    run += status == Status::ok;
    refused_in_vain += !meet && status == Status::overlap;
  }
  EXPECT_GT(run, 500);
  EXPECT_LT(refused_in_vain, run);
}

TEST(TryPlan, ReturnsThePlanOrTheError) {
  std::vector<float> image(16), columns(36);
  const Unfold unfold{.kernel_size = {2, 2}};
  const Planning planned = try_plan(unfold, view(image, {1, 1, 4, 4}), view(columns, {1, 4, 9}));
  ASSERT_TRUE(planned);
  EXPECT_EQ(planned.plan.run(image.data(), columns.data()), Status::ok);
  const Planning refused = try_plan(unfold, view(image, {1, 1, 4, 4}), view(columns, {1, 9, 4}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error, ErrorCode::shape);
  EXPECT_THAT(refused.message, StartsWith("unfold: columns: must have the shape of the operator's result"));
}

TEST(AttemptOfACall, ReturnsTheErrorOfAnyFunction) {
  std::optional<Tiling> tiling;
  ASSERT_TRUE(attempt([&] { tiling.emplace(TilingSpec{.shape = {64}, .tile = {16}}); }));
  EXPECT_EQ(tiling->size(), 4);
  const Attempt refused = attempt([&] { tiling.emplace(TilingSpec{.shape = {64}, .tile = {0}}); });
  EXPECT_EQ(refused.error, ErrorCode::value);
  EXPECT_THAT(refused.message, StartsWith("tiling: tile: "));
  const Attempt foreign = attempt([] { throw 1; });
  EXPECT_EQ(foreign.error, ErrorCode::out_of_memory);
}

}  // namespace
}  // namespace patchfold
