// SPDX-License-Identifier: Apache-2.0
// Extracts by way of a stage with columns that run along positions: all columns of a band of rows are written from one
// stage.
#include <algorithm>
#include <array>
#include <optional>
#include <ostream>
#include <vector>

#include "engine/copies/copies.hpp"
#include "engine/copies/stage.hpp"
#include "engine/machine.hpp"
#include "kernels/blocks.hpp"
#include "tensor/checked.hpp"

namespace patchfold::engine {
namespace {

using kernels::Ahead;
using kernels::line_bytes;

std::int64_t last_coordinate(const Window& w) {
  return (w.positions - 1) * w.stride + (w.kernel - 1) * w.dilation - w.pad_begin;
}

/// Bands of rows: all columns of a band are written from one stage, or from one for each residue of the rows' stride.
class StagePositions final : public Stage {
 public:
  StagePositions(const Problem& problem, const StageChoice& choice) : Stage(problem, choice, true) {
    for (std::int64_t slot = 0; slot < rows_of_y_.slots(); ++slot) {
      Span span{0, -1};
      for (const StagedWindow::Tap& tap : rows_of_y_.taps)
        if (tap.slot == slot)
          span = span.high < span.low ? Span{tap.shift, tap.shift}
                                      : Span{std::min(span.low, tap.shift), std::max(span.high, tap.shift)};
      spans_.push_back(span);
      overlap_ = std::max(overlap_, span.high - span.low);
    }
    const std::int64_t room = stage_bytes() / row_.pitch() - overlap_;
    const std::int64_t most = std::clamp<std::int64_t>(room, 1, y_.positions);
    bands_ = ceil_div(y_.positions, most);
    band_ = ceil_div(y_.positions, bands_);
    bands_ = ceil_div(y_.positions, band_);
    rows_ = count_tuples(outer_) * bands_;
    const auto inside = [](const Window& w) { return w.pad_begin <= 0 && last_coordinate(w) < w.extent; };
    direct_ = x_.stride == 1 && inside(x_) && inside(y_);
    for (const Axis& axis : taps_) direct_ &= inside(problem_.windows[axis.window]);
    scratch_per_piece_ = direct_ ? 0 : saturating_mul(band_ + overlap_, row_.pitch());
    if (!direct_ && fits()) scratch_per_piece_ += line_bytes;
    jobs_ = count_tuples(taps_) * rows_of_y_.slots();
    row_bytes_ = x_.positions * unit_;
    gathers_ = store_ == kernels::Store::past_cache && row_bytes_ < 2 * line_bytes && y_.position_stride == row_bytes_;
  }

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte* stage) const noexcept override {
    const kernels::CopyRowsKernel copy_rows = kernels::copy_rows_kernel();
    if (!direct_) row_.prepare(stage, band_ + overlap_);
    const std::int64_t end = last * jobs_;
    Job job = job_at(first * jobs_);
    for (std::int64_t i = first * jobs_; i < end; ++i) {
      if (!direct_) stage_rows(stage, src, job.at, job.slot, job.from(), job.end());
      const Rows source = direct_ ? image_rows(src, job) : Rows{stage, row_.pitch(), stage + scratch_per_piece_};
      const Job next = i + 1 < end ? job_at(i + 1) : Job{};
      Ahead ahead = i + 1 < end ? ahead_of_next(src, job, next) : Ahead{};
      for (std::int64_t y = 0; y < y_.kernel; ++y) {
        const StagedWindow::Tap& tap = rows_of_y_.taps[static_cast<std::size_t>(y)];
        if (tap.slot != job.slot) continue;
        const std::byte* from = source.first + (tap.shift - job.span.low) * source.pitch;
        std::byte* to = dst + job.at.dst + job.first * y_.position_stride + y * y_.tap_stride;
        for (std::int64_t x = 0; x < x_.kernel; ++x, to += x_.tap_stride) {
          const std::byte* row = from + row_.offset(x);
          if (gathers_)
            kernels::gather(to, {&row, 1, source.pitch, row_bytes_, source.end}, job.rows(), store_, ahead);
          else
            copy_rows(to, y_.position_stride, row, source.pitch, row_bytes_, job.rows(), store_, ahead);
        }
      }
      job = next;
    }
    if (store_ == kernels::Store::past_cache) kernels::finish_stores();
  }

