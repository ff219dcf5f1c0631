// SPDX-License-Identifier: Apache-2.0
// Tests the output of `patchfold bench`, except for times.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "bench/placed.hpp"
#include "bench/problems.hpp"
#include "bench/random.hpp"
#include "patchfold/table.hpp"
#include "tests/cli/program.hpp"

namespace patchfold::cli_test {
namespace {

using bench::MemoryLayout;
using bench::PlacedProblem;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Bench, PrintsARowForEachProblemAndNumberOfThreads) {
  const Folder folder;
  const Outcome outcome = folder.run({"bench", "unfold f32 1x3x16x16 k2x2", "fold u8 1x12x225 output_size=16,16 k2x2",
                                      "--rounds", "1", "--threads", "1,2"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  // The problem is the last column of a row, after two blanks. A problem faster than its roof is named once more, after one
  // blank.
  EXPECT_EQ(count(outcome.out, "  unfold f32 1x3x16x16 kernel_size=2,2\n"), 2u) << outcome.out;
  EXPECT_EQ(count(outcome.out, "  fold u8 1x12x225 output_size=16,16 kernel_size=2,2\n"), 2u) << outcome.out;
  EXPECT_NE(outcome.out.find("/roof"), std::string::npos);
}

TEST(Bench, PrintsJson) {
  const Folder folder;
  const Outcome outcome = folder.run({"bench", "space_to_depth f64 1x1x32x32 block=2", "--rounds", "1", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::regex row(
      R"re(\[\n  \{"problem": "space_to_depth f64 1x1x32x32 block=2", "threads": 1, "seconds": [0-9.]+, )re"
      R"re("bytes": 16384, "time_of_roof": [0-9.]+, "time_of_mix": [0-9.]+, "time_of_copy": [0-9.]+, "strategy": "[a-z ]+", )re"
      R"re("roof": "[^"]+"\}\n\]\n)re");
  EXPECT_TRUE(std::regex_match(outcome.out, row)) << outcome.out;
}

/// Returns the strategy that bench prints with these options and --json, or standard error if bench prints none.
std::string strategy_of(const Folder& folder, std::vector<std::string> options) {
  options.insert(options.begin(), {"bench", "unfold f32 2x3x16x16 k3x3 p1x1", "--rounds", "1", "--json"});
  const Outcome outcome = folder.run(options);
  std::smatch found;
  return std::regex_search(outcome.out, found, std::regex("\"strategy\": \"([a-z ]+)\"")) ? found.str(1) : outcome.err;
}

TEST(Bench, LeavesOutARowOfTheStrategyTableOrTriesNoOther) {
  const Folder folder;
  const std::string usual = strategy_of(folder, {});
  EXPECT_EQ(usual, "extract maps");
  EXPECT_NE(strategy_of(folder, {"--without", usual}), usual);
  EXPECT_EQ(strategy_of(folder, {"--only-row", "move"}), "move");
  EXPECT_EQ(strategy_of(folder, {"--only-row", "sum rows"}), usual);  // "sum rows" does not fit the problem
  EXPECT_NE(strategy_of(folder, {"--without", "magic"}).find("must name a row of the strategy table"), std::string::npos);
}

TEST(Bench, MeasuresAPlacedProblem) {
  const Folder folder;
  const Outcome outcome = folder.run(
      std::vector<std::string>{"bench", "unfold u8 1x3x16x16 k2x2 src=flipped dst=tokens", "--rounds", "1", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("\"problem\": \"unfold u8 1x3x16x16 kernel_size=2,2 src=flipped dst=tokens\""),
            std::string::npos)
      << outcome.out;
}

/// Returns the elements of a tensor in row-major order.
std::vector<std::uint16_t> elements(const std::vector<std::uint16_t>& memory, const bench::Placement& placement,
                                    const Dims& shape) {
  std::vector<std::uint16_t> values;
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    std::int64_t rest = i, at = static_cast<std::int64_t>(placement.offset);
    for (int axis = shape.size() - 1; axis >= 0; --axis) {
      at += rest % shape[axis] * placement.strides[axis];
      rest /= shape[axis];
    }
    values.push_back(memory.at(static_cast<std::size_t>(at / 2)));
  }
  return values;
}

TEST(Bench, EachLayoutHoldsEveryElementOnce) {
  const Dims shape{2, 3, 4, 5};
  for (const auto& [layout, word] : patchfold::words<MemoryLayout>) {
    SCOPED_TRACE(word);
    const bench::Placement placement = bench::place(layout, shape, 2);
    std::vector<std::uint16_t> memory(placement.bytes / 2);
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::uint16_t>(i);
    std::vector<std::uint16_t> values = elements(memory, placement, shape);
    std::sort(values.begin(), values.end());
    EXPECT_EQ(std::unique(values.begin(), values.end()), values.end());
    EXPECT_EQ(placement.bytes / 2, layout == MemoryLayout::cropped        ? 2u * 3 * 4 * 8
                                   : layout == MemoryLayout::every_second ? 240u
                                                                          : 120u);
  }
  EXPECT_EQ(bench::place(MemoryLayout::channels_last, shape, 2).strides, (Dims{120, 2, 30, 6}));
  EXPECT_EQ(bench::place(MemoryLayout::swapped, shape, 2).strides, (Dims{120, 40, 2, 8}));
  EXPECT_EQ(bench::place(MemoryLayout::tokens, {2, 3, 4}, 2).strides, (Dims{24, 2, 6}));
  EXPECT_EQ(bench::place(MemoryLayout::flipped, shape, 2).strides, (Dims{120, 40, -10, 2}));
  EXPECT_EQ(bench::place(MemoryLayout::mirrored, shape, 2).strides, (Dims{120, 40, 10, -2}));
  EXPECT_EQ(bench::place(MemoryLayout::cropped, shape, 2).strides, (Dims{192, 64, 16, 2}));
  EXPECT_EQ(bench::place(MemoryLayout::every_second, shape, 2).strides, (Dims{240, 80, 20, 4}));
}

/// Returns the hash FNV-1a of a text.
std::uint64_t digest(const std::string& text) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return value;
}

TEST(Bench, ASeedStandsForTheSameProblemsEverywhere) {
  EXPECT_EQ(to_string(bench::draw(1, 0)),
            "unfold i16 8x32x26x15 kernel_size=15 stride=14 order=kernel src=mirrored dst=tokens");
  std::string all;
  for (int index = 0; index < 300; ++index) all += to_string(bench::draw(0xfedcba9876543210, index)) + "\n";
  EXPECT_EQ(digest(all), 0xbb689043b63c8adfu) << all;
}

TEST(Bench, DrawsEveryOperatorKernelTypeAndLayout) {
  std::set<std::string> operators;
  std::set<std::int64_t> kernels;
  std::set<DType> types;
  std::map<std::string, std::set<MemoryLayout>> layouts;
  for (int index = 0; index < 3000; ++index) {
    const PlacedProblem placed = bench::draw(5, index);
    SCOPED_TRACE(to_string(placed));
    operators.insert(placed.problem.op);
    types.insert(placed.problem.dtype);
    for (const auto& [name, value] : placed.problem.arguments)
      if (const auto* one = std::get_if<std::int64_t>(&value); one && (name == "kernel_size" || name == "block"))
        kernels.insert(*one);
    layouts[placed.problem.op + " src"].insert(placed.src);
    layouts[placed.problem.op + " dst"].insert(placed.dst);

    EXPECT_EQ(to_string(bench::parse_placed(to_string(placed))), to_string(placed));
    const Dims shape = find_operator(placed.problem.op).bind(placed.problem.arguments).output_shape(placed.problem.shape);
    const std::int64_t bytes = (element_count(placed.problem.shape) + element_count(shape)) *
                               static_cast<std::int64_t>(placed.problem.element_size);
    EXPECT_GE(bytes, 1 << 17);
    EXPECT_LE(bytes, 1 << 26);
    const bench::PlacedPlan plan = bench::plan_of(placed);
    EXPECT_LT(2 * std::max(plan.src.bytes, plan.dst.bytes), std::size_t{300'000'000});
  }
  EXPECT_EQ(operators, (std::set<std::string>{"unfold", "fold", "space_to_depth", "depth_to_space", "space_to_batch",
                                              "batch_to_space"}));
  EXPECT_EQ(kernels.size(), 32u);
  EXPECT_EQ(*kernels.rbegin(), 32);
  for (const DType type : {DType::uint8, DType::float16, DType::float32, DType::float64, DType::complex64, DType::opaque})
    EXPECT_TRUE(types.count(type)) << name_of(type);
  for (const auto& [side, drawn] : layouts) {
    const bool columns = side == "unfold dst" || side == "fold src";
    EXPECT_EQ(drawn.count(MemoryLayout::tokens), columns ? 1u : 0u) << side;
    EXPECT_EQ(drawn.size(), columns ? 5u : 7u) << side;
  }
}

TEST(Bench, MeasuresRandomProblems) {
  const Folder folder;
  const Outcome outcome = folder.run("bench --random 544 3 --rounds 1");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  for (int index = 0; index < 3; ++index)
    EXPECT_EQ(count(outcome.out, "  " + to_string(bench::draw(544, index)) + "\n"), 1u) << outcome.out;
}

TEST(Bench, RefusesWrongWords) {
  const Folder folder;
  for (const char* words : {"--threads 0", "--threads 1,x", "--threads ,", "--rounds 0", "--fast"}) {
    const Outcome outcome = folder.run("bench " + std::string(words));
    EXPECT_EQ(outcome.code, 2) << words;
    EXPECT_EQ(outcome.out, "") << words;
  }
  EXPECT_EQ(folder.run(std::vector<std::string>{"bench", "unfolt f32 1x3x16x16 k2x2"}).code, 2);
  EXPECT_EQ(folder.run(std::vector<std::string>{"bench", "unfold f32 1x3x16x16 kernel_size=0"}).code, 2);
  const struct {
    std::vector<std::string> words;
    const char* message;
  } cases[] = {
      {{"--random", "1"}, "--random"},
      {{"--random", "x", "3"}, "--random SEED: must be an integer from 0 to 18446744073709551615; given x"},
      {{"--random", "-1", "3"}, "--random SEED: must be an integer"},
      {{"--random", "18446744073709551616", "3"}, "--random SEED: must be an integer"},
      {{"--random", "1", "0"}, "--random COUNT: must be an integer from 1 to 1000000; given 0"},
      {{"--random", "1", "2.5"}, "--random COUNT: must be an integer"},
      {{"unfold f32 1x3x16x16 k2x2 src=sideways"}, "src: must be a memory layout; given sideways, expected plain, "},
      {{"coverage f32 - output_size=4, kernel_size=2 dst=flipped"}, "flipped: needs a tensor of more axes; given 1"},
  };
  for (const auto& each : cases) {
    std::vector<std::string> words{"bench"};
    words.insert(words.end(), each.words.begin(), each.words.end());
    const Outcome outcome = folder.run(words);
    EXPECT_EQ(outcome.code, 2) << each.message;
    EXPECT_NE(outcome.err.find(each.message), std::string::npos) << outcome.err;
  }
}

TEST(Bench, EveryProblemOfTheListHasATargetAndAShape) {
  std::istringstream lines{std::string(bench::problems)};
  int problems = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    SCOPED_TRACE(line);
    const std::size_t gap = line.find("  ");
    const double target = std::stod(line.substr(0, gap));
    EXPECT_GT(target, 1.0);
    EXPECT_LT(target, 2.0);
    const ProblemText problem = parse_problem(line.substr(gap + 2));
    const BoundOperator bound = find_operator(problem.op).bind(problem.arguments);
    EXPECT_GT(element_count(bound.output_shape(problem.shape)), 0);
    EXPECT_EQ(to_string(problem).find("  "), std::string::npos);
    ++problems;
  }
  EXPECT_GT(problems, 50);
}

}  // namespace
}  // namespace patchfold::cli_test
