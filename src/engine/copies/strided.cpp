// SPDX-License-Identifier: Apache-2.0
// The strategy "strided": any copy without windows, with any strides on both sides.
//
// The index space is cut into bricks. A brick is long along the axes with the smallest strides in the destination and in the
// source, so it covers whole lines of both sides. A brick fits into the cache, and is copied as planes of two axes
// (engine/copies/planes.hpp). If the destination exceeds the cache, or if elements are sums of one term, a brick is put together in
// scratch memory in the order of the destination. It is then written in long runs. Other bricks pass through scratch memory too if
// two easy copies are cheaper than one hard copy. Long units need no planes: they are copied directly.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <initializer_list>
#include <ostream>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "engine/copies/copies.hpp"
#include "engine/copies/planes.hpp"
#include "engine/machine.hpp"
#include "engine/normalise.hpp"
#include "engine/walk.hpp"
#include "kernels/blocks.hpp"
#include "kernels/move.hpp"

namespace patchfold::engine {
namespace {

using kernels::line_bytes;
using kernels::Store;

/// Returns the copy with some dims reversed, so that no destination stride is negative; source strides may become negative.
Problem turned(Problem problem) {
  for (Dim& dim : problem.dims) {
    if (dim.dst_stride >= 0) continue;
    problem.src_offset += (dim.extent - 1) * dim.src_stride;
    problem.dst_offset += (dim.extent - 1) * dim.dst_stride;
    dim.src_stride = -dim.src_stride;
    dim.dst_stride = -dim.dst_stride;
  }
  return merge_dims(drop_single(std::move(problem)));
}

/// The layout of a brick's units in scratch memory.
struct Place {
  Extents strides{};  ///< bytes, along each dim
  std::int64_t bytes = 0;
};

/// A plan of the strategy. A row of work is one brick, which writes destination elements of its own. plan_route() chooses by price,
/// once, whether bricks pass through scratch memory. Other sizes of the buffer for gathered lines (kernels/stream.cpp) were
/// rejected. With 256 bytes the calls take more time than overlapping saves; with more than 4 KB writing and gathering do
/// not overlap.
class Strided final : public Compiled {
 public:
  explicit Strided(const Problem& given) : Compiled(turned(given)), store_(store_of(given)) {
    if (problem_.verb == Verb::combine_sum) finish_ = kernels::finish_of(problem_.dtype);
    Problem rest = problem_;
    unit_ = take_unit(rest);
    dims_ = rest.dims;  // as merge_dims() orders them: the last dim has the smallest stride in the destination
    bytes_ = 2.0 * static_cast<double>(unit_) * static_cast<double>(count_tuples(dims_));
    if (dims_.empty()) dims_.push_back({1, unit_, unit_});
    is_direct_ = is_direct();
    // Small sources, such as the stages of the strategy "bands", are in the cache already.
    fetches_ = store_ == Store::past_cache && problem_.src_range.end - problem_.src_range.begin > caches().l2;
    plan_bricks();
    plan_store();
    plan_route();
  }

