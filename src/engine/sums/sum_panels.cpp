// SPDX-License-Identifier: Apache-2.0
// Sums computed row by row of the image, many rows at a time. A row is either the image along one window, taken phase by
// phase, or the elements of a position that lie together, as channels last do; rows are the coordinates of another window.
// For rows that meet the same taps a panel of registers adds all terms, each a column that is read in long runs. Sums wait
// in scratch memory until the rows of a band are complete, and leave as whole lines.
#include <algorithm>
#include <array>

#include "engine/sums/sum_panel_plan.hpp"
#include "engine/sums/sums.hpp"

namespace patchfold::engine {
namespace {

using kernels::Ahead;
using kernels::line_bytes;
using kernels::PanelTerm;
using kernels::Store;

class SumPanels final : public SumPanelPlan {
 public:
  using SumPanelPlan::SumPanelPlan;

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte* scratch) const noexcept override {
    const Source source{src, src + problem_.src_range.begin, src + problem_.src_range.end};
    std::array<Band, 2> bands;  // the one at hand and the next, by turns
    place(bands[0], first);
    for (std::int64_t row = first; row < last; ++row) {
      Ahead ahead{};
      Band& band = bands[(row - first) % 2];
      if (row + 1 < last) {
        Band& next = bands[(row - first + 1) % 2];
        place(next, row + 1);
        if (fetches_bands_) {
          ahead = ahead_of(src, next);
          ahead.spread_over(band.rows * writer_.row_bytes / line_bytes);
        }
      }
      run_band(source, dst, band, ahead, scratch);
    }
    if (writer_.store == Store::past_cache) kernels::finish_stores();
  }

 private:
  /// A place in the columns, and what of them may be read.
  struct Source {
    const std::byte* at = nullptr;
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
  };

  /// Rows of the image that are summed and written together: the coordinates first, first + step, .. before `end`.
  struct Band {
    std::int64_t src = 0;
    std::int64_t dst = 0;
    std::int64_t residue = 0;
    std::int64_t first = 0;
    std::int64_t end = 0;
    std::int64_t rows = 0;
    RowTaps taps{};                                    ///< of the windows that are not across or along
    std::array<std::int64_t, max_axes> coordinates{};  ///< of these windows
  };

  void place(Band& band, std::int64_t row) const noexcept {
    const std::int64_t step = separate_ ? stride_ : 1;
    const std::int64_t index = row % bands_;
    row /= bands_;
    band.residue = separate_ ? row % stride_ : 0;
    if (separate_) row /= stride_;
    band.src = problem_.src_offset;
    band.dst = problem_.dst_offset;
    for (int i = outer_.size() - 1; i >= 0; --i) {
      const Axis& axis = outer_[i];
      const std::int64_t here = axis.extent == 1 ? 0 : row % axis.extent;
      row /= axis.extent;
      band.src += here * axis.src_stride;
      band.dst += here * axis.dst_stride;
      if (axis.window >= 0) {
        band.taps[static_cast<std::size_t>(axis.window)] = solvers_[static_cast<std::size_t>(axis.window)].at(here);
        band.coordinates[static_cast<std::size_t>(axis.window)] = here;
      }
    }
    band.first = index * band_ * step + band.residue;
    band.end = std::min(extent_, band.first + band_ * step);
    band.rows = std::max<std::int64_t>(0, ceil_div(band.end - band.first, step));
    if (across_ >= 0) band.dst += band.first * problem_.windows[across_].image_stride;
  }

  void run_band(const Source& src, std::byte* dst, Band& band, Ahead& ahead, std::byte* scratch) const noexcept {
    if (band.rows == 0) return;
    const std::int64_t step = separate_ ? stride_ : 1;
    const std::int64_t pitch = across_ < 0 ? writer_.row_bytes : step * problem_.windows[across_].image_stride;
    dst += band.dst;
    std::byte* sums = direct_ ? dst : scratch + sums_at_;
    const std::int64_t sums_pitch = direct_ ? pitch : writer_.sums_pitch;
    bool certain = true;
    const std::int64_t residues = separate_ ? 1 : std::min(stride_, band.end - band.first);
    for (std::int64_t r = 0; r < residues; ++r) {
      const std::int64_t residue = separate_ ? band.residue : (band.first + r) % stride_;
      const auto& runs = classes_[static_cast<std::size_t>(residue)];
      std::size_t number = first_run_[static_cast<std::size_t>(residue)];
      for (const SameTaps& run : runs)
        sum_run({src.at + band.src, src.begin, src.end}, run, number++, band, sums, sums_pitch, scratch, certain);
    }
    if (!direct_) writer_.write(dst, pitch, band.rows, sums, scratch + joined_at_, scratch + scratch_per_piece_, ahead);
    if (!certain) care(src.at, dst, band);
  }

