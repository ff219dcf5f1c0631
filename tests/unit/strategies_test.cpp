// SPDX-License-Identifier: Apache-2.0
// Tests that bench/problems.txt measures every strategy, since an unmeasured strategy could become slow unnoticed.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/table.hpp"
#include "patchfold/operators.hpp"
#include "patchfold/table.hpp"
#include "patchfold/tiling.hpp"
#include "tiling/rules.hpp"

namespace patchfold {
namespace {

/// Returns the strategy of a problem with contiguous tensors.
std::string strategy_of(const ProblemText& problem) {
  const BoundOperator bound = find_operator(problem.op).bind(problem.arguments);
  const auto view_of = [&](const Dims& extents) {
    return TensorView{nullptr, extents, contiguous_strides(extents, problem.element_size), problem.dtype,
                      problem.element_size};
  };
  return std::string(bound.plan(view_of(problem.shape), view_of(bound.output_shape(problem.shape))).strategy());
}

TEST(Strategies, EveryOneIsReachedByAProblemOfTheBenchmark) {
  std::ifstream file(PATCHFOLD_PROBLEMS);
  ASSERT_TRUE(file) << PATCHFOLD_PROBLEMS;
  std::map<std::string, std::string> reached;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    SCOPED_TRACE(line);
    const std::string problem = line.substr(line.find_first_not_of(' ', line.find(' ')));
    for (const kernels::Store store : {kernels::Store::plain, kernels::Store::past_cache}) {  // whatever the cache's size
      engine::force({.store = store});
      reached.emplace(strategy_of(parse_problem(problem)), problem);
    }
  }
  engine::force({});
  const std::vector<std::string_view> names = engine::strategy_names();
  for (const std::string_view name : names) {
    if (name == "nothing") continue;  // the strategy for problems without elements
    EXPECT_TRUE(reached.contains(std::string(name))) << name << " is reached by no line of bench/problems.txt";
  }
  for (const auto& [name, problem] : reached)
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name << " is no row of the table: " << problem;
}

/// Tests that no plan needs scratch memory for a copy of a whole tensor.
TEST(Strategies, NeedLessThanTwoMegabytesOfScratchMemory) {
  std::ifstream file(PATCHFOLD_PROBLEMS);
  ASSERT_TRUE(file) << PATCHFOLD_PROBLEMS;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    const ProblemText problem = parse_problem(line.substr(line.find_first_not_of(' ', line.find(' '))));
    const BoundOperator bound = find_operator(problem.op).bind(problem.arguments);
    for (const bool mirrored : {false, true}) {
      const auto view_of = [&](const Dims& extents) {
        Dims strides = contiguous_strides(extents, problem.element_size);
        if (mirrored && !strides.empty()) strides[strides.size() - 1] *= -1;
        return TensorView{nullptr, extents, strides, problem.dtype, problem.element_size};
      };
      for (const kernels::Store store : {kernels::Store::plain, kernels::Store::past_cache}) {
        engine::force({.store = store});
        const Plan plan = bound.plan(view_of(problem.shape), view_of(bound.output_shape(problem.shape)));
        EXPECT_LT(plan.scratch_bytes(1), std::size_t{2} << 20) << line << ' ' << plan.strategy();
      }
    }
  }
  engine::force({});
}

/// Tests that forcing the way to store also affects merges.
TEST(Store, IsForcedForMergesToo) {
  const Tiling tiling(TilingSpec{.shape = {8, 8}, .tile = {4, 4}});
  for (const kernels::Store store : {kernels::Store::plain, kernels::Store::past_cache}) {
    engine::force({.store = store});
    EXPECT_EQ(tiling::Rules(tiling, MergeSpec{}, false).store, store);
  }
  engine::force({});
}

/// Tests that no scratch memory for a whole row is needed if rows are very long and begin within a cache line.
TEST(Streams, OfLongRowsNeedNoMemoryForThem) {
  engine::force({"streams", kernels::Store::past_cache});
  constexpr std::int64_t width = std::int64_t{1} << 20;
  std::vector<std::uint32_t> deep(4 * 2 * width), image(4 * 2 * width + 16);
  for (std::size_t i = 0; i < deep.size(); ++i) deep[i] = static_cast<std::uint32_t>(i);
  for (const std::size_t shift : {0, 3}) {
    const TensorView to = view(image.data() + shift, {1, 1, 4, 2 * width});
    const Plan plan = DepthToSpace{.block = {2, 2}}.plan(view(std::as_const(deep).data(), {1, 4, 2, width}), to);
    EXPECT_EQ(plan.strategy(), "streams");
    EXPECT_LT(plan.scratch_bytes(1), std::size_t{4} << 20);
    ASSERT_EQ(plan.run(deep.data(), to.data, serial_executor()), Status::ok);
    for (std::int64_t y = 0; y < 4; ++y)
      for (std::int64_t x = 0; x < 2 * width; x += 12345) {
        const std::int64_t from = ((y % 2 * 2 + x % 2) * 2 + y / 2) * width + x / 2;
        ASSERT_EQ(image[shift + static_cast<std::size_t>(y * 2 * width + x)], from) << y << " " << x;
      }
  }
  engine::force({});
}

}  // namespace
}  // namespace patchfold