  void describe_choices(std::ostream& out) const override {
    out << "brick    ";
    for (int i = 0; i < dims_.size(); ++i) out << (i == 0 ? " " : "x") << brick_[i];
    out << " units of " << unit_ << " bytes\n";
    for (int i = 0; i < hops_.size(); ++i)
      out << "plane     " << hops_[i].rows() << "x" << hops_[i].columns() << (i == 0 ? "" : ", from scratch memory") << '\n';
    out << "store     " << (is_direct_ ? "from the source, " : writes_runs_ ? "in runs, " : "") << name_of(store_) << '\n';
  }

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte* scratch) const noexcept override {
    kernels::Ahead nothing;
    run_rows(src, dst, first, last, scratch, nothing);
  }

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last, std::byte* scratch,
                kernels::Ahead& ahead) const noexcept override {
    const std::byte* src_end = src + problem_.src_range.end;
    src += problem_.src_offset;
    dst += problem_.dst_offset;
    std::byte* const last_place = scratch + last_place_;
    Brick brick = place(first);
    for (std::int64_t row = first; row < last; ++row) {
      const Brick next = place(row + 1 < last ? row + 1 : row);
      const std::byte* from = src + brick.src;
      const std::byte* from_end = src_end;
      kernels::Ahead nothing;
      if (fetches_) ahead = row + 1 < last ? lines_of(src + next.src, next.extents) : nothing;
      for (int i = 0; i < hops_.size(); ++i) {
        const bool is_last = i + 1 == hops_.size();
        std::byte* to = !is_last ? scratch : writes_runs_ ? last_place : dst + brick.dst;
        if (is_last && i > 0 && !writes_runs_) finish(last_place);
        hops_[i].move(to, from, brick.extents, from_end, i == 0 ? ahead : nothing);
        from = to;
        from_end = scratch + scratch_per_piece_;
      }
      if (is_direct_) {
        write(dst + brick.dst, from, brick.extents, from_end, ahead);
      } else if (writes_runs_) {
        finish(last_place);
        write(dst + brick.dst, last_place, brick.extents, from_end, nothing);
      }
      brick = next;
    }
    if ((is_direct_ || writes_runs_) && store_ == Store::past_cache) kernels::finish_stores();
  }

 private:
  /// A brick: the offset of its first unit on both sides, and its units along each dim, which are fewer at the end of a dim.
  struct Brick {
    std::int64_t src = 0;
    std::int64_t dst = 0;
    Extents extents;
  };
  Brick place(std::int64_t index) const noexcept {
    Brick brick;
    for (int i = dims_.size() - 1; i >= 0; --i) {
      const Dim& dim = dims_[i];
      const std::int64_t begin = index % bricks_[i] * brick_[i];
      index /= bricks_[i];
      brick.extents[static_cast<std::size_t>(i)] = std::min(brick_[i], dim.extent - begin);
      brick.src += begin * dim.src_stride;
      brick.dst += begin * dim.dst_stride;
    }
    return brick;
  }

  /// Returns whether units are copied directly from the source to the destination. Long units are. Past the cache, units that fill
  /// lines of the destination in order, and make up most of their source lines, are copied directly too. Within the cache planes
  /// are as fast for units of up to two lines, and for units that memcpy copies well.
  bool is_direct() const noexcept {
    constexpr std::int64_t least_unit = 12, least = 8 << 10;
    if (finish_ != kernels::Finish::none) return false;
    if (unit_ > longest_plane_unit) return true;
    if (store_ == Store::plain) return unit_ > 2 * line_bytes && unit_ <= 4 * line_bytes;
    if (unit_ >= 2 * line_bytes || unit_ < least_unit) return unit_ >= least_unit;
    std::int64_t run = unit_;
    bool is_dense = unit_ >= line_bytes;
    for (int i = dims_.size() - 1; i >= std::max(0, dims_.size() - 2) && dims_[i].dst_stride == run; --i) {
      run *= dims_[i].extent;
      is_dense |= std::abs(dims_[i].src_stride) <= 2 * unit_;
    }
    return is_dense && run >= least;
  }

  static constexpr std::int64_t least_brick = 32 << 10;  ///< bytes: a smaller brick does not pay for its overhead
  static constexpr std::int64_t direct_run = 64 << 10;   ///< bytes: short enough that threads can share long runs
  static constexpr std::int64_t least_run = 512;         ///< bytes of a run from which on stores past the cache pay

  std::int64_t volume() const noexcept {
    std::int64_t bytes = unit_;
    for (const std::int64_t extent : brick_) bytes *= extent;
    return bytes;
  }

