// SPDX-License-Identifier: Apache-2.0
// Tests the effect of the environment variable PATCHFOLD_INSTRUCTION_SET on the first kernel of a process.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "kernels/processor.hpp"
#include "kernels/targets.hpp"

namespace patchfold {
namespace {

/// Returns the instruction set that the sum kernels would use in a process that starts with PATCHFOLD_INSTRUCTION_SET set to
/// `value`.
std::string set_of_first_kernel(const std::string& value) {
  ::setenv("PATCHFOLD_INSTRUCTION_SET", value.c_str(), 1);
  hwy::GetChosenTarget().DeInit();
  const std::string set = kernels::sum_target();
  ::unsetenv("PATCHFOLD_INSTRUCTION_SET");
  hwy::GetChosenTarget().DeInit();
  return set;
}

TEST(Environment, ChoosesTheInstructionSetInCapitalsOrNot) {
  for (const std::string& set : kernels::instruction_sets()) {
    std::string lower = set;
    std::ranges::transform(lower, lower.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    EXPECT_EQ(set_of_first_kernel(set), set);
    EXPECT_EQ(set_of_first_kernel(lower), set);
    EXPECT_TRUE(kernels::use_instruction_set(lower));
    EXPECT_EQ(kernels::sum_target(), set);
  }
}

TEST(Environment, DoesNotUndoTheProgramsOwnChoice) {
  const std::string own = kernels::instruction_sets().back();
  ::setenv("PATCHFOLD_INSTRUCTION_SET", kernels::instruction_sets().front().c_str(), 1);
  hwy::GetChosenTarget().DeInit();
  EXPECT_TRUE(kernels::use_instruction_set(own));
  EXPECT_EQ(kernels::sum_target(), own);
  ::unsetenv("PATCHFOLD_INSTRUCTION_SET");
  EXPECT_TRUE(kernels::use_instruction_set(""));
}

}  // namespace
}  // namespace patchfold