  /// A second look at the means of a band, whose first row stands at `dst`.
  void care(const std::byte* src, std::byte* dst, const Band& band) const noexcept {
    Box box;
    std::byte* origin = dst;
    for (int i = 0; i < problem_.windows.size(); ++i) {
      const Window& w = problem_.windows[i];
      if (i == across_) {
        const std::int64_t step = separate_ ? stride_ : 1;
        box.push_back({i, ceil_div(band.end - band.first, step), band.first, step, 0, w.image_stride});
        origin -= band.first * w.image_stride;
      } else if (i == along_) {
        box.push_back({i, w.extent, 0, 1, 0, w.image_stride});
      } else {
        box.push_back({i, 1, band.coordinates[static_cast<std::size_t>(i)], 1, 0, w.image_stride});
        origin -= band.coordinates[static_cast<std::size_t>(i)] * w.image_stride;
      }
    }
    box.push_back({-1, unit_ / problem_.element_size, 0, 1, problem_.element_size, problem_.element_size});
    means_.care(src + band.src, origin, box);
  }

  /// What a band reads: a run of each column, one after the other, for each tap of one other window.
  Ahead ahead_of(const std::byte* src, const Band& band) const noexcept {
    if (band.rows == 0 || across_ < 0) return {};
    const Window& y = problem_.windows[across_];
    const std::int64_t first =
        std::max<std::int64_t>(0, floor_div(band.first + y.pad_begin - (y.kernel - 1) * y.dilation, y.stride));
    const std::int64_t end = std::min(y.positions, floor_div(band.end - 1 + y.pad_begin, y.stride) + 1);
    Ahead ahead;
    if (end <= first) return {};
    ahead.group = src + band.src + first * y.position_stride;
    ahead.row_lines = ceil_div((end - first) * y.position_stride, line_bytes);
    ahead.rows = y.kernel;
    ahead.pitch = y.tap_stride;
    if (along_ >= 0) {
      const Window& x = problem_.windows[along_];
      ahead.rows *= x.kernel;
      ahead.pitch = x.tap_stride;
    }
    for (int i = 0; i < problem_.windows.size(); ++i) {
      if (i == along_ || i == across_) continue;
      const Taps& taps = band.taps[static_cast<std::size_t>(i)];
      ahead.group += taps.offset;
      ahead.groups = taps.count;
      ahead.group_pitch = taps.step;
    }
    return ahead;
  }

  /// Sums the rows of a run that lie in the band.
  void sum_run(Source src, const SameTaps& run, std::size_t number, Band& band, std::byte* sums, std::int64_t sums_pitch,
               std::byte* scratch, bool& certain) const noexcept {
    const std::int64_t skipped = run.first >= band.first ? 0 : ceil_div(band.first - run.first, stride_);
    const std::int64_t begin = run.first + skipped * stride_;
    if (skipped >= run.count || begin >= band.end) return;
    const std::int64_t rows = std::min(run.count - skipped, ceil_div(band.end - begin, stride_));
    const std::int64_t step = separate_ ? stride_ : 1;
    kernels::Panel panel;
    panel.begin = src.begin;
    panel.end = src.end;
    panel.src = src.at;
    panel.prefetch = prefetch_;
    panel.rows = rows;
    panel.to_pitch = stride_ / step * sums_pitch;
    panel.fill = &means_.fill();
    panel.certain = &certain;
    if (across_ >= 0) {
      panel.src_pitch = problem_.windows[across_].position_stride;
      panel.src += skipped * panel.src_pitch;
      band.taps[static_cast<std::size_t>(across_)] = run.taps;
    }
    sums += (begin - band.first) / step * sums_pitch;
    for (std::size_t i = 0; i < phases_.size(); ++i) {
      const SumTerms terms =
          listed_ ? listed_terms_[number * phases_.size() + i]
                  : list_terms(band.taps, problem_.windows.size(), along_, phases_[i], reinterpret_cast<PanelTerm*>(scratch),
                               reinterpret_cast<std::int64_t*>(scratch + offsets_at_));
      panel.terms = terms.terms.data();
      panel.count = static_cast<std::int64_t>(terms.terms.size());
      panel.low = terms.low;
      panel.high = terms.high;
      panel.masks_count = static_cast<std::int64_t>(phases_[i].taps.size());
      sum_phase(phases_[i], panel, sums + static_cast<std::int64_t>(i) * writer_.phase_pitch);
    }
  }