  /// Decides the length of a brick along each dim.
  void plan_bricks() {
    const int count = dims_.size();
    for (int i = 0; i < count; ++i) brick_.push_back(1);
    for (int i = 0; i < count; ++i) by_src_.push_back(i);
    std::ranges::stable_sort(by_src_, [&](int a, int b) {
      return std::abs(dims_[a].src_stride) < std::abs(dims_[b].src_stride) ||
             (dims_[a].src_stride == dims_[b].src_stride && a == count - 1);
    });
    // Lengthens the brick until its run on one side has `wanted` bytes, along the dims that continue the run.
    const auto lengthen = [&](bool on_dst, std::int64_t wanted) {
      std::int64_t run = unit_, reach = 0;
      for (int k = 0; k < count && run < wanted; ++k) {
        const int i = on_dst ? count - 1 - k : by_src_[k];
        const Dim& dim = dims_[i];
        const std::int64_t stride = std::abs(on_dst ? dim.dst_stride : dim.src_stride);
        if (k > 0 && stride != reach) return;
        const std::int64_t length = std::min(dim.extent, ceil_div(wanted, run));
        if (length > brick_[i] && volume() / brick_[i] * length <= stage_bytes() / 2) brick_[i] = length;
        if (brick_[i] < dim.extent) return;
        run *= dim.extent;
        reach = stride * dim.extent;
      }
    };
    const bool streams = store_ == Store::past_cache && dims_[count - 1].dst_stride == unit_;
    if (is_direct_) lengthen(true, direct_run);
    for (std::int64_t wanted = line_bytes; wanted <= 512; wanted *= 2) {
      lengthen(true, wanted);
      lengthen(false, wanted);
    }
    for (std::int64_t wanted = 1024; wanted <= 4096; wanted *= 2) lengthen(true, wanted);
    for (std::int64_t wanted = 1024; wanted <= 4096; wanted *= 2) lengthen(false, wanted);
    lengthen(true, streams ? 16384 : 8192);
    for (int i = count - 1; i >= 0 && volume() < least_brick; --i)
      brick_[i] = std::min(dims_[i].extent, std::max(brick_[i], ceil_div(least_brick, volume() / brick_[i])));
    rows_ = 1;
    for (int i = 0; i < count; ++i) {
      // Bricks have equal lengths, rounded up to whole lines.
      const std::int64_t even = ceil_div(dims_[i].extent, ceil_div(dims_[i].extent, brick_[i]));
      const std::int64_t line = i == count - 1 && unit_ < line_bytes ? line_bytes / unit_ : 1;
      if (brick_[i] < dims_[i].extent) brick_[i] = std::min(brick_[i], ceil_div(even, line) * line);
      bricks_.push_back(ceil_div(dims_[i].extent, brick_[i]));
      rows_ *= bricks_[i];
    }
  }

  /// Decides the length of a brick's runs in the destination.
  void plan_store() {
    const int count = dims_.size();
    run_bytes_ = unit_;
    for (int i = count - 1; i >= 0 && dims_[i].dst_stride == run_bytes_; --i) {
      run_bytes_ *= brick_[i];
      ++run_dims_;
      if (brick_[i] < dims_[i].extent) break;
    }
    if (run_bytes_ < least_run) store_ = Store::plain;
  }

