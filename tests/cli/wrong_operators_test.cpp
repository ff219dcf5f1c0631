// SPDX-License-Identifier: Apache-2.0
// Tests every operator with every wrong input that a command line can express. The program must print one line with the operator's
// name, end with exit code 1 or 2, and leave no file.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/program.hpp"
#include "tests/inputs/wrong_problems.hpp"

namespace patchfold::cli_test {
namespace {

/// Returns zeros of the problem's shape and type.
Npy data_of(const ProblemText& problem, const char* descr = "<f4", std::size_t size = 4) {
  std::vector<std::int64_t> shape(problem.shape.begin(), problem.shape.end());
  return {descr, shape, std::string(static_cast<std::size_t>(element_count(problem.shape)) * size, '\0')};
}

/// Returns `run OP data.npy --argument value ..`; shape inputs are arguments too.
std::vector<std::string> command_of(const ProblemText& problem) {
  std::vector<std::string> words = {"run", problem.op};
  if (!find_operator(problem.op).data_input.empty()) words.emplace_back("data.npy");
  for (const Argument& argument : problem.arguments)
    words.insert(words.end(), {"--" + argument.name, to_string(argument.value)});
  words.insert(words.end(), {"-o", "out.npy"});
  return words;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

void expect_refused(const Folder& folder, const std::vector<std::string>& words, const std::string& op,
                    const std::vector<std::string>& named) {
  const std::string before = folder.entries();
  const Outcome outcome = folder.run(words);
  EXPECT_TRUE(outcome.code == 1 || outcome.code == 2) << "code " << outcome.code << " signal " << outcome.signal;
  EXPECT_TRUE(outcome.err.starts_with("patchfold: ")) << outcome.err;
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, op)) << outcome.err;
  EXPECT_TRUE(std::ranges::any_of(named, [&](const std::string& name) { return contains(outcome.err, name); }))
      << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(folder.entries(), before);
}

TEST(WrongOperators, AreRefusedWithALine) {
  for (const OperatorSpec& op : operators()) {
    const ProblemText right = inputs::right_problem(op);
    const Folder folder;
    folder.write("data.npy", npy_bytes(data_of(right)));
    const Outcome outcome = folder.run(command_of(right));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    folder.write("out.npy", "as it was");
    for (const inputs::Wrong& wrong : inputs::wrong_problems(op, facts::find(op.name))) {
      if (!wrong.has_text) continue;
      SCOPED_TRACE(wrong.what + ": " + to_string(wrong.problem));
      folder.write("data.npy", npy_bytes(data_of(wrong.problem)));
      expect_refused(folder, command_of(wrong.problem), right.op, wrong.arguments);
      EXPECT_EQ(folder.read("out.npy"), "as it was");
    }
  }
}

TEST(WrongOperators, OfNoNameAreRefusedWithALine) {
  for (const OperatorSpec& op : operators()) {
    const ProblemText problem = inputs::right_problem(op);
    const Folder folder;
    folder.write("data.npy", npy_bytes(data_of(problem)));
    auto words = command_of(problem);
    words[1] += "x";
    SCOPED_TRACE(words[1]);
    expect_refused(folder, words, words[1], {"there is no operator of this name"});
  }
}

TEST(WrongOperators, OfTypesThatCannotBeAddedAreRefusedWithALine) {
  for (const OperatorSpec& op : operators()) {
    const ProblemText problem = inputs::right_problem(op);
    if (!op.sums || op.data_input.empty()) continue;  // the other operators move any element
    SCOPED_TRACE(problem.op);
    const Folder folder;
    folder.write("data.npy", npy_bytes(data_of(problem, "|S3", 3)));
    expect_refused(folder, command_of(problem), problem.op, {std::string(op.data_input)});
  }
}

}  // namespace
}  // namespace patchfold::cli_test
