// SPDX-License-Identifier: Apache-2.0
#include "geometry.hpp"

#include <algorithm>

namespace patchfold::testing {

std::int64_t usual_extent(int rank, bool big) {
  constexpr std::int64_t small[] = {0, 150, 22, 9, 6, 4, 3};
  constexpr std::int64_t large[] = {0, 60000, 240, 40, 16, 9, 6};
  return (big ? large : small)[rank];
}

double product(const Dims& list) {
  double size = 1;
  for (const auto value : list) size *= static_cast<double>(value);
  return size;
}

bool no_pads(const PadsList& pads) {
  for (int d = 0; d < pads.size(); ++d)
    if (pads[d] != Pads{}) return false;
  return true;
}

bool all_are(const Dims& list, std::int64_t value) {
  return list == Dims::filled(list.size(), value);
}

Ends ends_of(const PadsList& pads) {
  Ends result;
  for (int d = 0; d < pads.size(); ++d) {
    result.begins.push_back(pads[d].begin);
    result.ends.push_back(pads[d].end);
  }
  return result;
}

namespace {

std::int64_t random_kernel(Random& random, int rank) {
  if (rank > 3) return random.chance(85) ? random.between(1, 2) : 3;
  if (random.chance(75)) return random.between(1, 3);
  return random.chance(70) ? random.between(4, 5) : random.between(6, 9);
}

std::int64_t random_dilation(Random& random, const Rules& rules) {
  if (!rules.dilation || random.chance(50)) return 1;
  if (rules.zero_dilation && random.chance(20)) return 0;
  return random.between(2, 3);
}

std::int64_t random_stride(Random& random, std::int64_t kernel, std::int64_t effective) {
  const auto draw = random.between(0, 99);
  if (draw < 45) return 1;
  if (draw < 70) return random.between(2, 3);
  if (draw < 80) return kernel;
  return draw < 98 ? effective + random.between(1, 3) : std::int64_t{1} << 40;
}

std::int64_t random_pad(Random& random, const Rules& rules, std::int64_t extent, std::int64_t effective) {
  const auto draw = random.between(0, 99);
  if (!rules.pads || draw < 35) return 0;
  if (draw < 80) return random.between(0, std::min<std::int64_t>(effective, 9));
  if (draw < 90 || !rules.negative_pads) return random.between(0, std::min<std::int64_t>(2 * extent + 2, 40));
  return -random.between(1, extent / 2 + 1);
}

struct Axis {
  std::int64_t image, kernel, stride, dilation;
  Pads pads;
};

Axis random_axis(Random& random, int rank, bool last, bool longest, const Rules& rules, const Request& request) {
  Axis axis{};
  const std::int64_t usual = usual_extent(rank, request.big);
  if (request.width != 0)
    axis.image = last ? request.width : random.between(1, rank == 2 ? 70 : usual);
  else if (request.big)
    axis.image = random.between((usual + 1) / 2, usual);
  else if (longest)
    axis.image = random.between(65, 130);
  else
    axis.image = random.between(1, usual);
  if (rules.zero_extents && !request.big && request.width == 0 && random.chance(4)) axis.image = 0;
  axis.kernel = random_kernel(random, rank);
  axis.dilation = random_dilation(random, rules);
  const bool far = rules.dilation && rules.pads && axis.kernel > 1 && random.chance(2);
  if (far) axis.dilation = std::int64_t{1} << 33;
  const std::int64_t effective = (axis.kernel - 1) * axis.dilation + 1;
  axis.stride = far ? random.between(1, 3) : random_stride(random, axis.kernel, effective);
  if (far) {  // at most one tap of a patch lies within the image
    const std::int64_t reach = effective - 1;
    const std::int64_t begin = rules.symmetric_pads ? reach / 2 : axis.dilation * random.between(0, axis.kernel - 1);
    axis.pads = {begin, rules.symmetric_pads ? begin : reach - begin + random.between(0, 2)};
  } else {
    axis.pads.begin = random_pad(random, rules, axis.image, effective);
    axis.pads.end =
        rules.symmetric_pads || random.chance(30) ? axis.pads.begin : random_pad(random, rules, axis.image, effective);
  }
  return axis;
}

/// Returns the pads of the rule same_upper or same_lower.
Pads same_pads(const Axis& axis, const std::string& rule) {
  const std::int64_t positions = axis.image / axis.stride + (axis.image % axis.stride != 0 ? 1 : 0);
  const std::int64_t effective = (axis.kernel - 1) * axis.dilation + 1;
  const std::int64_t total = std::max<std::int64_t>(0, (positions - 1) * axis.stride + effective - axis.image);
  const std::int64_t begin = rule == "same_lower" ? (total + 1) / 2 : total / 2;
  return {begin, total - begin};
}

Geometry draw(Random& random, int rank, const Rules& rules, const Request& request) {
  Geometry g;
  g.rank = rank;
  if (rules.rule_pads) g.rule = random.pick(std::vector<std::string>{"valid", "same_upper", "same_lower"});
  const std::int64_t longest = random.chance(20) ? random.between(0, rank - 1) : -1;
  Axis axis{};
  for (int d = 0; d < rank; ++d) {
    if (d == 0 || !rules.same_everywhere) axis = random_axis(random, rank, d == rank - 1, d == longest, rules, request);
    if (rules.same_everywhere && d > 0) axis.image = random.between(1, usual_extent(rank, request.big));
    if (request.width != 0 && d == rank - 1) axis.image = request.width;
    if (rules.rule_pads) axis.pads = g.rule == "valid" ? Pads{} : same_pads(axis, g.rule);
    const std::int64_t slack = axis.image + axis.pads.begin + axis.pads.end - (axis.kernel - 1) * axis.dilation - 1;
    g.image.push_back(axis.image);
    g.kernel.push_back(axis.kernel);
    g.stride.push_back(axis.stride);
    g.dilation.push_back(axis.dilation);
    g.pads.push_back(axis.pads);
    g.positions.push_back(slack < 0 ? 0 : slack / axis.stride + 1);
  }
  g.channels = rules.zero_channels && random.chance(3) ? 0
               : random.chance(80)                     ? random.between(1, 4)
                                                       : random.between(5, 17);
  if (request.big) g.channels = random.between(1, 4);
  if (request.width != 0) g.channels = wide_channels(random);
  g.batches = random_batches(random, rules.batch_axes, rules.zero_batch && !request.big && request.width == 0);
  return g;
}

bool fits(Random& random, const Geometry& g, const Rules& rules, const Request& request) {
  // If the batch or the channels are empty, the limit applies to the product of the other extents.
  const double others = std::max(1.0, static_cast<double>(g.channels) * product(g.batches));
  const double image = product(g.image) * others;
  const double columns = product(g.positions) * product(g.kernel) * others;
  const auto most = static_cast<double>(most_elements(request));
  if (image > most || columns > most) return false;
  if (request.width != 0) return columns > 0;
  if (request.big) return image + columns > 60000 && columns > 20000;
  const bool empty = std::any_of(g.positions.begin(), g.positions.end(), [](std::int64_t l) { return l == 0; });
  if (empty && (!rules.zero_positions || !random.chance(15))) return false;
  return (image != 0 && g.channels != 0) || random.chance(30);
}

}  // namespace

std::int64_t wide_channels(Random& random) {
  if (random.chance(60)) return random.between(1, 4);
  return random.pick(std::vector<std::int64_t>{5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65});
}

int random_rank(Random& random, const Request& request) {
  return static_cast<int>(random.between(1, request.big || request.width != 0 ? 4 : 6));
}

Dims random_batches(Random& random, int axes, bool zero) {
  Dims batches;
  for (int i = 0; i < axes; ++i) batches.push_back(zero && random.chance(5) ? 0 : random.between(1, 3));
  return batches;
}

Geometry random_geometry(Random& random, int rank, const Rules& rules, const Request& request) {
  while (true) {
    const Geometry geometry = draw(random, rank, rules, request);
    if (fits(random, geometry, rules, request)) return geometry;
  }
}

void note_extents(const Dims& shape, Features& features) {
  for (const auto extent : shape) {
    if (extent == 0) features.insert("zero extent");
    if (extent > 64) features.insert("extent > 64");
  }
}

void describe(const Geometry& g, Features& features) {
  features.insert("rank " + std::to_string(g.rank));
  double most = 1;
  bool any_dilated = false;
  for (int d = 0; d < g.rank; ++d) {
    const std::int64_t effective = (g.kernel[d] - 1) * g.dilation[d] + 1;
    const Pads pads = g.pads[d];
    if (pads.begin != pads.end) features.insert("asymmetric pads");
    if (pads.begin < 0 || pads.end < 0) features.insert("negative pads");
    if (std::max(pads.begin, pads.end) > g.image[d]) features.insert("pads > extent");
    if (g.stride[d] > effective && g.image[d] > 1) features.insert("holes");
    if (g.stride[d] > g.image[d] + pads.begin + pads.end) features.insert("stride > image");
    if (g.dilation[d] == 0 && g.kernel[d] > 1) features.insert("dilation 0");
    if (g.dilation[d] > (1 << 30)) features.insert("far taps");
    if (g.positions[d] == 0) features.insert("no positions");
    any_dilated = any_dilated || (g.dilation[d] > 1 && g.kernel[d] > 1);
    if (!g.rule.empty() && g.rule != "valid" && (pads.begin + pads.end) % 2 != 0) features.insert("odd " + g.rule);
    if (!g.rule.empty() && g.rule != "valid" && g.stride[d] > effective) features.insert("same, stride > kernel");
    double hits = 0;  // the most patches that touch one coordinate of this axis
    for (std::int64_t y = 0; y < g.image[d]; ++y) {
      double here = 0;
      for (std::int64_t q = 0; q < g.kernel[d]; ++q) {
        const std::int64_t offset = y + pads.begin - q * g.dilation[d];
        if (offset >= 0 && offset % g.stride[d] == 0 && offset / g.stride[d] < g.positions[d]) ++here;
      }
      hits = std::max(hits, here);
    }
    most *= hits;
  }
  if (most >= 3) features.insert("cover >= 3");
  if (any_dilated && g.channels > 1) features.insert("C > 1, dilated");
  note_extents(g.image, features);
}

Dims image_shape(const Geometry& g, bool channels_last) {
  Dims shape = g.batches;
  if (!channels_last) shape.push_back(g.channels);
  shape.append(g.image);
  if (channels_last) shape.push_back(g.channels);
  return shape;
}

void add(Problem& problem, std::string name, ArgumentValue value) {
  problem.text.arguments.push_back({std::move(name), std::move(value)});
}

void add(Random& random, Problem& problem, std::string name, ArgumentValue value, bool is_default) {
  if (!is_default || random.chance(50)) add(problem, std::move(name), std::move(value));
}

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

/// Appends the image, block, number of blocks and pads of one axis to g; a padding rule replaces the given pads. Returns
/// false if the image would have a negative extent.
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