  /// Chooses the cheapest way: directly, or through scratch memory. In scratch memory, dims have the order of the destination, or
  /// the dims with the smallest strides of one side come first and those of the other side next.
  void plan_route() {
    if (is_direct_) {
      run_dims_ = 0;
      for (int i = 0; i < dims_.size(); ++i) last_stride_[static_cast<std::size_t>(i)] = dims_[i].src_stride;
      return;
    }
    const bool is_staged = store_ == Store::past_cache || finish_ != kernels::Finish::none;
    double least = -1;
    const auto consider = [&](std::initializer_list<Place> places, bool runs) {
      FixedList<Planes, 3> hops;
      double cycles = 0;
      Extents from{}, to{};
      for (int i = 0; i < dims_.size(); ++i) from[static_cast<std::size_t>(i)] = dims_[i].src_stride;
      for (const Place& place : places) {
        hops.push_back(Planes(unit_, axes(from, place.strides)));
        from = place.strides;
      }
      for (int i = 0; i < dims_.size(); ++i) to[static_cast<std::size_t>(i)] = dims_[i].dst_stride;
      if (runs)
        cycles += static_cast<double>(volume()) * (1.0 / 32 + 10.0 / static_cast<double>(run_bytes_));
      else
        hops.push_back(Planes(unit_, axes(from, to)));
      for (const Planes& hop : hops) cycles += hop.cycles();
      if (least >= 0 && cycles * 1.1 >= least) return;
      least = cycles;
      hops_ = hops;
      writes_runs_ = runs;
      scratch_per_piece_ = 0;
      for (const Place& place : places) {
        last_place_ = scratch_per_piece_;
        scratch_per_piece_ += ceil_div(place.bytes, line_bytes) * line_bytes;
      }
      last_stride_ = from;
    };
    AxisOrder in_dst;
    for (int i = dims_.size() - 1; i >= 0; --i) in_dst.push_back(i);
    const Place ordered = place_of(in_dst, run_dims_);
    const bool runs = run_bytes_ >= least_run || (is_staged && run_dims_ > 0 && store_ == Store::past_cache);
    if (!is_staged) consider({}, false);
    constexpr double little = 32 << 10;  // bytes: choosing takes longer than it saves
    if (!is_staged && bytes_ < little) {
      hops_[0].prepare();
      return;
    }
    consider({ordered}, runs);
    const AxisOrder near_dst = nearest(in_dst), near_src = nearest(by_src_);
    for (const bool dst_first : {true, false}) {
      const AxisOrder &first = dst_first ? near_dst : near_src, &second = dst_first ? near_src : near_dst;
      AxisOrder order;
      for (const int i : first)
        if (!has(second, i)) order.push_back(i);
      const int front = order.size();
      if (front == 0) continue;
      for (const AxisOrder* list : {&second, static_cast<const AxisOrder*>(&in_dst)})
        for (const int i : *list)
          if (!has(order, i)) order.push_back(i);
      const Place between = place_of(order, front);
      if (store_ != Store::past_cache) consider({between}, false);
      if (runs) consider({between, ordered}, true);
    }
    for (Planes& hop : hops_) hop.prepare();
  }

  /// Returns the first dims of `order` that together fill a line. `order` lists the dims of one side, the smallest stride
  /// first.
  AxisOrder nearest(const AxisOrder& order) const {
    AxisOrder near;
    std::int64_t bytes = unit_;
    for (int k = 0; k < order.size() && bytes < line_bytes; ++k) {
      near.push_back(order[k]);
      bytes *= brick_[order[k]];
    }
    return near;
  }

  /// Returns the layout of a brick's units with the dims in this order; the first `front` dims have no gaps.
  Place place_of(const AxisOrder& order, int front) const {
    Place place;
    std::int64_t pitch = unit_;
    for (int k = 0; k < order.size(); ++k) {
      if (k == front) pitch = pitch_of(pitch);
      place.strides[static_cast<std::size_t>(order[k])] = pitch;
      pitch *= brick_[order[k]];
    }
    place.bytes = pitch;
    return place;
  }

  /// Returns the bytes from run to run in scratch memory: an odd number of lines, so that runs do not fall into the same
  /// sets of a cache.
  static std::int64_t pitch_of(std::int64_t run) noexcept {
    return run < 2 * line_bytes ? run : (ceil_div(run, line_bytes) | 1) * line_bytes;
  }

  BrickAxes axes(const Extents& from, const Extents& to) const {
    BrickAxes list;
    for (int i = 0; i < dims_.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      list.push_back({brick_[i], dims_[i].extent % brick_[i] == 0, from[at], to[at]});
    }
    return list;
  }

  void finish(std::byte* at) const noexcept {
    if (finish_ != kernels::Finish::none) kernels::finish_elements(at, scratch_per_piece_ - last_place_, finish_);
  }

  /// Returns the lines of the source that a brick reads, as runs along at most two axes. These lines are prefetched while the
  /// previous brick is written.
  kernels::Ahead lines_of(const std::byte* src, const Extents& extents) const noexcept {
    kernels::Ahead ahead;
    std::int64_t run = unit_, volume = unit_, at = 0, count = dims_.size();
    const auto extent = [&](std::int64_t k) { return extents[static_cast<std::size_t>(by_src_[static_cast<int>(k)])]; };
    const auto stride = [&](std::int64_t k) { return dims_[by_src_[static_cast<int>(k)]].src_stride; };
    for (std::int64_t k = 0; k < count; ++k) volume *= extent(k);
    // Skips dims whose steps are shorter than a line, or continue the run.
    for (; at < count && std::abs(stride(at)) <= std::max(run, line_bytes); ++at) {
      if (stride(at) < 0) src += (extent(at) - 1) * stride(at);
      run = std::max(run, (extent(at) - 1) * std::abs(stride(at)) + run);
    }
    ahead.group = src;
    ahead.row_lines = ceil_div(run, line_bytes) + 1;
    ahead.rows = 1;
    for (; at < count && extent(at) == 1;) ++at;
    if (at < count) {
      ahead.rows = extent(at);
      ahead.pitch = stride(at++);
    }
    for (; at < count && extent(at) == 1;) ++at;
    if (at < count) {
      ahead.groups = extent(at);
      ahead.group_pitch = stride(at);
    }
    ahead.spread_over(volume / line_bytes);
    return ahead;
  }

