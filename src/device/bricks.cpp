// SPDX-License-Identifier: Apache-2.0
// A brick holds runs of both sides: it is long along the dims with the smallest strides of the source, and along those of
// the destination. In shared memory a brick has the order of the source.
#include "device/bricks.hpp"

#include <algorithm>
#include <cstdlib>

#include "device/parameters.hpp"

namespace patchfold::device {
namespace {

using engine::Dim;
using Dims = FixedList<Dim, 2 * max_rank>;
using Order = FixedList<int, 2 * max_rank>;

std::int64_t src_of(const Dim& dim) {
  return dim.src_stride;
}
std::int64_t dst_of(const Dim& dim) {
  return dim.dst_stride;
}
using StrideOf = std::int64_t (*)(const Dim&);

/// Returns the numbers of the dims in the order of their strides, smallest first; dims that repeat elements come last.
Order order_of(const Dims& dims, StrideOf stride) {
  Order order;
  for (int i = 0; i < dims.size(); ++i) order.push_back(i);
  std::ranges::stable_sort(order, [&](int a, int b) {
    const std::int64_t x = std::abs(stride(dims[a])), y = std::abs(stride(dims[b]));
    return std::pair(x == 0, x) < std::pair(y == 0, y);
  });
  return order;
}

/// The extents of a brick.
class Tile {
 public:
  Tile(const Dims& dims, std::int64_t unit) : dims_(dims), unit_(unit), extents_(FixedList<std::int64_t, 2 * max_rank>{}) {
    for (int i = 0; i < dims.size(); ++i) extents_.push_back(1);
  }

  std::int64_t operator[](int dim) const { return extents_[dim]; }
  std::int64_t bytes() const {
    std::int64_t bytes = unit_;
    for (const std::int64_t extent : extents_) bytes *= extent;
    return bytes;
  }
  int axes() const {
    return static_cast<int>(std::ranges::count_if(extents_, [](std::int64_t extent) { return extent > 1; }));
  }

  /// Lengthens the brick along one side until it has runs of `bytes` there, as far as shared memory and the number of axes
  /// allow.
  void grow(const Order& order, std::int64_t bytes) {
    constexpr std::int64_t most = PF_BRICK_BYTES / 2;  // rows in shared memory may need gaps
    std::int64_t run = unit_;
    for (const int i : order) {
      if (run >= bytes) return;
      const std::int64_t extent = dims_[i].extent, now = extents_[i];
      std::int64_t wanted = std::clamp(ceil_div(bytes, run), now, extent);
      if (wanted < extent) wanted = std::min(extent, ceil_div(wanted, 16 / unit_) * (16 / unit_));
      if (2 * wanted > extent) wanted = extent;  // a second brick along the dim would be short
      while (wanted > now && this->bytes() / now * wanted > most) wanted = std::max(now, wanted / 2);
      if (wanted > 1 && now == 1 && axes() == PF_BRICK_AXES) return;
      extents_[i] = wanted;
      run *= wanted;
      if (wanted < extent) return;
    }
  }

 private:
  const Dims& dims_;
  std::int64_t unit_;
  FixedList<std::int64_t, 2 * max_rank> extents_;
};

/// Returns the units of a chunk along the first dim of a side: a power of two, such that every chunk is contiguous, whole
/// and aligned.
std::int64_t chunk_of(const Dims& dims, const Tile& tile, int first, StrideOf stride, std::int64_t unit, std::int64_t most,
                      std::uint64_t address) {
  if (stride(dims[first]) != unit) return 1;
  std::uint64_t all = static_cast<std::uint64_t>(most) | address | static_cast<std::uint64_t>(dims[first].extent * unit) |
                      static_cast<std::uint64_t>(tile[first] * unit);
  for (int i = 0; i < dims.size(); ++i)
    if (i != first) all |= static_cast<std::uint64_t>(stride(dims[i]));
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(all & (~all + 1)) / unit);
}

}  // namespace