  void sum_phase(const SumPhase& phase, const kernels::Panel& all, std::byte* sums) const noexcept {
    const std::int64_t vector = vector_bytes();
    if (all.rows == 1) {
      // Neighbouring chunks stand in for the rows of a panel.
      for (const SumChunk& chunk : phase.chunks) {
        kernels::Panel panel = all;
        aim(panel, chunk, sums);
        panel.rows = chunk.repeats;
        panel.src_pitch = panel.to_pitch = chunk.vectors * vector;
        kernel_->sum(panel);
      }
      return;
    }
    // A few rows at a time over their whole length, so that columns are read in the order in which they lie.
    const bool whole = phase.chunks.size() == 1 && phase.chunks.front().repeats == 1;
    const std::int64_t group = whole ? all.rows : kernel_->rows(widest_);
    for (std::int64_t row = 0; row < all.rows; row += group)
      for (const SumChunk& chunk : phase.chunks) {
        kernels::Panel panel = all;
        aim(panel, chunk, sums);
        panel.rows = std::min(group, all.rows - row);
        panel.src += row * panel.src_pitch;
        panel.to += row * panel.to_pitch;
        for (std::int64_t k = 0; k < chunk.repeats; ++k) {
          kernel_->sum(panel);
          panel.src += chunk.vectors * vector;
          panel.to += chunk.vectors * vector;
        }
      }
  }

  /// At the first chunk of the first row.
  void aim(kernels::Panel& panel, const SumChunk& chunk, std::byte* sums) const noexcept {
    panel.masks = chunk.masks.data();
    panel.vectors = chunk.vectors;
    panel.src += chunk.first * vector_bytes();
    panel.to = sums + chunk.first * vector_bytes();
  }
};

}  // namespace

bool sum_panels_pay(const Problem& problem) {
  const std::optional<SumPanelAxes> axes = choose_axes(problem);
  if (!axes || problem.windows.empty() || !sum_residues_pay(problem)) return true;
  // Panels of long strides have a row for each residue, short ones or with gaps between the taps. These are better added tap
  // by tap, where that has vectors.
  const Window& w = problem.windows[problem.windows.size() - 1];
  const bool is_long = w.dilation == 1 && w.positions * problem.element_size >= kernels::line_bytes;
  if (w.stride > 2 && !is_long) return false;
  // What a panel costs beside its sums pays for bands of so many bytes of one residue (measured: images of 7 to 4000 pixels
  // a row, 1 to 8 bytes each). Rows of one window share little with their neighbours, however they are added.
  if (axes->along < 0) return true;
  const Window& along = problem.windows[axes->along];
  std::int64_t band = along.extent / along.stride * problem.element_size, least = problem.windows.size() == 1 ? 96 : 512;
  if (axes->across >= 0) {
    const Window& across = problem.windows[axes->across];
    band *= ceil_div(across.extent, across.stride);
    least = 1024;
  }
  return band >= least;
}

std::unique_ptr<Compiled> make_sum_panels(const Problem& problem) {
  const std::optional<SumPanelAxes> axes = choose_axes(problem);
  if (!axes) return nullptr;
  auto plan = std::make_unique<SumPanels>(problem, *axes);
  return plan->fits() ? std::move(plan) : nullptr;
}

}  // namespace patchfold::engine
