// SPDX-License-Identifier: Apache-2.0
// Cuts an image into overlapping 3 x 3 patches, puts them back together, and checks that the image is the same.
#include <cstdio>
#include <patchfold/patchfold.hpp>
#include <vector>

int main() {
  using namespace patchfold;
  std::vector<float> image(2 * 4 * 5);  // two channels, 4 x 5 pixels
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i);
  const Dims shape = {2, 4, 5};

  const Unfold unfold{.kernel_size = {3, 3}, .padding = {1, 1}};
  const Dims columns_shape = unfold.output_shape(shape);
  std::vector<float> columns(static_cast<std::size_t>(element_count(columns_shape)));
  run(unfold, view(image.data(), shape), view(columns.data(), columns_shape));

  const Fold fold{.output_size = {4, 5}, .kernel_size = {3, 3}, .padding = {1, 1}};
  std::vector<float> sums(image.size());
  run(fold, view(columns.data(), columns_shape), view(sums.data(), shape));

  std::vector<float> counts(4 * 5);
  coverage({.output_size = {4, 5}, .kernel_size = {3, 3}, .padding = {1, 1}}, view(counts.data(), {4, 5}));

  bool same = true;
  for (std::size_t i = 0; i < sums.size(); ++i) same = same && sums[i] / counts[i % counts.size()] == image[i];
  std::printf("image %s, columns %s: %s\n", to_string(shape).c_str(), to_string(columns_shape).c_str(),
              same ? "the image came back" : "the image did not come back");
  return same ? 0 : 1;
}
