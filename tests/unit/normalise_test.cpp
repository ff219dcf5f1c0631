// SPDX-License-Identifier: Apache-2.0
// Tests each pass of the normal form by its exact output.
#include "engine/normalise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <type_traits>
#include <utility>

#include "base/checked.hpp"
#include "base/fail.hpp"
#include "patchfold/error.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Problem with_dims(std::initializer_list<Dim> dims, std::int64_t element_size = 4) {
  Problem problem;
  problem.element_size = element_size;
  for (const Dim& dim : dims) problem.dims.push_back(dim);
  return problem;
}

Window window(std::int64_t extent, std::int64_t kernel, std::int64_t stride, std::int64_t dilation, std::int64_t pad,
              std::int64_t positions) {
  Window w;
  w.extent = extent;
  w.kernel = kernel;
  w.stride = stride;
  w.dilation = dilation;
  w.pad_begin = pad;
  w.positions = positions;
  w.image_stride = 4;
  w.tap_stride = 1000;
  w.position_stride = 10;
  return w;
}

TEST(MergeDims, OrdersByDestinationAndJoinsWhatIsContiguousOnBothSides) {
  const Problem merged = merge_dims(with_dims({{5, 4, 4}, {3, 60, 60}, {3, 20, 20}}));
  EXPECT_THAT(merged.dims, ElementsAre(Dim{45, 4, 4}));
}

TEST(MergeDims, LeavesWhatIsContiguousOnOneSideOnly) {
  const Problem merged = merge_dims(with_dims({{3, 20, 32}, {5, 4, 4}}));
  EXPECT_THAT(merged.dims, ElementsAre(Dim{3, 20, 32}, Dim{5, 4, 4}));
}

TEST(MergeDims, JoinsZeroSourceStrides) {
  EXPECT_THAT(merge_dims(with_dims({{3, 0, 20}, {5, 0, 4}})).dims, ElementsAre(Dim{15, 0, 4}));
}

TEST(MergeDims, JoinsNegativeStridesThatContinue) {
  EXPECT_THAT(merge_dims(with_dims({{3, -20, 20}, {5, -4, 4}})).dims, ElementsAre(Dim{15, -4, 4}));
}

TEST(DropSingle, TakesOutExtentsOfOneAndKeepsZero) {
  EXPECT_THAT(drop_single(with_dims({{1, 7, 9}, {0, 4, 4}, {1, 1, 1}})).dims, ElementsAre(Dim{0, 4, 4}));
}

TEST(TakeUnit, GrowsTheElementByContiguousDims) {
  Problem problem = with_dims({{7, 100, 60}, {3, 20, 20}, {5, 4, 4}});
  EXPECT_EQ(take_unit(problem), 60);
  EXPECT_THAT(problem.dims, ElementsAre(Dim{7, 100, 60}));
}

TEST(OpenWindows, TurnsAnExtractWithoutBordersIntoTwoDims) {
  Problem problem = with_dims({});
  problem.windows.push_back(window(10, 3, 2, 1, 0, 4));
  const Problem opened = open_windows(problem, Opened::all);
  EXPECT_THAT(opened.windows, IsEmpty());
  EXPECT_THAT(opened.dims, ElementsAre(Dim{4, 8, 10}, Dim{3, 4, 1000}));
}

TEST(OpenWindows, MovesTheOriginWhereANegativePadCrops) {
  Problem problem = with_dims({});
  problem.windows.push_back(window(10, 3, 1, 1, -2, 5));
  const Problem opened = open_windows(problem, Opened::all);
  EXPECT_THAT(opened.windows, IsEmpty());
  EXPECT_EQ(opened.src_offset, 8);
}

TEST(OpenWindows, KeepsAWindowThatLeavesTheImage) {
  for (const Window& w : {window(10, 3, 1, 1, 1, 10), window(10, 3, 1, 1, 0, 9), window(10, 3, 1, 1, 0, 0)}) {
    Problem problem = with_dims({});
    problem.windows.push_back(w);
    EXPECT_THAT(open_windows(problem, Opened::all).windows, ElementsAre(w));
  }
}

