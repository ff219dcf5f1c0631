// SPDX-License-Identifier: Apache-2.0
#include "engine/copies/stage.hpp"

#include <algorithm>
#include <array>

#include "engine/copies/copies.hpp"
#include "engine/copies/frame.hpp"
#include "engine/normalise.hpp"
#include "engine/scratch_copy.hpp"
#include "engine/window.hpp"
#include "tensor/checked.hpp"

namespace patchfold::engine {
namespace {

using kernels::Ahead;
using kernels::line_bytes;

/// A window of one coordinate, for problems that have no rows.
Window single_row() {
  return {};
}

}  // namespace

std::optional<StageChoice> choose_stage(Problem problem, Columns columns) {
  if (problem.verb != Verb::extract) return std::nullopt;
  StageChoice choice;
  choice.unit = take_unit(problem);
  const auto fits = [&](const Window& w) {
    if (w.kernel > most_staged_taps || w.positions == 0 || w.kernel == 0) return false;
    // What a stage holds must not grow with a dilation or a pad that reach far beyond the image.
    const Checked reach = Checked(w.positions - 1) * w.stride + (w.kernel - 1) * w.dilation;
    return (reach * choice.unit).is_below(std::int64_t{1} << 40);
  };
  for (int i = 0; i < problem.windows.size(); ++i) {
    const Window& w = problem.windows[i];
    if (w.image_stride != choice.unit || !fits(w)) continue;
    const bool positions = w.position_stride == choice.unit && (w.positions > 1 || problem.windows.size() == 1);
    const bool taps = w.tap_stride == choice.unit && w.dilation == 1 && w.kernel > 1;
    if (columns == Columns::along_positions ? positions : !positions && taps) choice.along = i;
  }
  if (choice.along < 0) return std::nullopt;
  const Window& x = problem.windows[choice.along];
  const std::int64_t side_by_side = choice.unit * (columns == Columns::along_positions ? x.positions : x.kernel);
  for (int i = 0; i < problem.windows.size(); ++i) {
    const Window& w = problem.windows[i];
    if (i == choice.along || !fits(w) || w.image_stride <= 0) continue;
    const bool continues = (columns == Columns::along_positions ? w.position_stride : w.tap_stride) == side_by_side;
    if (choice.across < 0 || continues) choice.across = i;
  }
  return choice;
}

namespace {

bool stage_pays(const Problem& problem, Columns columns) {
  constexpr double least = 2;             // times that an element is read
  constexpr std::int64_t least_run = 36;  // bytes that are neighbours in a column and in the stage
  const std::optional<StageChoice> choice = choose_stage(problem, columns);
  if (!choice) return false;
  double times = 1;
  for (const Window& w : problem.windows) times *= static_cast<double>(w.kernel) / static_cast<double>(w.stride);
  if (times < least && inside_share(problem) >= 0.25) return false;
  const Window& x = problem.windows[choice->along];
  if (choice->across < 0 && problem.windows.size() > 1) return false;  // row by row
  if (columns == Columns::along_positions) {
    const std::int64_t row = x.positions * choice->unit;
    if (row < least_run) return false;
    // Within the cache, the strategies `bands` and `strided` are faster where a column is a run of the image, or has few
    // elements. Planning them takes longer, so small problems stay here.
    constexpr double little = 32 << 10, small = 128 << 10;  // bytes
    const double bytes = store_of(problem) == kernels::Store::plain ? spanned_bytes(problem) : 0;
    if (bytes >= little && x.positions < 16) return false;
    double taps = 1;
    for (const Window& w : problem.windows) taps *= static_cast<double>(w.kernel);
    if (bytes >= small && (x.stride > 4 || (x.stride == 1 && (row < 2 * line_bytes || taps > 25)))) return false;
    if (x.stride == 1 || inside_share(problem) < 1) return true;
    // Without borders short rows, and rows between gaps, are better copied as bricks.
    const bool continues = choice->across < 0 || problem.windows[choice->across].position_stride == row;
    return (row >= 2 * line_bytes && continues) || (choice->unit <= 2 && x.positions >= 32);
  }
  // Where a column of a position holds other dims too, what is written for one of them is too little.
  Problem rest = problem;
  take_unit(rest);
  for (const Dim& dim : rest.dims)
    if (dim.extent > 1 && std::abs(dim.dst_stride) < std::abs(x.position_stride)) return false;
  return x.kernel * choice->unit >= least_run;
}

}  // namespace

bool stage_positions_pays(const Problem& problem) {
  return stage_pays(problem, Columns::along_positions);
}

bool stage_taps_pays(const Problem& problem) {
  return stage_pays(problem, Columns::along_taps);
}

Stage::Stage(const Problem& problem, const StageChoice& choice, bool by_residue)
    : Compiled(problem),
      unit_(choice.unit),
      x_(problem.windows[choice.along]),
      y_(choice.across < 0 ? single_row() : problem.windows[choice.across]),
      row_(problem, x_, choice.unit, by_residue),
      rows_of_y_(y_, by_residue),
      store_(store_of(problem)) {
  take_unit(problem_);
  for (const Dim& dim : problem_.dims) outer_.push_back({Axis::Kind::dim, -1, dim.extent, dim.src_stride, dim.dst_stride});
  for (int i = 0; i < problem_.windows.size(); ++i) {
    if (i == choice.along || i == choice.across) continue;
    const Window& w = problem_.windows[i];
    outer_.push_back({Axis::Kind::position, i, w.positions, 0, w.position_stride});
    taps_.push_back({Axis::Kind::tap, i, w.kernel, 0, w.tap_stride});
  }
  std::ranges::stable_sort(outer_,
                           [](const Axis& a, const Axis& b) { return std::abs(a.dst_stride) > std::abs(b.dst_stride); });
  bytes_ = static_cast<double>(problem_.dst_range.end - problem_.dst_range.begin) * 2;
}

void Stage::stage_rows(std::byte* to, const std::byte* src, const Place& at, std::int64_t slot, std::int64_t from,
                       std::int64_t end) const noexcept {
  const std::int64_t stride = rows_of_y_.stride, residue = rows_of_y_.residue(slot);
  const std::int64_t pitch = row_.pitch();
  if (y_.mode == PaddingMode::constant) {
    std::int64_t first = std::clamp(ceil_div(-residue, stride), from, end);
    std::int64_t last = std::clamp(ceil_div(y_.extent - residue, stride), first, end);
    if (at.outside) first = last = end;
    for (std::int64_t m = from; m < first; ++m) row_.write_outside(to + (m - from) * pitch);
    if (last > first)
      row_.write(to + (first - from) * pitch, src + at.src + (first * stride + residue) * y_.image_stride,
                 stride * y_.image_stride, last - first);
    for (std::int64_t m = last; m < end; ++m) row_.write_outside(to + (m - from) * pitch);
    return;
  }
  for (std::int64_t m = from; m < end; ++m, to += pitch) {
    const std::int64_t c = m * stride + residue;
    const Run run = run_at(y_, c);
    if (at.outside || run.outside)
      row_.write_outside(to);
    else
      row_.write(to, src + at.src + source_at(run, c) * y_.image_stride, 0, 1);
  }
}

Ahead Stage::ahead_of(const std::byte* src, const Place& at, std::int64_t slot, std::int64_t from, std::int64_t end,
                      std::int64_t lines) const noexcept {
  const std::int64_t stride = rows_of_y_.stride, residue = rows_of_y_.residue(slot);
  from = std::max(from, ceil_div(-residue, stride));
  end = std::min(end, ceil_div(y_.extent - residue, stride));
  if (at.outside || end <= from) return {};
  Ahead ahead;
  ahead.group = src + at.src + (from * stride + residue) * y_.image_stride;
  ahead.pitch = stride * y_.image_stride;
  ahead.row_lines = ceil_div(x_.extent * unit_, line_bytes);
  ahead.rows = end - from;
  if (ahead.pitch == x_.extent * unit_) {  // one range, without a line that two rows share
    ahead.row_lines = ceil_div(ahead.rows * ahead.pitch, line_bytes);
    ahead.rows = 1;
  }
  ahead.spread_over(lines);
  return ahead;
}

}  // namespace patchfold::engine