  void describe_choices(std::ostream& out) const override {
    out << "band      " << band_ << " rows of " << y_.positions << ", " << rows_of_y_.slots() << " residues\nstage     "
        << (direct_ ? 0 : band_ + overlap_) << " rows of " << row_.pitch() << " bytes\nfetch     "
        << (store_ == kernels::Store::plain ? "nothing" : "the next stage's rows while a band is written") << "\nstore     "
        << name_of(store_) << '\n';
  }

 private:
  struct Span {
    std::int64_t low = 0;
    std::int64_t high = 0;
  };
  /// The columns of some taps for the positions [first, last) of a band.
  struct Job {
    Place at{};
    std::int64_t slot = 0;
    std::int64_t first = 0;
    std::int64_t last = 0;
    Span span{};
    std::int64_t from() const noexcept { return first + span.low; }
    std::int64_t end() const noexcept { return last + span.high; }  // past the last row
    std::int64_t rows() const noexcept { return last - first; }     // of a column
  };

  Job job_at(std::int64_t i) const noexcept {
    const std::int64_t row = i / jobs_, within = i % jobs_;
    Job job;
    job.slot = within % rows_of_y_.slots();
    job.first = row % bands_ * band_;
    job.last = std::min(job.first + band_, y_.positions);
    job.at = place(row / bands_, within / rows_of_y_.slots());
    job.span = spans_[static_cast<std::size_t>(job.slot)];
    return job;
  }

  std::int64_t lines_of(const Job& job) const noexcept {
    return y_.kernel * x_.kernel * job.rows() * row_bytes_ / line_bytes / rows_of_y_.slots();
  }

  /// The rows of a job, staged or in the image.
  struct Rows {
    const std::byte* first = nullptr;
    std::int64_t pitch = 0;
    const std::byte* end = nullptr;  ///< up to where memory may be read
  };

  Rows image_rows(const std::byte* src, const Job& job) const noexcept {
    const std::int64_t c = job.from() * rows_of_y_.stride + rows_of_y_.residue(job.slot);
    return {src + job.at.src + c * y_.image_stride + row_.indices().low * unit_, rows_of_y_.stride * y_.image_stride,
            src + problem_.src_range.end};
  }

  /// What the next job reads and this one does not, to be fetched while this one's columns are written.
  Ahead ahead_of_next(const std::byte* src, const Job& job, const Job& next) const noexcept {
    if (store_ == kernels::Store::plain) return {};
    const bool continues = next.at.src == job.at.src && next.slot == job.slot && next.first == job.last;
    return ahead_of(src, next.at, next.slot, continues ? job.end() : next.from(), next.end(), lines_of(job));
  }

  std::vector<Span> spans_{};  // shifts of the taps of each slot of rows
  std::int64_t overlap_ = 0;   // rows of a stage beyond those of a band
  std::int64_t band_ = 1;
  std::int64_t bands_ = 1;
  std::int64_t jobs_ = 1;       // stages of a band
  bool direct_ = false;         // nothing is padded or skipped: rows are read where they are
  std::int64_t row_bytes_ = 0;  // of a column, for one position of y
  bool gathers_ = false;        // short rows that lie side by side in the column are collected into whole lines
};

}  // namespace

std::unique_ptr<Compiled> make_stage_positions(const Problem& problem) {
  const std::optional<StageChoice> choice = choose_stage(problem, Columns::along_positions);
  if (!choice) return nullptr;
  auto plan = std::make_unique<StagePositions>(problem, *choice);
  return plan->fits() ? std::move(plan) : nullptr;
}

}  // namespace patchfold::engine