TEST(OpenWindows, OpensACombineOnlyIfEveryPixelHasOneElement) {
  Problem problem = with_dims({});
  problem.verb = Verb::combine_sum;
  problem.windows.push_back(window(12, 3, 3, 1, 0, 4));
  EXPECT_THAT(open_windows(problem, Opened::all).dims, ElementsAre(Dim{4, 10, 12}, Dim{3, 1000, 4}));
  for (const Window& w :
       {window(13, 3, 3, 1, 0, 4), window(12, 3, 2, 1, 0, 5), window(11, 3, 3, 1, 1, 4), window(12, 2, 2, 2, 0, 5)}) {
    problem.windows = {};
    problem.windows.push_back(w);
    EXPECT_THAT(open_windows(problem, Opened::all).windows, ElementsAre(w));
  }
}

TEST(Normalise, RefusesMoreThanSixteenAxes) {
  Problem problem;
  std::int64_t stride = 4;
  for (int i = 0; i < 17; ++i) {
    problem.dims.push_back({2, stride, 3 * stride});
    stride *= 7;
  }
  try {
    normalise(problem, "op");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::limit);
    EXPECT_EQ(error.given(), "17");
    EXPECT_EQ(error.expected(), "at most 16");
  }
}

}  // namespace
}  // namespace patchfold::engine

namespace patchfold {
namespace {

TEST(Dims, CountsElementsWithoutOverflow) {
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({}), 1);
  const std::int64_t big = std::int64_t{1} << 40;
  EXPECT_EQ(element_count({big, big, 0}), 0);
  EXPECT_THROW(element_count({big, big}), Error);
  EXPECT_THROW(element_count({-1}), Error);
}

TEST(Dims, GivesRowMajorStrides) {
  EXPECT_EQ(contiguous_strides({2, 3, 4}, 8), (Dims{96, 32, 8}));
  EXPECT_EQ(contiguous_strides({2, 0, 4}, 8), (Dims{0, 0, 0}));
  EXPECT_THROW(contiguous_strides({std::int64_t{1} << 61}, 8), Error);
}

TEST(Dims, RefusesMoreEntriesThanItHolds) {
  EXPECT_THROW(Dims::filled(max_rank + 1, 1), Error);
}

TEST(DTypes, HaveNamesBothWays) {
  for (const DType dtype : dtypes()) {
    EXPECT_EQ(dtype_of(name_of(dtype)), dtype);
    EXPECT_EQ(dtype_of(short_name_of(dtype)), dtype);
    EXPECT_EQ(size_of(dtype) == 0, dtype == DType::opaque);
  }
  EXPECT_FALSE(dtype_of("float"));
}

TEST(DTypes, HaveOneRowForEachCppTypeAndEachCode) {
  std::set<std::pair<int, int>> dlpack;
  std::set<int> onnx;
  std::set<int> torch;
  for (const DTypeInfo& info : dtype_table) {
    const auto size = visit(info.dtype, []<class T>(std::type_identity<T>) { return sizeof(T); });
    EXPECT_EQ(info.size, info.dtype == DType::opaque ? 0 : size) << info.name;
    EXPECT_TRUE(info.dlpack == -1 || dlpack.emplace(info.dlpack, info.size).second) << info.name;
    EXPECT_TRUE(info.onnx == 0 || onnx.insert(info.onnx).second) << info.name;
    EXPECT_TRUE(info.torch == 0 || torch.insert(info.torch).second) << info.name;
  }
  EXPECT_EQ(visit(DType(200), []<class T>(std::type_identity<T>) { return std::is_same_v<T, Opaque>; }), true);
  EXPECT_FALSE(is_enumerator(DType(200)));
  EXPECT_EQ(name_of(DType(200)), "opaque");
}

TEST(Division, RoundsDownAndUpForBothSigns) {
  for (std::int64_t a = -20; a <= 20; ++a)
    for (std::int64_t b = 1; b <= 7; ++b) {
      EXPECT_LE(floor_div(a, b) * b, a);
      EXPECT_GT(floor_div(a, b) * b, a - b);
      EXPECT_GE(ceil_div(a, b) * b, a);
      EXPECT_LT(ceil_div(a, b) * b, a + b);
      EXPECT_EQ(floor_mod(a, b), a - floor_div(a, b) * b);
    }
}

}  // namespace
}  // namespace patchfold
