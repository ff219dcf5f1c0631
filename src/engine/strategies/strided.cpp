// SPDX-License-Identifier: Apache-2.0
// Any copy without windows, whatever the strides on both sides.
//
// The index space is cut into bricks. A brick is as long along the axes that are nearest in the destination, and along those
// that are nearest in the source, that it takes whole lines of both sides; and it is so small that it stays in the cache. In
// it planes of two axes are moved, the nearest one of either side, by kernels/plane.hpp. Where the destination is larger
// than the cache, or elements change on their way, a brick is put together in scratch memory, in the order of the
// destination, and leaves in long runs.
#include <algorithm>
#include <array>
#include <ostream>
#include <vector>

#include "engine/strategy.hpp"
#include "engine/windowless.hpp"
#include "kernels/blocks.hpp"
#include "kernels/move.hpp"
#include "kernels/plane.hpp"
#include "tensor/checked.hpp"

namespace patchfold::engine {
namespace {

using kernels::line_bytes;
using kernels::Store;

/// A copy turned so that every dim goes forward in the destination: what lies backwards does so in the source.
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

using AxesOfPlane = FixedList<int, 2 * max_rank>;  // dims, the nearest first

class Strided final : public Compiled {
 public:
  explicit Strided(const Problem& given) : Compiled(turned(given)), store_(store_of(given)) {
    if (problem_.verb == Verb::combine_sum) finish_ = kernels::finish_of(problem_.dtype);
    Problem rest = problem_;
    unit_ = take_unit(rest);
    dims_ = rest.dims;  // merge_dims has ordered them: the last is the nearest in the destination
    bytes_ = 2.0 * static_cast<double>(unit_) * static_cast<double>(count_tuples(dims_));
    if (dims_.empty()) dims_.push_back({1, unit_, unit_});
    if (!fits()) return;
    move_ = kernels::plane_kernel(unit_);
    plan_bricks();
    plan_store();
    plan_planes();
  }

  bool fits() const noexcept { return unit_ <= longest_plane_unit && dims_.size() <= max_axes; }

  void describe_choices(std::ostream& out) const override {
    out << "brick    ";
    for (int i = 0; i < dims_.size(); ++i) out << (i == 0 ? " " : "x") << brick_[i];
    out << " units of " << unit_ << " bytes\nplane     " << offsets_[0].size() << "x" << offsets_[1].size() << "\nstore     "
        << (staged_ ? "by way of scratch memory, " : "") << name_of(store_) << '\n';
  }

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte* scratch) const noexcept override {
    const std::byte* src_end = src + problem_.src_range.end;
    src += problem_.src_offset;
    dst += problem_.dst_offset;
    Brick brick = place(first);
    for (std::int64_t row = first; row < last; ++row) {
      const Brick next = place(row + 1 < last ? row + 1 : row);
      const Ahead ahead{fetches_ ? next.src - brick.src : 0, fetches_ ? next.dst - brick.dst : 0};
      if (!staged_) {
        move_planes(src + brick.src, dst + brick.dst, brick.extents, src_end, ahead);
      } else {
        move_planes(src + brick.src, scratch, brick.extents, src_end, {});
        if (finish_ != kernels::Finish::none) kernels::finish_elements(scratch, scratch_per_piece_, finish_);
        kernels::Ahead lines;
        if (ahead.src != 0) lines = lines_of(src + next.src, next.extents);
        write(dst + brick.dst, scratch, brick.extents, lines);
      }
      brick = next;
    }
    if (staged_ && store_ == Store::past_cache) kernels::finish_stores();
  }

 private:
  using Extents = std::array<std::int64_t, max_axes>;
  struct Brick {
    std::int64_t src = 0;
    std::int64_t dst = 0;
    Extents extents;
  };
  /// Bytes from a brick to the next.
  struct Ahead {
    std::int64_t src = 0;
    std::int64_t dst = 0;
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

  static constexpr std::int64_t least_brick = 32 << 10;  ///< bytes: less does not pay for what is computed for each
  static constexpr std::int64_t least_run = 512;         ///< bytes of a run that pays for stores past the cache

