// SPDX-License-Identifier: Apache-2.0
// Folds an image of ones: a pixel in the middle lies in four patches.
#include <cstdio>
#include <patchfold/patchfold.hpp>
#include <vector>

int main() {
  using namespace patchfold;
  std::vector<float> image(4 * 4, 1.0F), columns(4 * 9), sums(4 * 4);
  run(Unfold{.kernel_size = {2, 2}}, view(image.data(), {1, 4, 4}), view(columns.data(), {4, 9}));
  run(Fold{.output_size = {4, 4}, .kernel_size = {2, 2}}, view(columns.data(), {4, 9}), view(sums.data(), {1, 4, 4}));
  std::printf("patches at a corner and in the middle: %g %g\n", sums[0], sums[5]);
  return sums[0] == 1 && sums[5] == 4 ? 0 : 1;
}
