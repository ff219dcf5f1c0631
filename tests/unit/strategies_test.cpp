// SPDX-License-Identifier: Apache-2.0
// Every way to run a problem is measured: what no line of bench/problems.txt reaches could become slow unseen.
#include "engine/strategies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>

#include "patchfold/table.hpp"

namespace patchfold {
namespace {

/// Not measured: "nothing" has nothing to run; "move" takes the layouts that no other row of the table fits, and "sum
/// elements" strides far beyond the image, neither of which is made to be fast.
constexpr std::string_view unmeasured[] = {"nothing", "move", "sum elements"};

/// The strategy of a problem with contiguous tensors.
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
    reached.emplace(strategy_of(parse_problem(problem)), problem);
  }
  const std::vector<std::string_view> names = engine::strategy_names();
  for (const std::string_view name : names) {
    if (std::find(std::begin(unmeasured), std::end(unmeasured), name) != std::end(unmeasured)) continue;
    EXPECT_TRUE(reached.contains(std::string(name))) << name << " is reached by no line of bench/problems.txt";
  }
  for (const auto& [name, problem] : reached)
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name << " is no row of the table: " << problem;
}

}  // namespace
}  // namespace patchfold