  std::int64_t volume() const noexcept {
    std::int64_t bytes = unit_;
    for (const std::int64_t extent : brick_) bytes *= extent;
    return bytes;
  }

  /// How long a brick is along each dim.
  void plan_bricks() {
    const int count = dims_.size();
    for (int i = 0; i < count; ++i) brick_.push_back(1);
    for (int i = 0; i < count; ++i) by_src_.push_back(i);
    std::ranges::stable_sort(by_src_, [&](int a, int b) {
      return std::abs(dims_[a].src_stride) < std::abs(dims_[b].src_stride) ||
             (dims_[a].src_stride == dims_[b].src_stride && a == count - 1);
    });
    // Lengthens the brick along one side until its run there has so many bytes; follows dims while they continue the run.
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
    for (std::int64_t wanted = line_bytes; wanted <= 256; wanted *= 2) {
      lengthen(true, wanted);
      lengthen(false, wanted);
    }
    for (std::int64_t wanted = 512; wanted <= 4096; wanted *= 2) lengthen(true, wanted);
    for (std::int64_t wanted = 512; wanted <= 4096; wanted *= 2) lengthen(false, wanted);
    lengthen(true, streams ? 16384 : 8192);
    for (int i = count - 1; i >= 0 && volume() < least_brick; --i)
      brick_[i] = std::min(dims_[i].extent, std::max(brick_[i], ceil_div(least_brick, volume() / brick_[i])));
    rows_ = 1;
    for (int i = 0; i < count; ++i) {
      // Bricks of equal length, but of whole lines.
      const std::int64_t even = ceil_div(dims_[i].extent, ceil_div(dims_[i].extent, brick_[i]));
      const std::int64_t line = i == count - 1 && unit_ < line_bytes ? line_bytes / unit_ : 1;
      if (brick_[i] < dims_[i].extent) brick_[i] = std::min(brick_[i], ceil_div(even, line) * line);
      bricks_.push_back(ceil_div(dims_[i].extent, brick_[i]));
      rows_ *= bricks_[i];
    }
  }

  /// How bricks get into the destination: at once, or by way of scratch memory in runs.
  void plan_store() {
    const int count = dims_.size();
    run_bytes_ = unit_;
    const bool contiguous = dims_[count - 1].dst_stride == unit_;
    if (!contiguous) {
      run_dims_ = 1;
      run_bytes_ *= brick_[count - 1];
      store_ = Store::plain;
    }
    for (int i = count - 1; contiguous && i >= 0 && dims_[i].dst_stride == run_bytes_; --i) {
      run_bytes_ *= brick_[i];
      ++run_dims_;
      if (brick_[i] < dims_[i].extent) break;
    }
    if (run_bytes_ < least_run) store_ = Store::plain;
    fetches_ = bytes_ > static_cast<double>(caches().l2);
    staged_ = store_ == Store::past_cache || finish_ != kernels::Finish::none;
    std::int64_t pitch = unit_;
    for (int i = count - 1; i >= 0; --i) {
      if (i == count - 1 - run_dims_) pitch = pitch_of(pitch);
      to_strides_[static_cast<std::size_t>(i)] = staged_ ? pitch : dims_[i].dst_stride;
      pitch *= brick_[i];
    }
    if (staged_) scratch_per_piece_ = ceil_div(pitch, line_bytes) * line_bytes;
  }

  /// Bytes from run to run in scratch memory: an odd number of lines, so that runs do not meet in the same sets of a cache.
  static std::int64_t pitch_of(std::int64_t run) noexcept {
    return run < 2 * line_bytes ? run : (ceil_div(run, line_bytes) | 1) * line_bytes;
  }

