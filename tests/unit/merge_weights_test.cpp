// SPDX-License-Identifier: Apache-2.0
// Compares the weights of windows and their means with this file's own formulas.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>
#include <vector>

#include "merge_support.hpp"

namespace patchfold {
namespace {

/// Returns the weights of n elements by the formulas that WeightWindow documents.
std::vector<double> weights_by_formula(const WeightWindow& window, int n) {
  std::vector<double> weights;
  for (int i = 0; i < n; ++i) {
    const double t = (i + 0.5) / n;
    switch (window.kind) {
      case WeightWindow::Kind::ones: weights.push_back(1); break;
      case WeightWindow::Kind::linear: weights.push_back(1 - std::abs(2 * t - 1)); break;
      case WeightWindow::Kind::hann: weights.push_back(std::pow(std::sin(std::numbers::pi * t), 2)); break;
      case WeightWindow::Kind::cosine: weights.push_back(std::sin(std::numbers::pi * t)); break;
      case WeightWindow::Kind::gaussian:
        weights.push_back(std::max(std::exp(-std::pow((t - 0.5) / window.sigma_scale, 2) / 2), std::exp2(-100)));
        break;
      default: throw std::logic_error("a window without a formula");
    }
  }
  return weights;
}

std::vector<WeightWindow> windows_with_formulas() {
  std::vector<WeightWindow> windows;
  for (const auto kind : {WeightWindow::Kind::ones, WeightWindow::Kind::linear, WeightWindow::Kind::hann,
                          WeightWindow::Kind::cosine, WeightWindow::Kind::gaussian})
    windows.push_back({.kind = kind});
  for (const double sigma : {0.02, 0.3, 1.5})
    windows.push_back({.kind = WeightWindow::Kind::gaussian, .sigma_scale = sigma});
  return windows;
}

TEST(Merge, WeightsAreThoseOfTheFormulas) {
  for (const WeightWindow& window : windows_with_formulas())
    for (const int n : {1, 2, 3, 8, 63, 256}) {
      const std::vector<double> expected = weights_by_formula(window, n);
      const std::vector<double> found = sample(window, n);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], expected[i], 1e-12 * expected[i])
            << word_of(window.kind) << ", sigma " << window.sigma_scale << ", element " << i << " of " << n;
    }
}

/// Compares the mean with its definition, for tiles with values of their own.
TEST(Merge, AMeanIsTheSumOfWeightedValuesOverTheSumOfWeights) {
  const Tiling tiling(TilingSpec{.shape = {23, 19}, .tile = {8, 6}, .stride = {3, 4}});  // up to 3 x 2 tiles for an element
  std::vector<std::vector<float>> tiles;
  for (std::int64_t i = 0; i < tiling.size(); ++i) {
    tiles.push_back(ramp(48));
    for (std::size_t j = 0; j < 48; ++j)
      tiles.back()[j] = static_cast<float>((j * 37 + static_cast<std::size_t>(i) * 101) % 211);
  }
  for (const WeightWindow& window : windows_with_formulas())
    for (const std::size_t masked : {std::size_t{99}, std::size_t{5}}) {
      MergeSpec spec;
      spec.window = window;
      if (masked < tiles.size()) {
        spec.mask.assign(tiles.size(), 1);
        spec.mask[masked] = 0;
      }
      std::vector<float> output(23 * 19);
      Merger merger(tiling, spec, view(output.data(), {23, 19}));
      const std::vector<double> rows = weights_by_formula(window, 8), columns = weights_by_formula(window, 6);
      std::vector<double> sums(output.size()), weights(output.size());
      for (const Tile tile : tiling) {
        const auto index = static_cast<std::size_t>(tile.index);
        if (index == masked) continue;
        merger.add(tile.index, view(std::as_const(tiles[index]).data(), {8, 6}));
        for (std::size_t y = 0; y < 8; ++y)
          for (std::size_t x = 0; x < 6; ++x) {
            const auto at =
                (static_cast<std::size_t>(tile.spans[0].start) + y) * 19 + static_cast<std::size_t>(tile.spans[1].start) + x;
            sums[at] += rows[y] * columns[x] * static_cast<double>(tiles[index][y * 6 + x]);
            weights[at] += rows[y] * columns[x];
          }
      }
      merger.finish();
      for (std::size_t at = 0; at < output.size(); ++at)
        ASSERT_NEAR(output[at], sums[at] / weights[at], 1e-4)
            << word_of(window.kind) << ", sigma " << window.sigma_scale << ", element " << at << ", masked " << masked;
    }
}

}  // namespace
}  // namespace patchfold
