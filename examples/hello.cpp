// SPDX-License-Identifier: Apache-2.0
// Cuts an image into overlapping 3 x 3 patches, puts them back together, and checks that the image is the same.
#include <cstdio>
#include <patchfold/patchfold.hpp>
#include <vector>

namespace pf = patchfold;

int main() {
  std::vector<float> image(2 * 4 * 5);  // two channels, 4 x 5 pixels
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i);
  const pf::Dims shape = {2, 4, 5};

  const pf::Unfold unfold{.kernel_size = {3, 3}, .padding = {1, 1}};
  const pf::Dims columns_shape = unfold.output_shape(shape);
  std::vector<float> columns(static_cast<std::size_t>(pf::element_count(columns_shape)));
  pf::run(unfold, pf::view(image, shape), pf::view(columns, columns_shape));

  const pf::Fold fold{.output_size = {4, 5}, .kernel_size = {3, 3}, .padding = {1, 1}};
  std::vector<float> sums(image.size());
  pf::run(fold, pf::view(columns, columns_shape), pf::view(sums, shape));

  std::vector<float> counts(4 * 5);
  pf::coverage({.output_size = {4, 5}, .kernel_size = {3, 3}, .padding = {1, 1}}, pf::view(counts, {4, 5}));

  bool same = true;
  for (std::size_t i = 0; i < sums.size(); ++i) same = same && sums[i] / counts[i % counts.size()] == image[i];
  std::printf("image %s, columns %s: %s\n", pf::to_string(shape).c_str(), pf::to_string(columns_shape).c_str(),
              same ? "the image came back" : "the image did not come back");
  return same ? 0 : 1;
}