  /// The axes of planes: the nearest dims of either side where the kernel has vectors for them, otherwise two long ones.
  void plan_planes() {
    const int last = dims_.size() - 1, first_by_src = by_src_[0];
    AxesOfPlane rows, columns;
    const auto longest = [&] {
      int found = -1;
      for (int i = last; i >= 0; --i)
        if (!has(columns, i) && brick_[i] > 1 && (found < 0 || brick_[i] > brick_[found])) found = i;
      return found;
    };
    if (kernels::plane_has_vectors(unit_, dims_[first_by_src].src_stride) && dims_[last].dst_stride == unit_) {
      columns.push_back(last);
      if (first_by_src != last) {
        rows.push_back(first_by_src);
        extend(rows, columns, [](const Dim& dim) { return dim.src_stride; });
        // Few rows are split faster than they are transposed, if there are columns enough that lie in equal steps.
        const bool splits = rows.size() == 1 && brick_[first_by_src] <= 8 && brick_[last] >= 16 &&
                            std::abs(dims_[last].src_stride) == brick_[first_by_src] * unit_;
        if (!splits) extend(columns, rows, [](const Dim& dim) { return dim.dst_stride; });
      }
    } else {
      const int found = longest();
      columns.push_back(brick_[last] >= 8 || found < 0 ? last : found);
    }
    if (rows.empty()) {
      const int found = longest();
      if (found >= 0) rows.push_back(found);
    }
    list_offsets(rows, 0);
    list_offsets(columns, 2);
    for (int i = 0; i <= last; ++i)
      if (!has(rows, i) && !has(columns, i)) others_.push_back(i);
    rows_of_plane_ = rows;
    columns_of_plane_ = columns;
  }

  static bool has(const AxesOfPlane& axes, int dim) { return std::ranges::find(axes, dim) != axes.end(); }

  /// Adds dims that continue a short axis on its side.
  void extend(AxesOfPlane& axes, const AxesOfPlane& others, auto&& stride) const {
    constexpr std::int64_t enough = 16, most = 1024;
    std::int64_t length = brick_[axes[0]];
    for (int i = dims_.size() - 1; i >= 0 && length < enough; --i) {
      const int dim_before = axes[axes.size() - 1];
      const Dim& before = dims_[dim_before];
      if (brick_[dim_before] < before.extent) return;
      for (int k = 0; k < dims_.size(); ++k) {
        if (has(axes, k) || has(others, k) || stride(dims_[k]) != before.extent * stride(before)) continue;
        if (length * brick_[k] > most) return;
        axes.push_back(k);
        length *= brick_[k];
        break;
      }
    }
  }

  /// Lists where the units of an axis lie, in the destination and in the source.
  void list_offsets(const AxesOfPlane& axes, std::size_t at) {
    for (std::size_t side = 0; side < 2; ++side) {
      auto& offsets = offsets_[at + side];
      offsets = {0};
      for (const int i : axes) {
        const std::int64_t stride = side == 0 ? to_strides_[static_cast<std::size_t>(i)] : dims_[i].src_stride;
        const std::size_t size = offsets.size();
        for (std::int64_t k = 1; k < brick_[i]; ++k)
          for (std::size_t j = 0; j < size; ++j) offsets.push_back(offsets[j] + k * stride);
      }
      std::int64_t& step = steps_[at + side];
      step = offsets.size() > 1 ? offsets[1] : 0;
      for (std::size_t k = 1; k < offsets.size(); ++k)
        if (offsets[k] - offsets[k - 1] != step) step = 0;
    }
  }

  void move_planes(const std::byte* src, std::byte* to, const Extents& extents, const std::byte* src_end,
                   const Ahead& ahead) const noexcept {
    const auto length = [&](const AxesOfPlane& axes) {
      std::int64_t product = 1;
      for (const int i : axes) product *= extents[static_cast<std::size_t>(i)];
      return product;
    };
    kernels::Plane plane;
    plane.rows = length(rows_of_plane_);
    plane.columns = length(columns_of_plane_);
    plane.dst_rows = {offsets_[0].data(), steps_[0]};
    plane.src_rows = {offsets_[1].data(), steps_[1]};
    plane.dst_columns = {offsets_[2].data(), steps_[2]};
    plane.src_columns = {offsets_[3].data(), steps_[3]};
    plane.src_end = src_end;
    plane.src_ahead = ahead.src;
    plane.dst_ahead = ahead.dst;
    DimList others;
    for (const int i : others_) {
      const auto at = static_cast<std::size_t>(i);
      if (extents[at] > 1) others.push_back({extents[at], dims_[i].src_stride, to_strides_[at]});
    }
    if (others.empty()) return move_(to, src, unit_, plane);
    const std::int64_t planes = count_tuples(others);
    Counter counter(others, 0);
    for (std::int64_t k = 0; k < planes; ++k, counter.next()) move_(to + counter.dst, src + counter.src, unit_, plane);
  }