template <class N>
std::optional<Launch> launch_brick(const engine::Problem& problem, std::int64_t unit, std::uint64_t src, std::uint64_t dst) {
  const Dims& dims = problem.dims;
  const Order by_src = order_of(dims, src_of), by_dst = order_of(dims, dst_of);
  if (dims.size() < 2 || by_src[0] == by_dst[0] || dims[by_src[0]].src_stride == 0) return std::nullopt;
  Tile tile(dims, unit);
  for (std::int64_t side = tuning.side_bytes; side <= 16 * tuning.side_bytes; side *= 2) {
    tile.grow(by_src, side);
    tile.grow(by_dst, side);
    if (tile.bytes() >= tuning.brick_bytes) break;
  }

  typename N::Brick p{};
  p.threads = tuning.threads_of_copies;
  FixedList<int, 2 * max_rank> place;  // of each dim among the axes of the brick
  std::int64_t bricks = 1;
  for (int i = 0; i < dims.size(); ++i) place.push_back(-1);
  for (const bool is_long : {true, false})
    for (const int i : by_src) {
      if ((tile[i] > 1) != is_long) continue;
      auto& axis = p.dim[p.dims];
      place[i] = p.dims++;
      p.axes += is_long;
      const std::int64_t count = ceil_div(dims[i].extent, tile[i]);
      set(axis.bricks, count);
      axis.extent = narrowed_to<typename N::Index>(dims[i].extent);
      axis.tile = static_cast<int>(tile[i]);
      axis.src = narrowed_to<typename N::Stride>(dims[i].src_stride);
      axis.dst = narrowed_to<typename N::Stride>(dims[i].dst_stride);
      bricks *= count;
    }

  // The units of the destination's first dim lie an odd number of units apart, so threads that read them side by side use
  // different banks of shared memory.
  FixedList<std::int64_t, 2 * max_rank> pitch;
  for (int i = 0; i < dims.size(); ++i) pitch.push_back(0);
  std::int64_t next = 1;
  for (const int i : by_src) {
    if (tile[i] == 1) continue;
    if (i == by_dst[0] && next % 2 == 0) ++next;
    pitch[i] = next;
    next *= tile[i];
  }
  if (next * unit > PF_BRICK_BYTES) return std::nullopt;

  const auto fill_side = [&](typename N::Side& side, const Order& order, StrideOf stride, std::int64_t most,
                             std::uint64_t address) {
    const std::int64_t chunk = chunk_of(dims, tile, order[0], stride, unit, most, address);
    side.chunk = static_cast<int>(chunk);
    side.chunks = 1;
    side.unit_pitch = static_cast<int>(pitch[order[0]]);
    int axes = 0;
    for (const int i : order) {
      if (tile[i] == 1) continue;
      const std::int64_t step = i == order[0] ? chunk : 1;
      auto& axis = side.axis[axes++];
      set(axis.chunks, tile[i] / step);
      axis.axis = place[i];
      axis.units = static_cast<int>(step);
      axis.pitch = static_cast<int>(step * pitch[i]);
      axis.stride = narrowed_to<typename N::Stride>(step * stride(dims[i]));
      side.chunks *= static_cast<int>(tile[i] / step);
    }
  };
  const int size = std::countr_zero(static_cast<unsigned>(unit));
  fill_side(p.from, by_src, src_of, tuning.read_bytes, src + static_cast<std::uint64_t>(problem.src_offset));
  fill_side(p.to, by_dst, dst_of, tuning.write_bytes[size], dst + static_cast<std::uint64_t>(problem.dst_offset));
  Launch launch = finish<N>({.kernel = Kernel::brick, .unit = static_cast<int>(unit)}, p, 1, problem);
  launch.groups = bricks;
  return launch;
}

template std::optional<Launch> launch_brick<Narrow>(const engine::Problem&, std::int64_t, std::uint64_t, std::uint64_t);
template std::optional<Launch> launch_brick<Wide>(const engine::Problem&, std::int64_t, std::uint64_t, std::uint64_t);

}  // namespace patchfold::device
