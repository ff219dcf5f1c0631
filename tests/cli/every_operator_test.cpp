// SPDX-License-Identifier: Apache-2.0
// Tests every operator of the table by its command line.
#include <gtest/gtest.h>

#include "patchfold/table.hpp"
#include "reference/reference.hpp"
#include "tests/cli/program.hpp"
#include "tests/random/check.hpp"
#include "tests/random/problem.hpp"

namespace patchfold::cli_test {
namespace {

using Shape = std::vector<std::int64_t>;

std::string option_of(const Argument& argument) {
  const std::string value = to_string(argument.value);
  return " --" + argument.name + " " + (value.empty() ? "''" : value);
}

/// Expects that the program's output for the data 1, 2, 3, .. equals the reference's.
void expect_output_of_reference(const ProblemText& problem) {
  SCOPED_TRACE(to_string(problem));
  const Folder folder;
  const OperatorSpec& op = find_operator(problem.op);
  const Npy data = counting({problem.shape.begin(), problem.shape.end()});
  std::string command = "run " + problem.op;
  if (!op.data_input.empty()) {
    folder.write("in.npy", npy_bytes(data));
    command += " in.npy";
  }
  for (const Argument& argument : problem.arguments) command += option_of(argument);
  const Outcome outcome = folder.run(command + " -o out.npy -q");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out + outcome.err, "");
  const Npy output = npy_of(folder.read("out.npy"));
  EXPECT_EQ(output.descr, "<i8");
  EXPECT_FALSE(output.fortran_order);

  const auto* bytes = reinterpret_cast<const std::byte*>(data.data.data());
  const reference::Array input{data.shape, reference::DType::int64, 8, {bytes, bytes + data.data.size()}};
  const reference::Array expected = reference::run(problem.op, input, testing::reference_arguments(problem.arguments));
  EXPECT_EQ(output.shape, expected.shape);
  EXPECT_EQ(output.data, std::string(reinterpret_cast<const char*>(expected.bytes.data()), expected.bytes.size()));
}

TEST(EveryOperator, RunsFromFileToFile) {
  for (const auto& op : operators())
    expect_output_of_reference(parse_problem(std::string(op.name) + " " + std::string(op.example)));
}

TEST(EveryOperator, RunsRandomProblemsFromFileToFile) {
  for (const auto& subject : testing::subjects()) {
    for (int number = 0; number < 4; ++number) {
      testing::Random random(testing::seed_of_case(testing::seed_of_run(), subject.op, number));
      ProblemText problem = subject.make(random, {.type = {DType::int64, 8}}).text;
      std::erase_if(problem.arguments, [](const Argument& each) { return each.name == "accumulate"; });
      expect_output_of_reference(problem);
    }
  }
}

TEST(EveryOperator, RunsTheExampleThatTheProgramShows) {
  for (const auto& op : operators()) {
    SCOPED_TRACE(op.name);
    const Folder folder;
    const std::string shown = folder.run("ops " + std::string(op.name)).out;
    const auto command = shown.find("  patchfold run ");
    ASSERT_NE(command, std::string::npos) << shown;
    const auto end = shown.find('\n', command);
    if (!op.data_input.empty()) {
      const auto at = shown.find("of shape (", end);
      ASSERT_NE(at, std::string::npos) << shown;
      Shape shape;
      std::string text = shown.substr(at + 10);
      for (std::size_t used = 0; !text.empty() && text[0] != ')'; text.erase(0, used))
        if (text[0] == ',' || text[0] == ' ' || text[0] == '\n')
          used = 1;
        else
          shape.push_back(std::stoll(text, &used));
      folder.write(std::string(op.data_input) + ".npy", npy_bytes(counting(shape)));
    }
    const Outcome outcome = folder.run(shown.substr(command + 12, end - command - 12));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_FALSE(npy_of(folder.read("output.npy")).data.empty());
  }
}

TEST(EveryOperator, ExplainsItsArguments) {
  const Folder folder;
  for (const auto& op : operators()) {
    const Outcome outcome = folder.run("run " + std::string(op.name) + " --help");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    for (const auto& argument : op.arguments) {
      EXPECT_NE(outcome.out.find("--" + std::string(argument.name) + " "), std::string::npos) << outcome.out;
      EXPECT_NE(outcome.out.find(argument.doc), std::string::npos) << outcome.out;
    }
  }
}

/// Tests pairs of commands that undo each other.
TEST(EveryOperator, InversesGiveTheDataBack) {
  struct Pair {
    Shape data;
    std::string forth, back;
  };
  const Pair pairs[] = {
      {{2, 3, 4, 6}, "unfold --kernel_size 2,3 --stride 2,3", "fold --output_size 4,6 --kernel_size 2,3 --stride 2,3"},
      {{2, 3, 5, 6}, "space_to_batch --block 2,3 --padding 1:0,0:0", "batch_to_space --block 2,3 --crops 1:0,0:0"},
      {{2, 3, 4, 6}, "space_to_depth --block 2,3", "depth_to_space --block 2,3"},
      {{2, 12, 5}, "reorder --kernel_size 2,2", "reorder --kernel_size 2,2 --source kernel --target channel"},
      {{1, 2, 4, 6}, "onnx.SpaceToDepth --blocksize 2 --mode CRD", "onnx.DepthToSpace --blocksize 2 --mode CRD"},
      {{1, 2, 4, 6}, "torch.pixel_unshuffle --downscale_factor 2", "torch.pixel_shuffle --upscale_factor 2"},
      {{2, 4, 6, 3},
       "tensorflow.SpaceToBatch --block_size 2 --paddings 1:1,0:0",
       "tensorflow.BatchToSpace --block_size 2 --crops 1:1,0:0"},
      {{2, 4, 6, 3},
       "tensorflow.SpaceToBatchND --block_shape '' --paddings ''",
       "tensorflow.BatchToSpaceND --block_shape '' --crops ''"},
  };
  for (const auto& pair : pairs) {
    SCOPED_TRACE(pair.forth);
    const Folder folder;
    folder.write("data.npy", npy_bytes(counting(pair.data)));
    const auto run = [&](const std::string& command, const std::string& from, const std::string& to) {
      const auto name = command.substr(0, command.find(' '));
      const Outcome outcome = folder.run("run " + name + " " + from + command.substr(name.size()) + " -o " + to);
      EXPECT_EQ(outcome.code, 0) << outcome.err;
    };
    run(pair.forth, "data.npy", "middle.npy");
    run(pair.back, "middle.npy", "again.npy");
    const Npy before = npy_of(folder.read("data.npy")), after = npy_of(folder.read("again.npy"));
    EXPECT_EQ(before.shape, after.shape);
    EXPECT_EQ(before.data, after.data);
  }
}

}  // namespace
}  // namespace patchfold::cli_test