  /// The lines of the source that a brick reads, to be fetched while the one before is written: runs in two more axes.
  kernels::Ahead lines_of(const std::byte* src, const Extents& extents) const noexcept {
    kernels::Ahead ahead;
    std::int64_t run = unit_, volume = unit_, at = 0, count = dims_.size();
    const auto extent = [&](std::int64_t k) { return extents[static_cast<std::size_t>(by_src_[static_cast<int>(k)])]; };
    const auto stride = [&](std::int64_t k) { return dims_[by_src_[static_cast<int>(k)]].src_stride; };
    for (std::int64_t k = 0; k < count; ++k) volume *= extent(k);
    // Dims whose steps are shorter than a line, or continue the run.
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

  /// Writes the runs of a brick from scratch memory.
  void write(std::byte* dst, const std::byte* from, const Extents& extents, kernels::Ahead& ahead) const noexcept {
    const int runs = dims_.size() - run_dims_;
    std::int64_t run = unit_;
    for (int i = runs; i < dims_.size(); ++i) run *= extents[static_cast<std::size_t>(i)];
    DimList others;
    for (int i = 0; i < runs; ++i)
      others.push_back(
          {extents[static_cast<std::size_t>(i)], to_strides_[static_cast<std::size_t>(i)], dims_[i].dst_stride});
    const Dim inner = take(others, others.size() - 1);
    const std::int64_t groups = count_tuples(others), step = dims_[dims_.size() - 1].dst_stride;
    Counter counter(others, 0);
    for (std::int64_t k = 0; k < groups; ++k, counter.next()) {
      std::byte* to = dst + counter.dst;
      const std::byte* at = from + counter.src;
      if (step == unit_)
        kernels::copy_rows(to, inner.dst_stride, at, inner.src_stride, run, inner.extent, store_, ahead);
      else
        for (std::int64_t row = 0; row < inner.extent; ++row)
          kernels::copy_row(to + row * inner.dst_stride, step, at + row * inner.src_stride, unit_, run / unit_, unit_);
    }
  }

  std::int64_t unit_ = 1;
  DimList dims_{};
  FixedList<int, 2 * max_rank> by_src_{};  // dims, the nearest in the source first
  kernels::MovePlane move_ = nullptr;
  kernels::Finish finish_ = kernels::Finish::none;
  Store store_;
  bool staged_ = false;
  bool fetches_ = false;                            // the next brick while one is moved
  FixedList<std::int64_t, 2 * max_rank> brick_{};   // units along each dim
  FixedList<std::int64_t, 2 * max_rank> bricks_{};  // along each dim
  Extents to_strides_{};                            // of the destination, or of scratch memory
  int run_dims_ = 0;                                // dims that a run of the destination takes
  std::int64_t run_bytes_ = 0;
  AxesOfPlane rows_of_plane_{}, columns_of_plane_{}, others_{};
  std::array<std::vector<std::int64_t>, 4> offsets_{};  // of rows, then of columns: in the destination, in the source
  std::array<std::int64_t, 4> steps_{};
};

}  // namespace

std::unique_ptr<Compiled> make_strided(const Problem& problem) {
  if (problem.accumulate) return nullptr;
  const Problem opened = problem.windows.empty() ? problem : merge_dims(drop_single(open_windows(problem, Opened::all)));
  return opened.windows.empty() ? if_fits<Strided>(opened) : nullptr;
}

}  // namespace patchfold::engine
