// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <type_traits>
#include <utility>

#include "base/checked.hpp"
#include "patchfold/error.hpp"
#include "patchfold/tensor.hpp"

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
