// SPDX-License-Identifier: Apache-2.0
#include "fuzz/tilings.hpp"

#include <algorithm>

#include "fuzz/problems.hpp"

namespace patchfold::fuzz {

using testing::Random;

namespace {

Dims draw_dims(Random& random, int length, std::int64_t lowest, std::int64_t highest) {
  Dims dims;
  for (; length > 0; --length) dims.push_back(random.chance(95) ? random.between(lowest, highest) : draw_number(random));
  return dims;
}

}  // namespace

TilingSpec draw_tiling(Random& random) {
  TilingSpec spec;
  const int rank = static_cast<int>(random.between(1, 4));
  const int tiled = static_cast<int>(random.between(1, rank));
  spec.shape = draw_dims(random, rank, 0, 12);
  spec.tile = draw_dims(random, tiled, 1, 6);
  switch (random.between(0, 4)) {
    case 0: spec.overlap = draw_dims(random, tiled, -2, 4); break;
    case 1: spec.overlap = random.between(0, 3); break;
    case 2: spec.stride = draw_dims(random, tiled, 1, 6); break;
    case 3:
      for (int i = 0; i < tiled; ++i) spec.overlap_fraction.push_back(static_cast<double>(random.between(-1, 11)) / 10);
      break;
    default: break;
  }
  spec.tail = static_cast<Tail>(random.between(0, 5));
  spec.padding_mode = static_cast<PaddingMode>(random.between(0, 4));
  if (random.chance(30)) {
    for (int i = 0; i < tiled; ++i) spec.axes.push_back(random.chance(95) ? rank - tiled + i : draw_number(random));
  }
  if (random.chance(10)) spec.scale = {{draw_number(random), draw_number(random)}};
  if (random.chance(10)) spec.offset = draw_dims(random, tiled, -2, 2);
  if (random.chance(10)) spec.result = draw_dims(random, tiled, 1, 6);
  return spec;
}

MergeSpec draw_merge(Random& random, const Tiling& tiling, DType dtype, std::size_t size) {
  MergeSpec spec;
  if (random.chance(90)) spec.reduce = static_cast<Reduce>(random.between(0, 6));
  spec.window.kind = static_cast<WeightWindow::Kind>(random.between(0, 7));
  if (random.chance(10)) spec.window.sigma_scale = static_cast<double>(random.between(-1, 100)) / 50;
  if (spec.window.kind == WeightWindow::Kind::axes)
    for (const auto extent : tiling.result()) {
      auto& weights = spec.window.axes.emplace_back();
      for (std::int64_t i = 0; i < std::min<std::int64_t>(extent, 100); ++i)
        weights.push_back(static_cast<double>(random.between(0, 20)));
    }
  if (spec.window.kind == WeightWindow::Kind::array && element_count(tiling.result()) < 2000)
    for (std::int64_t i = element_count(tiling.result()); i > 0; --i)
      spec.window.array.push_back(static_cast<double>(random.between(0, 20)));
  spec.dtype = dtype;
  spec.element_size = size;
  spec.channels = tiling.channels();
  if (random.chance(20)) spec.fill = testing::random_scalar(random, dtype);
  if (random.chance(20))
    for (std::int64_t i = 0; i < std::min<std::int64_t>(tiling.size(), 2000); ++i)
      spec.mask.push_back(static_cast<std::uint8_t>(random.chance(80)));
  spec.copy = random.chance(50);
  if (random.chance(10)) spec.memory_limit = draw_number(random);
  return spec;
}

bool is_small(const Tiling& tiling) {
  double elements = 1;
  for (const auto extent : tiling.spec().shape) elements *= static_cast<double>(std::max<std::int64_t>(extent, 1));
  double output = 1;
  for (const auto extent : tiling.output()) output *= static_cast<double>(std::max<std::int64_t>(extent, 1));
  double result = 1;
  for (const auto extent : tiling.result()) result *= static_cast<double>(std::max<std::int64_t>(extent, 1));
  return elements < 20000 && output * elements < 1e7 && result < 20000 && tiling.size() < 2000;
}

}  // namespace patchfold::fuzz
