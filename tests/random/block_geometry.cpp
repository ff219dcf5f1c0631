// SPDX-License-Identifier: Apache-2.0
// Random geometry of block operators.
#include <algorithm>

#include "geometry.hpp"

namespace patchfold::testing {
namespace {

struct BlockAxis {
  std::int64_t block = 1;
  Pads pads{};
};

BlockAxis random_axis(Random& random, int rank, const BlockRules& rules) {
  BlockAxis axis;
  axis.block = rules.lowest_block + (rank > 3 ? (random.chance(70) ? random.between(0, 1) : 2) : random.between(0, 3));
  if (!rules.pads || random.chance(30)) return axis;
  const std::int64_t lowest = rules.negative_pads && random.chance(30) ? -4 : 0;
  axis.pads = {random.between(lowest, 5), random.between(lowest, 5)};
  if (rules.same_everywhere) axis.pads.end = axis.pads.begin;
  return axis;
}

/// Draws image and blocks of one axis, and pads if a rule gives pads. Returns false if the axis would have no image.
bool extend(Random& random, int rank, bool last, bool longest, BlockAxis& axis, BlockGeometry& g, const Request& request) {
  const std::int64_t usual = std::max<std::int64_t>(usual_extent(rank, request.big) / axis.block, 1);
  std::int64_t blocks =
      request.big ? random.between((usual + 1) / 2, usual) : random.between(random.chance(4) ? 0 : 1, usual);
  if (longest && !request.big) blocks = (130 + axis.block - 1) / axis.block;
  if (request.width != 0) {
    blocks = std::max<std::int64_t>(1, random.between(1, rank == 2 ? 70 : usual_extent(rank, false)) / axis.block);
    if (last) blocks = (request.width + axis.block - 1) / axis.block;
  }
  std::int64_t image = blocks * axis.block - axis.pads.begin - axis.pads.end;
  if (!g.rule.empty()) {
    image = std::max<std::int64_t>(0, blocks * axis.block - random.between(0, axis.block - 1));
    const std::int64_t total = (axis.block - image % axis.block) % axis.block;
    const std::int64_t begin = g.rule == "same_lower" ? (total + 1) / 2 : total / 2;
    axis.pads = {begin, total - begin};
    blocks = (image + total) / axis.block;
  }
  g.image.push_back(image);
  g.block.push_back(axis.block);
  g.blocks.push_back(blocks);
  g.pads.push_back(axis.pads);
  return image >= 0;
}

}  // namespace

BlockGeometry random_blocks(Random& random, int rank, const BlockRules& rules, const Request& request) {
  while (true) {
    BlockGeometry g;
    g.rank = rank;
    if (rules.rule_pads && random.chance(20)) g.rule = random.chance(50) ? "same_upper" : "same_lower";
    const std::int64_t longest = random.chance(20) ? random.between(0, rank - 1) : -1;
    bool legal = true;
    BlockAxis axis;
    for (int d = 0; d < rank; ++d) {
      const std::int64_t block = axis.block;
      if (d == 0 || !rules.same_everywhere) axis = random_axis(random, rank, rules);
      if (d > 0 && rules.same_block) axis.block = block;
      legal = extend(random, rank, d == rank - 1, d == longest, axis, g, request) && legal;
    }
    g.channels = request.big || random.chance(80) ? random.between(1, 4) : random.chance(80) ? random.between(5, 17) : 0;
    g.batch = request.big || random.chance(96) ? random.between(1, 3) : 0;
    if (request.width != 0) {
      g.channels = wide_channels(random);
      g.batch = random.between(1, 3);
    }
    const double elements = std::max(product(g.image), product(g.blocks) * product(g.block));
    const double others = static_cast<double>(g.channels * g.batch);
    if (!legal || elements * others > static_cast<double>(most_elements(request))) continue;
    if (request.big && request.width == 0 && product(g.image) * others < 60000) continue;
    if (request.width != 0 && elements == 0) continue;
    if (elements == 0 && !random.chance(30)) continue;
    return g;
  }
}

void describe(const BlockGeometry& g, Features& features) {
  features.insert("rank " + std::to_string(g.rank));
  for (int d = 0; d < g.rank; ++d) {
    const Pads pads = g.pads[d];
    if (pads.begin != pads.end) features.insert("asymmetric pads");
    if (pads.begin < 0 || pads.end < 0) features.insert("negative pads");
    if (std::max(pads.begin, pads.end) > g.block[d]) features.insert("pads > block");
    if (!g.rule.empty() && (pads.begin + pads.end) % 2 != 0) features.insert("odd " + g.rule);
  }
  note_extents(g.image, features);
}

}  // namespace patchfold::testing