  /// Writes the runs of a brick from scratch memory, or its units directly from the source.
  void write(std::byte* dst, const std::byte* from, const Extents& extents, const std::byte* from_end,
             kernels::Ahead& ahead) const noexcept {
    constexpr std::int64_t most_ways = 32;
    const int runs = dims_.size() - run_dims_;
    std::int64_t run = unit_;
    for (int i = runs; i < dims_.size(); ++i) run *= extents[static_cast<std::size_t>(i)];
    DimList others;
    for (int i = 0; i < runs; ++i)
      others.push_back(
          {extents[static_cast<std::size_t>(i)], last_stride_[static_cast<std::size_t>(i)], dims_[i].dst_stride});
    Dim inner = take(others, others.size() - 1), ways{};
    const int next = others.size() - 1;
    const bool may_gather = is_direct_ && store_ == Store::past_cache;
    if (may_gather && inner.extent <= most_ways && next >= 0 && inner.dst_stride == run &&
        others[next].dst_stride == inner.extent * run)
      ways = std::exchange(inner, take(others, next));
    const bool gathers = may_gather && (ways.extent > 1 || (run < 2 * line_bytes && inner.dst_stride == run));
    const std::int64_t groups = count_tuples(others);
    Counter counter(others, 0);
    for (std::int64_t k = 0; k < groups; ++k, counter.next()) {
      if (!gathers) {
        kernels::copy_rows(dst + counter.dst, inner.dst_stride, from + counter.src, inner.src_stride, run, inner.extent,
                           store_, ahead);
        continue;
      }
      std::array<const std::byte*, most_ways> rows;
      for (std::int64_t way = 0; way < ways.extent; ++way)
        rows[static_cast<std::size_t>(way)] = from + counter.src + way * ways.src_stride;
      kernels::gather(dst + counter.dst, {rows.data(), ways.extent, inner.src_stride, run, from_end}, inner.extent, store_,
                      ahead);
    }
  }

  std::int64_t unit_ = 1;
  DimList dims_{};
  AxisOrder by_src_{};
  kernels::Finish finish_ = kernels::Finish::none;
  Store store_;
  bool is_direct_ = false;
  bool fetches_ = false;                            // the lines of the next brick are prefetched
  FixedList<std::int64_t, 2 * max_rank> brick_{};   // units along each dim
  FixedList<std::int64_t, 2 * max_rank> bricks_{};  // number of bricks along each dim
  int run_dims_ = 0;                                // number of dims that a run of the destination consists of
  std::int64_t run_bytes_ = 0;
  FixedList<Planes, 3> hops_{};
  bool writes_runs_ = false;     // runs are written from scratch memory
  std::int64_t last_place_ = 0;  // offset in scratch memory of the units that the last move reads
  Extents last_stride_{};        // the strides of these units
};

}  // namespace

std::unique_ptr<Compiled> make_strided(const Problem& problem) {
  if (problem.accumulate) return nullptr;
  const Problem opened = problem.windows.empty() ? problem : merge_dims(drop_single(open_windows(problem, Opened::all)));
  if (!opened.windows.empty() || opened.dims.size() > max_axes) return nullptr;
  Problem rest = opened;
  if (opened.verb == Verb::combine_sum && take_unit(rest) > longest_plane_unit) return nullptr;
  return std::make_unique<Strided>(opened);
}

}  // namespace patchfold::engine
