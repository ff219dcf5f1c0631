// SPDX-License-Identifier: Apache-2.0
// Compares the arithmetic of one window with walks over all positions and taps. Tests which known word is nearest to a
// mistyped word.
#include "engine/window.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <string_view>
#include <vector>

#include "base/nearest.hpp"
#include "engine/padding.hpp"

namespace patchfold::engine {
namespace {

/// Returns the coordinate that numpy.pad reads at c, found step by step from the image outwards.
std::int64_t walked_source(PaddingMode mode, std::int64_t n, std::int64_t c) {
  std::int64_t at = 0;
  std::int64_t direction = 1;
  const std::int64_t steps = c < 0 ? -c : c;
  if (mode == PaddingMode::edge) return c < 0 ? 0 : std::min(c, n - 1);
  // In the modes symmetric, reflect and wrap, the coordinates repeat with a period, so a walk forwards also gives the
  // coordinates before the image.
  std::vector<std::int64_t> forward;
  for (std::int64_t i = 0; i <= steps + 2 * n; ++i) {
    forward.push_back(at);
    if (mode == PaddingMode::wrap) {
      at = (at + 1) % n;
    } else if (mode == PaddingMode::symmetric) {
      if (at + direction < 0 || at + direction >= n)
        direction = -direction;
      else
        at += direction;
    } else {
      if (n == 1) continue;
      if (at + direction < 0 || at + direction >= n) direction = -direction;
      at += direction;
    }
  }
  if (c >= 0) return forward[static_cast<std::size_t>(c)];
  const std::int64_t period = mode == PaddingMode::wrap        ? n
                              : mode == PaddingMode::symmetric ? 2 * n
                                                               : std::max<std::int64_t>(1, 2 * (n - 1));
  return forward[static_cast<std::size_t>(((c % period) + period) % period)];
}

TEST(RunAt, ReadsWhatNumpyPadReads) {
  for (const PaddingMode mode : {PaddingMode::edge, PaddingMode::reflect, PaddingMode::symmetric, PaddingMode::wrap})
    for (std::int64_t n = 1; n <= 5; ++n)
      for (std::int64_t c = -17; c <= 21; ++c) {
        Window window;
        window.extent = n;
        window.mode = mode;
        const auto run = run_at(window, c);
        EXPECT_FALSE(run.outside);
        EXPECT_LE(run.begin, c);
        EXPECT_GT(run.end, c);
        EXPECT_EQ(source_at(run, c), walked_source(mode, n, c))
            << "mode " << static_cast<int>(mode) << " n " << n << " c " << c;
      }
}

TEST(RunAt, KnowsNumpysOwnExample) {
  // numpy.pad([1, 2, 3, 4, 5], (2, 3), "reflect") is [3, 2, 1, 2, 3, 4, 5, 4, 3, 2]; "symmetric" is [2, 1, 1, 2, .., 5, 5,
  // 4, 3].
  const auto padded = [](PaddingMode mode) {
    Window window;
    window.extent = 5;
    window.mode = mode;
    std::vector<std::int64_t> values;
    for (std::int64_t c = -2; c < 8; ++c) values.push_back(1 + source_at(run_at(window, c), c));
    return values;
  };
  EXPECT_EQ(padded(PaddingMode::reflect), (std::vector<std::int64_t>{3, 2, 1, 2, 3, 4, 5, 4, 3, 2}));
  EXPECT_EQ(padded(PaddingMode::symmetric), (std::vector<std::int64_t>{2, 1, 1, 2, 3, 4, 5, 5, 4, 3}));
  EXPECT_EQ(padded(PaddingMode::wrap), (std::vector<std::int64_t>{4, 5, 1, 2, 3, 4, 5, 1, 2, 3}));
  EXPECT_EQ(padded(PaddingMode::edge), (std::vector<std::int64_t>{1, 1, 1, 2, 3, 4, 5, 5, 5, 5}));
}

TEST(RunAt, ConstantIsOutsideBeyondTheImageOnly) {
  Window window;
  window.extent = 3;
  for (std::int64_t c = -4; c <= 7; ++c) EXPECT_EQ(run_at(window, c).outside, c < 0 || c >= 3) << c;
  window.extent = 0;
  for (std::int64_t c = -2; c <= 2; ++c) EXPECT_TRUE(run_at(window, c).outside) << c;
}

TEST(TapSolver, FindsTheTapsThatAWalkFinds) {
  constexpr std::int64_t tap_stride = 1000;
  constexpr std::int64_t position_stride = 1;
  int with_taps = 0;
  for (std::int64_t kernel = 1; kernel <= 5; ++kernel)
    for (std::int64_t positions = 0; positions <= 4; ++positions)
      for (std::int64_t stride = 1; stride <= 6; ++stride)
        for (std::int64_t dilation = 0; dilation <= 6; ++dilation)
          for (std::int64_t pad : {-3, 0, 2}) {
            Window window;
            window.kernel = kernel;
            window.positions = positions;
            window.stride = stride;
            window.dilation = dilation;
            window.pad_begin = pad;
            window.tap_stride = tap_stride;
            window.position_stride = position_stride;
            std::map<std::int64_t, std::vector<std::int64_t>> walked;
            for (std::int64_t q = 0; q < kernel; ++q)
              for (std::int64_t b = 0; b < positions; ++b)
                walked[b * stride + q * dilation - pad].push_back(q * tap_stride + b * position_stride);
            const TapSolver solver(window);
            for (std::int64_t y = -4; y < 60; ++y) {
              const Taps taps = solver.at(y);
              std::vector<std::int64_t> solved;
              for (std::int64_t i = 0; i < taps.count; ++i) solved.push_back(taps.offset + i * taps.step);
              ASSERT_EQ(solved, walked[y])
                  << "k" << kernel << " l" << positions << " s" << stride << " d" << dilation << " p" << pad << " y" << y;
              with_taps += !solved.empty();
            }
          }
  EXPECT_GT(with_taps, 10000);
}

TEST(TapSolver, TakesStridesNearTwoToTheForty) {
  Window window;
  window.kernel = 3;
  window.positions = 2;
  window.stride = std::int64_t{1} << 40;
  window.dilation = (std::int64_t{1} << 40) - 1;
  window.tap_stride = 16;
  window.position_stride = 8;
  const TapSolver solver(window);
  EXPECT_EQ(solver.at(0).count, 1);
  EXPECT_EQ(solver.at(window.stride).offset, 8);
  EXPECT_EQ(solver.at(2 * window.dilation).offset, 32);
  EXPECT_EQ(solver.at(window.stride + window.dilation).offset, 24);
  EXPECT_EQ(solver.at(5).count, 0);
}

}  // namespace
}  // namespace patchfold::engine

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
