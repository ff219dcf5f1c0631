// SPDX-License-Identifier: Apache-2.0
// `patchfold bench`: its output, but no times.
#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <sstream>

#include "bench/problems.hpp"
#include "patchfold/table.hpp"
#include "tests/cli/program.hpp"

namespace patchfold::cli_test {
namespace {

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
  // The last column of a row follows two blanks; a problem faster than its roof is named once more, behind one blank.
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

/// Returns the strategy that a row of JSON names.
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
  EXPECT_EQ(strategy_of(folder, {"--only-row", "sum rows"}), usual);  // the named row does not fit the problem
  EXPECT_NE(strategy_of(folder, {"--without", "magic"}).find("must name a row of the strategy table"), std::string::npos);
}

/// Expects the verdict: flat is growth of at most 30 %.
void expect_verdict(bool flat, double spread) {
  if (std::abs(spread - 1.3) <= 0.01) return;  // the printed number is rounded
  EXPECT_EQ(flat, spread < 1.3) << spread;
}

TEST(Bench, PrintsHowTimeAndMemoryGrow) {
  const Folder folder;
  const Outcome outcome = folder.run("bench --growth --largest 4 --cache 0.9 --rounds 1 --threads 1,2");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  for (const char* problem : {"fold f32 1x18x12544 ", "fold f32 1x36x12544 ", "fold f32 1x72x12544 ",
                              "unfold f32 1x8x112x112 ", "space_to_batch f32 1x40x112x112 block=2\n"})
    EXPECT_EQ(count(outcome.out, "  " + std::string(problem)), 2u) << problem << "\n" << outcome.out;
  for (const char* subject :
       {"\nfold, 1 thread: ", "\nfold, 2 threads: ", "\nunfold, 1 thread: ", "\nspace_to_batch, 2 threads: "}) {
    const std::regex verdict(std::string(subject) +
                             R"((NOT )?flat within ([0-9.]+) from 2 MB on \(2 sizes past twice the cache of 0\.9 MB.*\))");
    std::smatch found;
    ASSERT_TRUE(std::regex_search(outcome.out, found, verdict)) << subject << "\n" << outcome.out;
    expect_verdict(!found[1].matched, std::stod(found[2]));
    const std::regex memory(std::string(subject) +
                            R"(peak memory = input \+ output \+ ([0-9]+|\?) kB; a plan's scratch is [0-9.]+ kB)");
    EXPECT_TRUE(std::regex_search(outcome.out, memory)) << subject << "\n" << outcome.out;
  }
}

TEST(Bench, GivesNoVerdictWhereOneSizeIsPastTheCache) {
  const Folder folder;
  const Outcome outcome = folder.run("bench --growth --largest 4 --cache 1 --rounds 1");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(count(outcome.out, "no verdict, fewer than two sizes are past twice the cache of 1 MB"), 3u) << outcome.out;
}

TEST(Bench, PrintsGrowthAsJson) {
  const Folder folder;
  const Outcome outcome = folder.run("bench --growth --largest 2 --cache 0.4 --rounds 1 --json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::string size =
      R"re(\n    \{"problem": "[^"]+", "bytes": [0-9]+, "seconds": [0-9.]+, "nanoseconds_per_byte": [0-9.]+, )re"
      R"re("past_cache": true, "bytes_beyond": ([0-9]+|null)\})re";
  const std::string growth =
      R"re(\n  \{"op": "[a-z_]+", "threads": 1, "cache_bytes": 419430, "flat": (true|false), "spread": [0-9.]+, )re"
      R"re("scratch_bytes": [0-9]+, "bytes_beyond": ([0-9]+|null), "sizes": \[)re" +
      size + "," + size + "\n  \\]\\}";
  EXPECT_TRUE(std::regex_match(outcome.out, std::regex("\\[" + growth + "," + growth + "," + growth + "\n\\]\n")))
      << outcome.out;
  const std::regex verdict(R"re("flat": (true|false), "spread": ([0-9.]+))re");
  for (std::sregex_iterator found(outcome.out.begin(), outcome.out.end(), verdict), end; found != end; ++found)
    expect_verdict((*found)[1] == "true", std::stod((*found)[2]));
}

TEST(Bench, RefusesWrongWords) {
  const Folder folder;
  for (const char* words : {"--threads 0", "--threads 1,x", "--threads ,", "--rounds 0", "--fast", "--largest 4",
                            "--cache 4", "--growth --largest 0.5", "--growth --cache 0", "--growth unfold"}) {
    const Outcome outcome = folder.run("bench " + std::string(words));
    EXPECT_EQ(outcome.code, 2) << words;
    EXPECT_EQ(outcome.out, "") << words;
  }
  EXPECT_EQ(folder.run(std::vector<std::string>{"bench", "unfolt f32 1x3x16x16 k2x2"}).code, 2);
  EXPECT_EQ(folder.run(std::vector<std::string>{"bench", "unfold f32 1x3x16x16 kernel_size=0"}).code, 2);
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
