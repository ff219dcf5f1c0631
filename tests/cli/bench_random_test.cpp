// SPDX-License-Identifier: Apache-2.0
// `patchfold bench --random`: the drawn problems, and the printed results.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "bench/random.hpp"
#include "tests/cli/program.hpp"

namespace patchfold::cli_test {
namespace {

using bench::MemoryLayout;
using bench::PlacedProblem;

/// Returns the last column of each row: the problems, in their order.
std::vector<std::string> problems_of(const std::string& output) {
  static const std::regex row(R"( *(\d+) +\d+ +[\d.]+ +[\d.]+ +[\d.]+  [a-z ]{16}  ((?:un)?fold .*|\w+_to_\w+ .*))");
  std::vector<std::string> problems;
  std::istringstream lines(output);
  std::smatch match;
  for (std::string line; std::getline(lines, line) && !line.empty();)
    if (std::regex_match(line, match, row)) problems.push_back(match[1].str() + " " + match[2].str());
  return problems;
}

/// Returns the hash FNV-1a of a text.
std::uint64_t digest(const std::string& text) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return value;
}

TEST(BenchRandom, ASeedStandsForTheSameProblemsEverywhere) {
  EXPECT_EQ(to_string(bench::draw(1, 0)),
            "unfold i16 8x32x26x15 kernel_size=15 stride=14 order=kernel src=mirrored dst=tokens");
  std::string all;
  for (int index = 0; index < 300; ++index) all += to_string(bench::draw(0xfedcba9876543210, index)) + "\n";
  EXPECT_EQ(digest(all), 0xbb689043b63c8adfu) << all;
}

TEST(BenchRandom, DrawsEveryOperatorKernelTypeAndLayout) {
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

TEST(BenchRandom, EachLayoutHoldsEveryElementOnce) {
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

TEST(BenchRandom, PrintsEveryProblemWithASummary) {
  const Folder folder;
  const Outcome first = folder.run("bench --random 544 4 --rounds 1 --threads 1,2");
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.err, "");
  const std::vector<std::string> problems = problems_of(first.out);
  ASSERT_EQ(problems.size(), 8u) << first.out;
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(problems[static_cast<std::size_t>(i)], std::to_string(i / 2) + " " + to_string(bench::draw(544, i / 2)));
  EXPECT_NE(first.out.find("\n1 thread, problems of at least 4 MB, in multiples of a copy:\n"), std::string::npos);
  EXPECT_NE(first.out.find("\n2 threads, problems of at least 4 MB, in multiples of a copy:\n"), std::string::npos);

  const Outcome one = folder.run("bench --random 544 4 --only 2 --rounds 1");
  EXPECT_EQ(problems_of(one.out), std::vector<std::string>{problems[4]}) << one.out;
}

TEST(BenchRandom, SummarisesOperatorsAndLayouts) {
  const Folder folder;
  const Outcome outcome = folder.run("bench --random 544 8 --rounds 1");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  std::string counts;
  std::istringstream lines(outcome.out);
  static const std::regex summary(R"((\w[\w ]*\w) +(\d+) +[\d.]+ +[\d.]+ +\d+ +\d+)");
  std::smatch match;
  for (std::string line; std::getline(lines, line);)
    if (std::regex_match(line, match, summary)) counts += match[1].str() + ": " + match[2].str() + "\n";
  // Problem 2 is plain on one side, problem 4 on both, and problem 6 cropped on both; the others are smaller.
  EXPECT_EQ(counts,
            "all: 3\nunfold: 1\nfold: 1\nspace_to_batch: 1\n"
            "plain on both sides: 1\nchannels_last on a side: 1\ncropped on a side: 1\n")
      << outcome.out;
}

TEST(BenchRandom, PrintsThePlansOfTheWorst) {
  const Folder folder;
  const Outcome outcome = folder.run("bench --random 544 4 --rounds 1 --worst 2");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::size_t worst = outcome.out.find("\nThe slowest of all, with their plans:\n");
  ASSERT_NE(worst, std::string::npos) << outcome.out;
  const std::string tail = outcome.out.substr(worst);
  static const std::regex plan(R"(\n *\d+ +1 +[\d.]+ +[\d.]+ +([\d.]+)  .*\nstrategy  [a-z ]+\nverb +[a-z ]+\n)");
  std::vector<double> times;
  for (auto match = std::sregex_iterator(tail.begin(), tail.end(), plan); match != std::sregex_iterator(); ++match)
    times.push_back(std::stod((*match)[1]));
  ASSERT_EQ(times.size(), 2u) << tail;
  EXPECT_GE(times[0], times[1]);
}

TEST(BenchRandom, PrintsJson) {
  const Folder folder;
  const Outcome outcome = folder.run("bench --random 544 2 --rounds 1 --json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::string row =
      R"re(  \{"index": [01], "problem": "[^"]+", "src": "[a-z_]+", "dst": "[a-z_]+", "threads": 1, "seconds": [0-9.]+, )re"
      R"re("bytes": [0-9]+, "time_of_copy": [0-9.]+, "strategy": "[a-z ]+"\})re";
  EXPECT_TRUE(std::regex_match(outcome.out, std::regex("\\[\n" + row + ",\n" + row + "\n\\]\n"))) << outcome.out;
}

TEST(BenchRandom, MeasuresAPlacedProblem) {
  const Folder folder;
  const Outcome outcome = folder.run(
      std::vector<std::string>{"bench", "unfold u8 1x3x16x16 k2x2 src=flipped dst=tokens", "--rounds", "1", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("\"problem\": \"unfold u8 1x3x16x16 kernel_size=2,2 src=flipped dst=tokens\""),
            std::string::npos)
      << outcome.out;
}

TEST(BenchRandom, RefusesWrongWords) {
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
      {{"--random", "1", "3", "--only", "3"},
       "--only: must be the index of one of the COUNT problems; given 3, expected 0 to 2"},
      {{"--random", "1", "3", "--only", "-1"}, "--only"},
      {{"--random", "1", "3", "--worst", "0"}, "--worst"},
      {{"--random", "1", "3", "--worst", "1", "--json"}, "--worst"},
      {{"--random", "1", "3", "--growth"}, "--random"},
      {{"unfold f32 1x3x16x16 k2x2", "--random", "1", "3"}, "--random: takes no problem"},
      {{"--only", "1"}, "--only: needs --random"},
      {{"--worst", "1"}, "--worst: needs --random"},
      {{"unfold f32 1x3x16x16 k2x2 src=sideways"}, "src: must be a memory layout; given sideways, expected plain, "},
      {{"coverage f32 - output_size=4, kernel_size=2 dst=flipped"}, "flipped: needs a tensor of more axes; given 1"},
  };
  const Folder folder;
  for (const auto& each : cases) {
    std::vector<std::string> words{"bench"};
    words.insert(words.end(), each.words.begin(), each.words.end());
    const Outcome outcome = folder.run(words);
    EXPECT_EQ(outcome.code, 2) << each.message;
    EXPECT_NE(outcome.err.find(each.message), std::string::npos) << outcome.err;
    const bool json = outcome.err.find("\"code\": \"usage\"") != std::string::npos;
    EXPECT_TRUE(json || outcome.err.find("[usage]\n") != std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace patchfold::cli_test
