// SPDX-License-Identifier: Apache-2.0
// The strategy "move": copies any extract or combine_copy, row by row. A row lies along one axis: a dim, or the positions or the
// taps of a window. Along a row the coordinate advances in equal steps, so the row is a few runs (padding.hpp), each of which reads
// the image in equal steps or reads nothing. Every window but that of the row has one coordinate for the whole row. Extract writes
// every column element, copied or filled. combine_copy exchanges source and destination and skips coordinates outside the image.
#include "kernels/move.hpp"

#include <algorithm>
#include <limits>

#include "engine/copies/copies.hpp"
#include "engine/normalise.hpp"
#include "engine/padding.hpp"
#include "engine/rows.hpp"
#include "engine/sums/means.hpp"

namespace patchfold::engine {
namespace {

/// The most elements of a row that does not run along the innermost axis. They are few enough that their cache lines stay in the
/// cache while the axes inside the row are copied.
constexpr std::int64_t strided_chunk = 256;

/// A plan of the strategy. The plan has no tables, so it fits every copy, with every stride and padding mode: runs of coordinates
/// are computed while the plan runs.
class Move final : public Compiled {
 public:
  explicit Move(const Problem& problem) : Compiled(problem), extracts_(problem.verb == Verb::extract) {
    Problem rest = problem;
    unit_ = take_unit(rest);
    AxisList axes;
    for (const Dim& dim : rest.dims) axes.push_back({Axis::Kind::dim, -1, dim.extent, dim.src_stride, dim.dst_stride});
    for (int i = 0; i < problem_.windows.size(); ++i) {
      const Window& w = problem_.windows[i];
      if (w.positions != 1) axes.push_back(axis_of(Axis::Kind::position, i, w.positions, w.stride, w.position_stride));
      if (w.kernel != 1) axes.push_back(axis_of(Axis::Kind::tap, i, w.kernel, w.dilation, w.tap_stride));
    }
    plan_ = plan_rows(axes, unit_, chunk_bytes / unit_, strided_chunk);
    rows_ = plan_.rows;
    bytes_ = 2.0 * static_cast<double>(unit_) * static_cast<double>(count_tuples(axes));
  }

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte*) const noexcept override {
    Odometer odometer(plan_.counted, first);
    for (std::int64_t row = first; row < last; ++row, odometer.next()) {
      const std::int64_t begin = plan_.row_begin(odometer);
      run_row(src, dst, odometer, begin, plan_.row_count(begin));
    }
  }

 private:
  /// Returns an axis of the walk. The image's stride times the step may overflow if the step leaves the image, so the axis stores a
  /// saturated product, which only decides the order of the axes.
  Axis axis_of(Axis::Kind kind, int window, std::int64_t extent, std::int64_t step, std::int64_t column_stride) const {
    const std::int64_t image_stride = problem_.windows[window].image_stride;
    const std::int64_t image = saturating_mul(step, image_stride);
    return extracts_ ? Axis{kind, window, extent, image, column_stride} : Axis{kind, window, extent, column_stride, image};
  }

  void run_row(const std::byte* src, std::byte* dst, const Odometer<AxisList>& odometer, std::int64_t begin,
               std::int64_t count) const noexcept {
    std::int64_t src_at = problem_.src_offset;
    std::int64_t dst_at = problem_.dst_offset;
    std::array<std::int64_t, max_axes> coordinates;
    for (int i = 0; i < problem_.windows.size(); ++i)
      coordinates[static_cast<std::size_t>(i)] = -problem_.windows[i].pad_begin;
    const auto step = [&](const Axis& axis, std::int64_t index) {
      if (axis.window < 0) {
        src_at += index * axis.src_stride;
        dst_at += index * axis.dst_stride;
        return;
      }
      const Window& w = problem_.windows[axis.window];
      const bool taps = axis.kind == Axis::Kind::tap;
      coordinates[static_cast<std::size_t>(axis.window)] += index * (taps ? w.dilation : w.stride);
      (extracts_ ? dst_at : src_at) += index * (taps ? w.tap_stride : w.position_stride);
    };
    for (int i = 0; i < plan_.counted.size(); ++i)
      if (i != plan_.chunk_axis) step(plan_.counted[i], odometer[i]);
    step(plan_.row, begin);

    std::int64_t& image_at = extracts_ ? src_at : dst_at;
    bool outside = false;
    for (int i = 0; i < problem_.windows.size(); ++i) {
      if (i == plan_.row.window) continue;
      const std::int64_t c = coordinates[static_cast<std::size_t>(i)];
      const Run run = run_at(problem_.windows[i], c);
      outside |= run.outside;
      if (!run.outside) image_at += source_at(run, c) * problem_.windows[i].image_stride;
    }
    if (plan_.row.window < 0 || outside) return emit(src, dst, src_at, dst_at, row_image_stride(), count, outside);

    const Window& w = problem_.windows[plan_.row.window];
    const std::int64_t pace = plan_.row.kind == Axis::Kind::tap ? w.dilation : w.stride;
    const std::int64_t column_stride = plan_.row.kind == Axis::Kind::tap ? w.tap_stride : w.position_stride;
    const std::int64_t image_origin = image_at;
    std::int64_t c = coordinates[static_cast<std::size_t>(plan_.row.window)];
    while (true) {
      const Run run = run_at(w, c);
      // The first and the last run may reach so far that a difference of coordinates would overflow.
      const std::int64_t room = run.end == std::numeric_limits<std::int64_t>::max() || pace == 0
                                    ? count
                                    : std::min(count, ceil_div(run.end - c, pace));
      if (!run.outside) image_at = image_origin + source_at(run, c) * w.image_stride;
      emit(src, dst, src_at, dst_at, room == 1 ? 0 : run.step * pace * w.image_stride, room, run.outside);
      count -= room;
      if (count == 0) return;
      (extracts_ ? dst_at : src_at) += room * column_stride;
      c += room * pace;
    }
  }

  /// Returns the image's stride along the row, for a row along a dim.
  std::int64_t row_image_stride() const noexcept { return extracts_ ? plan_.row.src_stride : plan_.row.dst_stride; }

  void emit(const std::byte* src, std::byte* dst, std::int64_t src_at, std::int64_t dst_at, std::int64_t image_stride,
            std::int64_t count, bool outside) const noexcept {
    if (outside) {
      if (extracts_)
        kernels::fill_row(dst + dst_at, plan_.row.dst_stride, problem_.fill.data(), problem_.element_size, count, unit_);
    } else if (extracts_) {
      kernels::copy_row(dst + dst_at, plan_.row.dst_stride, src + src_at, image_stride, count, unit_);
    } else {
      kernels::copy_row(dst + dst_at, image_stride, src + src_at, plan_.row.src_stride, count, unit_);
    }
  }

  bool extracts_;
  std::int64_t unit_ = 1;
  RowPlan plan_{};
};

}  // namespace

std::unique_ptr<Compiled> make_move(const Problem& problem) {
  if (adds(problem)) return nullptr;
  return std::make_unique<Move>(merge_dims(drop_single(open_windows(problem, Opened::all))));
}

}  // namespace patchfold::engine
