// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <initializer_list>
#include <string_view>

namespace patchfold {
namespace {

std::string_view nearest(std::string_view word, std::initializer_list<std::string_view> candidates) {
  Nearest result(word);
  for (const std::string_view candidate : candidates) result.offer(candidate);
  return result.found();
}

TEST(EditsBetween, AreLettersAddedLeftOutReplacedOrExchanged) {
  const struct {
    std::string_view word;
    std::size_t edits;
  } slips[] = {{"stride", 0}, {"strides", 1}, {"stide", 1},  {"strike", 1}, {"stirde", 1}, {"tsride", 1},
               {"tsirde", 2}, {"strdie", 1},  {"strdei", 2}, {"", 6},       {"pads", 5}};
  for (const auto& slip : slips) {
    EXPECT_EQ(edits_between("stride", slip.word), slip.edits) << slip.word;
    EXPECT_EQ(edits_between(slip.word, "stride"), slip.edits) << slip.word;
  }
}

TEST(Nearest, IsTheFirstOfThoseWithTheFewestEdits) {
  EXPECT_EQ(nearest("fodl", {"unfold", "fold", "fodd"}), "fold");
  EXPECT_EQ(nearest("unfodl", {"fold", "unfold"}), "unfold");
}

TEST(Nearest, MayHaveBegunWithTheWord) {
  EXPECT_EQ(nearest("ker", {"kernel_size"}), "kernel_size");
  EXPECT_EQ(nearest("ke", {"kernel_size"}), "");
}

TEST(Nearest, IsNothingIfMoreEditsAreNeededThanForASlip) {
  EXPECT_EQ(nearest("stwide", {"stride"}), "stride");
  EXPECT_EQ(nearest("stwizx", {"stride"}), "");
  EXPECT_EQ(nearest("xy", {"x", ""}), "x");
  EXPECT_EQ(nearest("x", {""}), "");
}

}  // namespace
}  // namespace patchfold
