// SPDX-License-Identifier: Apache-2.0
// Tests that `patchfold explain` gives one text for all forms of a request. Other tests check the text itself.
#include "patchfold/explain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tests/cli/program.hpp"

namespace patchfold::cli_test {
namespace {

/// Returns the text between two marks, or nothing.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const auto at = text.find(begin);
  if (at == std::string::npos) return {};
  const auto from = at + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

TEST(Explain, PrintsWhatTheLibrarySaysOfEveryOperator) {
  const Folder folder;
  for (const auto& op : operators()) {
    SCOPED_TRACE(op.name);
    const std::string help = folder.run("explain " + std::string(op.name) + " --help").out;
    const std::string example = between(help, "\nExample: patchfold ", "\n");
    ASSERT_TRUE(example.starts_with("explain " + std::string(op.name) + " --")) << help;
    const Outcome outcome = folder.run(example);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    std::string problem = between(outcome.out, "\n  problem: ", "\n\n");
    problem.erase(std::remove(problem.begin(), problem.end(), '\n'), problem.end());
    EXPECT_EQ(outcome.out, explain(parse_problem(problem)));
    EXPECT_EQ(folder.run("explain " + problem).out, outcome.out);
  }
  EXPECT_EQ(folder.entries(), "");
}

TEST(Explain, TakesTheSameProblemInEveryForm) {
  const Folder folder;
  const std::string expected = explain(parse_problem("unfold f16 1x3x8x8 kernel_size=3,3 padding=1"));
  EXPECT_EQ(folder.run("explain unfold --shape 1,3,8,8 --dtype f16 --kernel_size 3,3 --padding 1").out, expected);
  EXPECT_EQ(folder.run("explain unfold --kernel-size=3,3 --shape=1,3,8,8 --dtype=float16 --padding=1").out, expected);
  EXPECT_EQ(folder.run("explain unfold f16 1x3x8x8 k3x3 p1").out, expected);
  EXPECT_EQ(folder.run(std::vector<std::string>{"explain", "unfold f16 1x3x8x8 k3x3 p1"}).out, expected);
  EXPECT_EQ(folder.run("explain onnx.Col2Im f32 1x4x9 image_shape=4,4 block_shape=2,2").out,
            folder.run("explain onnx.Col2Im-18 --shape 1,4,9 --image_shape 4,4 --block_shape 2,2").out);
}

TEST(Explain, ShowsThePlanIfItIsAskedFor) {
  const Folder folder;
  const std::string expected = explain(parse_problem("unfold f32 1x3x8x8 k3x3"), {.plan = true});
  EXPECT_EQ(folder.run("explain unfold --shape 1,3,8,8 --kernel_size 3,3 --plan").out,
            explain(parse_problem("unfold f32 1x3x8x8 kernel_size=3,3"), {.plan = true}));
  EXPECT_EQ(folder.run("explain unfold f32 1x3x8x8 k3x3 --plan").out, expected);
  EXPECT_EQ(folder.run(std::vector<std::string>{"explain", "unfold f32 1x3x8x8 k3x3", "--plan"}).out, expected);
}

TEST(Explain, ShowsExamplesThatWork) {
  const Folder folder;
  std::string text = folder.run("explain --help").out;
  text.erase(std::remove(text.begin(), text.end(), '"'), text.end());
  int count = 0;
  for (auto at = text.find("\n  patchfold "); at != std::string::npos; at = text.find("\n  patchfold ", at + 1), ++count) {
    const std::string command = text.substr(at + 13, text.find('\n', at + 1) - at - 13);
    EXPECT_EQ(folder.run(command).code, 0) << command;
  }
  EXPECT_EQ(count, 4);
}

TEST(Explain, NamesEveryArgumentInItsHelp) {
  const Folder folder;
  for (const auto& op : operators()) {
    const std::string help = folder.run("explain " + std::string(op.name) + " --help").out;
    for (const auto& argument : op.arguments)
      EXPECT_NE(help.find("--" + std::string(argument.name) + " "), std::string::npos) << help;
    EXPECT_EQ(help.find("--shape") == std::string::npos, op.data_input.empty()) << help;
  }
}

TEST(Explain, RefusesWhatThePlanRefuses) {
  struct Wrong {
    const char* command;
    const char* fragment;
  };
  const Folder folder;
  for (const auto& [command, fragment] : {
           Wrong{"explain", "explain: needs an operator"},
           {"explain --shape 1,3,8,8 unfold", "explain: --shape: an operator's name comes before its options"},
           {"explain unfolt --shape 1", "given unfolt; did you mean unfold?"},
           {"explain unfold --kernel_size 3,3", "unfold: --shape: is required"},
           {"explain unfold --shape 1,3,x", "unfold: --shape: must be a list of integers; given 1,3,x"},
           {"explain unfold --shape 1,3,8,8", "unfold: kernel_size: must be given"},
           {"explain unfold --shape 1,3,8,8 --kernal_size 3", "unfold: --kernal_size: is not an argument of this operator"},
           {"explain unfold --shape 1,3,8,8 --kernel_size two", "kernel_size"},
           {"explain unfold --shape 1,3,8,8 --kernel_size 3,3 --dtype f99",
            "explain: --dtype: must be an element type; given f99"},
           {"explain unfold --shape 1,3,8,8 --kernel_size 3,3 -o out.npy", "-o"},
           {"explain unfold --shape -1,3,8,8 --kernel_size 3,3", "extents must be at least 0; given [-1, 3, 8, 8]"},
           {"explain fold --shape 1,4,8 --output_size 4,4 --kernel_size 2,2", "given 8, expected 9 = product of [3, 3]"},
           {"explain fold --shape 1,4,9 --output_size 4,4 --kernel_size 2,2 --dtype float8_e5m2", "fold: columns"},
           {"explain coverage --shape 4,4 --output_size 4,4 --kernel_size 2,2", "coverage: --shape: is not an argument"},
           {"explain unfold f33 1x3x8x8 k3x3", "problem: dtype"},
           {"explain unfold f32 1x3x8x8 q3", "problem: argument"},
           {"explain unfold f32 1x3x8x8 kernel_size",
            "problem: argument: must read OP DTYPE SHAPE [ARGUMENT=VALUE]..; given kernel_size"},
           {"explain unfold f32 1x3x8x8x k3", "problem: shape: must read OP DTYPE SHAPE [ARGUMENT=VALUE]..; given 1x3x8x8x"},
       }) {
    SCOPED_TRACE(command);
    const Outcome outcome = folder.run(command);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find(fragment), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

TEST(Explain, DrawsPictures) {
  const Folder folder;
  const ProblemText problem = parse_problem("unfold f32 1x3x8x8 kernel_size=3,3");
  for (const char* command : {"explain unfold --shape 1,3,8,8 --kernel_size 3,3 --svg",
                              "explain unfold f32 1x3x8x8 k3x3 --svg", "explain unfold f32 1x3x8x8 kernel_size=3,3 --svg"}) {
    const Outcome outcome = folder.run(command);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, explain_svg(problem)) << command;
    EXPECT_TRUE(outcome.out.starts_with("<svg ")) << command;
  }
  for (const char* wrong : {"explain unfold f32 1x3x8x8 k3x3 --svg --plan", "explain unfold f32 1x3x8x8 k3x3 --svg --json",
                            "explain fold f32 1x4x8 output_size=4,4 kernel_size=2,2 --svg"}) {
    const Outcome outcome = folder.run(wrong);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "") << wrong;
  }
}

TEST(Explain, ThePicturesOfThePageAreUpToDate) {
  const Folder folder;
  std::ifstream page(PATCHFOLD_SOURCES "/docs/explain.md");
  int count = 0;
  for (std::string line; std::getline(page, line);) {
    const std::size_t to = line.find(" --svg > ");
    if (!line.starts_with("patchfold ") || to == std::string::npos) continue;
    const std::string file = line.substr(to + 9);
    std::ifstream picture(std::string(PATCHFOLD_SOURCES "/docs/") + file);
    const std::string written{std::istreambuf_iterator<char>(picture), {}};
    EXPECT_TRUE(written == folder.run(line.substr(10, to - 4)).out) << "write it again in docs/: " << line;
    ++count;
  }
  EXPECT_EQ(count, 3);
}

TEST(Explain, SaysWhatWouldBeRight) {
  const Folder folder;
  for (const char* command : {"explain fold --shape 1,4,8 --output_size 4,4 --kernel_size 2,2",
                              "explain fold f32 1x4x8 output_size=4,4 kernel_size=2,2"}) {
    const Outcome outcome = folder.run(command);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.out.find("\n  columns [1, 4, 9] instead of [1, 4, 8]\n"), std::string::npos) << outcome.out;
  }
}

TEST(Explain, ShowsTilings) {
  const Folder folder;
  const std::string command = "explain tiling --shape 3,1000,700 --tile 256 --overlap 32";
  const Tiling tiling(TilingSpec{.shape = {3, 1000, 700}, .tile = {256, 256}, .overlap = 32});
  EXPECT_EQ(folder.run(command).out, explain(tiling));
  MergeSpec merge;
  merge.window = {.kind = WeightWindow::Kind::gaussian, .sigma_scale = 0.2};
  EXPECT_EQ(folder.run(command + " --window gaussian:0.2 --svg").out, explain_svg(tiling, merge));
  merge = {.reduce = Reduce::center, .dtype = DType::uint8, .element_size = 1};
  EXPECT_EQ(folder.run(command + " --reduce center --dtype uint8").out, explain(tiling, merge));
  const std::string help = folder.run("explain tiling --help").out;
  for (const char* option : {"--tile ", "--overlap ", "--tail ", "--scale ", "--window ", "--svg"})
    EXPECT_NE(help.find(option), std::string::npos) << help;
  for (const char* wrong :
       {"explain tiling", "explain tiling --shape 10,10", "explain tiling --shape 10 --tile 0",
        "explain tiling --shape 10 --tile 4 --window hat", "explain tiling --shape 10 --tile 4 --tail shfit"}) {
    const Outcome outcome = folder.run(wrong);
    EXPECT_EQ(outcome.code, 2) << wrong;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

TEST(Explain, LargeShapesNeedLittleMemory) {
  const Folder folder;
  const Outcome outcome = folder.run("explain unfold --shape 64,64,65536,65536 --kernel_size 3,3");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_LT(outcome.peak_bytes, 256 << 20);  // leaves room for sanitizers
}

TEST(Explain, AClosedOutputIsAFailureNotAWrongUsage) {
  EXPECT_EQ(Folder().run("explain unfold f32 1x3x8x8 k3x3", {.close_output = true}).code, 1);
}

}  // namespace
}  // namespace patchfold::cli_test
