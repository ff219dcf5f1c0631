// SPDX-License-Identifier: Apache-2.0
// This program is compiled with ThreadSanitizer, unlike the library and oneTBB. Four threads call the library, each on four
// threads of the default executor, and write buffers before and after the calls.
#include <patchfold/patchfold.hpp>
#include <thread>

namespace pf = patchfold;

static void work(float first) {
  std::vector<float> image(8 * 256 * 256, first), columns(9 * image.size()), sums(image.size()), tile(64 * 64), merged(256 * 256);
  const pf::Unfold unfold{.kernel_size = {3, 3}, .padding = 1};
  const pf::Fold fold{.output_size = {256, 256}, .kernel_size = {3, 3}, .padding = 1};
  for (int n = 0; n < 4; ++n) {
    pf::run(unfold, pf::view(image, {8, 256, 256}), pf::view(columns, {72, 65536}));
    for (float& x : image) x += 1;
    columns[0] += 1;
    pf::run(fold, pf::view(columns, {72, 65536}), pf::view(sums, {8, 256, 256}));
    pf::run(pf::SpaceToDepth{.block = {2, 2}}, pf::view(sums, {1, 8, 256, 256}), pf::view(image, {1, 32, 128, 128}));
    const pf::Tiling tiling({.shape = {256, 256}, .tile = {64, 64}, .overlap = 16});
    pf::Merger merger(tiling, {.copy = true}, pf::view(merged, {256, 256}));
    for (const pf::Tile& at : tiling) {
      for (float& x : tile) x = first;
      merger.add(at.index, pf::view(tile, {64, 64}));
    }
    merger.finish();
  }
}

int main() {
  pf::set_num_threads(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work, static_cast<float>(i));
  for (std::thread& thread : threads) thread.join();
}
