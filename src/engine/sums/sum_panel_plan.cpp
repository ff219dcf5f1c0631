// SPDX-License-Identifier: Apache-2.0
#include "engine/sums/sum_panel_plan.hpp"

#include <algorithm>
#include <ostream>

#include "engine/machine.hpp"
#include "engine/normalise.hpp"
#include "engine/scratch_copy.hpp"
#include "engine/sums/means.hpp"
#include "kernels/panel_means.hpp"

namespace patchfold::engine {
namespace {

using kernels::line_bytes;
using kernels::PanelTerm;
using kernels::Store;

constexpr std::int64_t most_terms = 16384;  ///< of a panel, over all windows (arbitrary)
constexpr std::int64_t most_runs = 16384;   ///< of rows that meet the same taps (arbitrary)
constexpr double most_listed = 65536;       ///< terms of all runs that a plan lists (arbitrary)
constexpr std::int64_t run_bytes = 16384;   ///< of a band of short rows: enough for whole lines (arbitrary)

constexpr std::int64_t most_scratch = 512 << 10;
constexpr std::int64_t least_ahead = 1024;  ///< bytes
constexpr std::int64_t positions_ahead = 8;
constexpr std::int64_t rows_wanted = 112;  ///< of a band: fewer shorten the runs in which columns are read

}  // namespace

std::optional<SumPanelAxes> choose_axes(const Problem& problem) {
  if (!adds(problem) || problem.windows.empty()) return std::nullopt;
  // Panels hold elements: what accumulates in a wider type cannot be added to the output from them.
  if (problem.accumulate && kernels::sum_kernel(problem.dtype).accumulator_size != problem.element_size) return std::nullopt;
  Problem rest = problem;
  SumPanelAxes axes;
  axes.unit = take_unit(rest);
  double terms = 1;
  for (const Window& w : problem.windows) {
    terms *= static_cast<double>(w.kernel);
    // Shifts and reaches stay far from the limits of 64 bits.
    constexpr std::int64_t far = std::int64_t{1} << 40;
    if (w.kernel > kernels::most_masks || w.kernel == 0 || w.positions == 0 || w.stride > far || w.dilation > far ||
        w.positions > far || std::abs(w.pad_begin) > far || w.extent > far)
      return std::nullopt;
    if (w.dilation == 0) return std::nullopt;
  }
  if (terms > static_cast<double>(most_terms)) return std::nullopt;
  for (int i = 0; i < problem.windows.size(); ++i) {
    const Window& w = problem.windows[i];
    if (axes.unit == problem.element_size && w.image_stride == axes.unit && w.position_stride == axes.unit &&
        w.stride <= most_phases && w.extent > 1)
      axes.along = i;
  }
  // A row of few bytes leaves most of a vector empty.
  const std::int64_t row_bytes = axes.along < 0 ? axes.unit : problem.windows[axes.along].extent * axes.unit;
  if (row_bytes < line_bytes / 2) return std::nullopt;
  for (int i = 0; i < problem.windows.size(); ++i) {
    const Window& w = problem.windows[i];
    if (i == axes.along || w.image_stride <= 0 || w.position_stride <= 0) continue;
    if (count_runs(w) > most_runs) continue;
    if (axes.across < 0 || w.image_stride < problem.windows[axes.across].image_stride) axes.across = i;
  }
  return axes;
}

SumPanelPlan::SumPanelPlan(const Problem& problem, const SumPanelAxes& axes)
    : Compiled(problem),
      kernel_(is_mean(problem) ? &kernels::mean_panel_kernel(problem.dtype) : &kernels::panel_kernel(problem.dtype)),
      along_(axes.along),
      across_(axes.across),
      unit_(axes.unit),
      means_(problem_) {
  take_unit(problem_);
  writer_.store = store_of(problem);
  if (problem.accumulate) writer_.onto = &kernels::sum_kernel(problem.dtype);
  writer_.element = problem_.element_size;
  const std::int64_t parts = writer_.element / kernel_->lane_size;
  if (along_ >= 0) {
    phases_ = phases_of(problem_.windows[along_], parts, kernel_->lane_size);
    writer_.row_bytes = problem_.windows[along_].extent * writer_.element;
  } else {
    SumPhase whole;
    whole.lanes = axes.unit / kernel_->lane_size;
    whole.taps.push_back({0, 0, whole.lanes});
    phases_.push_back(std::move(whole));
    writer_.row_bytes = axes.unit;
  }
  for (SumPhase& phase : phases_) {
    if (!phase.cut(kernel_->lanes, kernel_->most_vectors)) return;
    writer_.phase_pitch = std::max(writer_.phase_pitch, ceil_div(phase.lanes, kernel_->lanes) * vector_bytes());
    widest_ = std::max(widest_, phase.chunks.front().vectors);
  }
  writer_.phases = static_cast<std::int64_t>(phases_.size());
  writer_.phase_pitch = ceil_div(writer_.phase_pitch, line_bytes) * line_bytes;
  writer_.sums_pitch = stage_pitch(writer_.phases * writer_.phase_pitch);
  direct_ = writer_.phases == 1 && writer_.onto == nullptr && writer_.store == Store::plain &&
            writer_.row_bytes % vector_bytes() == 0;
  for (int i = 0; i < problem_.windows.size(); ++i) solvers_[static_cast<std::size_t>(i)] = TapSolver(problem_.windows[i]);
  plan_rows_across();
  plan_outer();
  plan_terms();
  plan_fetches();
  fits_ = true;
}

bool SumPanelPlan::fits() const noexcept {
  return fits_ && scratch_per_piece_ <= most_scratch;
}

void SumPanelPlan::describe_choices(std::ostream& out) const {
  out << "band      " << band_ << " rows of " << extent_ << (separate_ ? ", of one residue" : "") << "\npanel     "
      << kernel_->rows(widest_) << " rows of " << widest_ << " vectors of " << kernel_->lanes << " lanes, " << phases_.size()
      << " phases\nfetch     " << prefetch_ << " bytes ahead in each column"
      << (fetches_bands_ ? ", and the next band while one is written" : "") << "\nstore     " << name_of(writer_.store)
      << '\n';
}

/// The coordinates of a band: of one residue, or, where rows are short, of all of them.
void SumPanelPlan::plan_rows_across() {
  first_run_.push_back(0);
  if (across_ < 0) {
    classes_.push_back({{0, 1, {1, 0, 0}}});
    extent_ = 1;
    return;
  }
  const Window& y = problem_.windows[across_];
  extent_ = y.extent;
  stride_ = std::min(y.stride, y.extent);
  for (std::int64_t residue = 0; residue < stride_; ++residue) {
    classes_.push_back(rows_of(y, solvers_[static_cast<std::size_t>(across_)], residue));
    first_run_.push_back(first_run_.back() + classes_.back().size());
  }
  separate_ = stride_ > 2 && writer_.row_bytes >= 2048;
}

void SumPanelPlan::plan_outer() {
  for (const Dim& dim : problem_.dims) outer_.push_back({Axis::Kind::dim, -1, dim.extent, dim.src_stride, dim.dst_stride});
  for (int i = 0; i < problem_.windows.size(); ++i)
    if (i != along_ && i != across_)
      outer_.push_back({Axis::Kind::coordinate, i, problem_.windows[i].extent, 0, problem_.windows[i].image_stride});
  std::ranges::stable_sort(outer_,
                           [](const Axis& a, const Axis& b) { return std::abs(a.dst_stride) > std::abs(b.dst_stride); });
  // Bands of whole panels, and of whole lines where rows lie side by side.
  const std::int64_t panel = kernel_->rows(widest_);
  const std::int64_t step = separate_ ? 1 : stride_;
  const std::int64_t rows = separate_ ? ceil_div(extent_, stride_) : extent_;
  std::int64_t wanted = std::max(panel, rows_wanted / panel * panel) * step;
  const std::int64_t room = std::max<std::int64_t>(1, stage_bytes() / writer_.sums_pitch);
  wanted = std::min(wanted, room);
  if (along_ < 0) wanted = std::min(room, std::max(wanted, run_bytes / writer_.row_bytes));
  band_ = std::min(wanted, rows);
  bands_ = ceil_div(rows, band_);
  rows_ = count_tuples(outer_) * bands_ * (separate_ ? stride_ : 1);
  const auto size = [](ByteRange range) { return static_cast<double>(range.end - range.begin); };
  bytes_ = size(problem_.src_range) + size(problem_.dst_range);
}

void SumPanelPlan::plan_fetches() {
  // Means take so long that columns within the cache come too late as well, where they are read in long runs.
  if (is_mean(problem_) && writer_.phases == 1) prefetch_ = 3 * widest_ * vector_bytes();
  if (writer_.store == Store::plain || across_ < 0) return;
  const Window& y = problem_.windows[across_];
  // One panel ahead: less comes too late, more pushes out what is still needed. Positions that lie apart are a panel each.
  const std::int64_t rows = along_ < 0 ? positions_ahead : kernel_->rows(widest_);
  prefetch_ = std::max(least_ahead, rows * y.position_stride);
  // While phases are interleaved nothing would be read, and where a band is all of the image, its columns end often: then
  // the next band is fetched, if it is small.
  double columns = static_cast<double>(band_ / y.stride + y.kernel) * static_cast<double>(y.position_stride * y.kernel);
  if (along_ >= 0) columns *= static_cast<double>(problem_.windows[along_].kernel);
  fetches_bands_ = (phases_.size() > 1 || bands_ == 1) && columns < static_cast<double>(caches().l2) / 4;
  if (fetches_bands_ && phases_.size() == 1) prefetch_ = 0;
}

/// Terms that do not depend on another window's coordinate are listed now, the others when a band is summed.
void SumPanelPlan::plan_terms() {
  std::int64_t tuples = 1;
  for (const Window& w : problem_.windows) tuples *= w.kernel;
  const bool others = problem_.windows.size() > (along_ >= 0 ? 1 : 0) + (across_ >= 0 ? 1 : 0);
  std::size_t runs = 0;
  for (const auto& rows : classes_) runs += rows.size();
  listed_ = !others && static_cast<double>(runs) * static_cast<double>(tuples) < most_listed;
  const std::int64_t offsets = (tuples + 2) * static_cast<std::int64_t>(sizeof(std::int64_t));
  offsets_at_ = ceil_div(tuples * static_cast<std::int64_t>(sizeof(PanelTerm)), line_bytes) * line_bytes;
  sums_at_ = listed_ ? 0 : ceil_div(offsets_at_ + offsets, line_bytes) * line_bytes;
  if (listed_) list_runs(tuples);
  writer_.plan(band_);
  joined_at_ = sums_at_ + (direct_ ? 0 : band_ * writer_.sums_pitch);
  scratch_per_piece_ = joined_at_ + writer_.joined_bytes();
}

void SumPanelPlan::list_runs(std::int64_t tuples) {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(tuples + 2));
  std::vector<PanelTerm> list(static_cast<std::size_t>(tuples));
  std::vector<std::size_t> begins;
  for (const auto& rows : classes_)
    for (const SameTaps& run : rows) {
      RowTaps taps{};
      if (across_ >= 0) taps[static_cast<std::size_t>(across_)] = run.taps;
      for (const SumPhase& phase : phases_) {
        SumTerms terms = list_terms(taps, problem_.windows.size(), along_, phase, list.data(), offsets.data());
        begins.push_back(terms_.size());
        terms_.insert(terms_.end(), terms.terms.begin(), terms.terms.end());
        listed_terms_.push_back(terms);
      }
    }
  for (std::size_t i = 0; i < begins.size(); ++i)
    listed_terms_[i].terms = {terms_.data() + begins[i], listed_terms_[i].terms.size()};
}

}  // namespace patchfold::engine
