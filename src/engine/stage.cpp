// SPDX-License-Identifier: Apache-2.0
// Extracts by way of a stage: rows of the image, padded and split by residue, in a few hundred kilobytes that stay in the
// cache. From a stage on there are no borders and no strides: every column is a run of rows that lie in equal steps. Two
// windows are staged, the one whose coordinates are neighbours in memory and one whose coordinates are rows; all other axes
// choose which part of the image is staged.
#include "engine/stage.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <ostream>

#include "engine/machine.hpp"
#include "engine/normalise.hpp"
#include "engine/rows.hpp"
#include "engine/stage_rows.hpp"
#include "engine/window.hpp"
#include "tensor/checked.hpp"

namespace patchfold::engine {
namespace {

using kernels::Ahead;
using kernels::line_bytes;

/// The two windows, and what moves in one piece.
struct Choice {
  std::int64_t unit = 1;
  int along = -1;   ///< window whose coordinates are `unit` bytes apart
  int across = -1;  ///< window whose coordinates are rows; -1 if there is but one window
};

std::int64_t last_coordinate(const Window& w) {
  return (w.positions - 1) * w.stride + (w.kernel - 1) * w.dilation - w.pad_begin;
}

enum class Columns { along_positions, along_taps };

std::optional<Choice> choose(Problem problem, Columns columns) {
  if (problem.verb != Verb::extract) return std::nullopt;
  Choice choice;
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

/// A window of one coordinate, for problems that have no rows.
Window single_row() {
  return {};
}

/// What both ways of writing columns share: where the part of the image lies that is staged next.
class Stage : public Compiled {
 public:
  Stage(const Problem& problem, const Choice& choice, bool by_residue)
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

  /// Whether the stage stays in the cache.
  bool fits() const noexcept { return scratch_per_piece_ <= 2 * stage_bytes(); }

 protected:
  /// Where a tuple of the outer axes and of the taps of other windows stands on both sides.
  struct Place {
    std::int64_t src = 0;
    std::int64_t dst = 0;
    bool outside = false;  ///< in another window's padding: nothing is read
  };

  Place place(std::int64_t outer, std::int64_t taps) const noexcept {
    Place at{problem_.src_offset, problem_.dst_offset, false};
    std::array<std::int64_t, max_axes> coordinates{};
    const auto step = [&](const AxisList& axes, std::int64_t index) {
      for (int i = axes.size() - 1; i >= 0; --i) {
        const Axis& axis = axes[i];
        const std::int64_t here = axis.extent == 1 ? 0 : index % axis.extent;
        index /= axis.extent;
        at.dst += here * axis.dst_stride;
        at.src += here * axis.src_stride;
        if (axis.window < 0) continue;
        const Window& w = problem_.windows[axis.window];
        coordinates[static_cast<std::size_t>(axis.window)] +=
            here * (axis.kind == Axis::Kind::position ? w.stride : w.dilation);
      }
    };
    step(outer_, outer);
    step(taps_, taps);
    for (const Axis& axis : taps_) {
      const Window& w = problem_.windows[axis.window];
      const std::int64_t c = coordinates[static_cast<std::size_t>(axis.window)] - w.pad_begin;
      const Run run = run_at(w, c);
      at.outside |= run.outside;
      if (!run.outside) at.src += source_at(run, c) * w.image_stride;
    }
    return at;
  }

  /// Writes the elements [from, end) of a slot of rows to rows of the stage.
  void stage_rows(std::byte* to, const std::byte* src, const Place& at, std::int64_t slot, std::int64_t from,
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

  /// The rows of the image that the elements [from, end) of a slot read, to be fetched while `lines` lines are written.
  Ahead ahead_of(const std::byte* src, const Place& at, std::int64_t slot, std::int64_t from, std::int64_t end,
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

  std::int64_t unit_;
  Window x_, y_;
  StageRows row_;
  StagedWindow rows_of_y_;
  kernels::Store store_;
  AxisList outer_{};
  AxisList taps_{};  // of windows that are not staged
};

/// Bands of rows: all columns of a band are written from one stage, or from one for each residue of the rows' stride.
class StageByPositions final : public Stage {
 public:
  StageByPositions(const Problem& problem, const Choice& choice) : Stage(problem, choice, true) {
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
  }

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte* stage) const noexcept override {
    if (!direct_) row_.prepare(stage, band_ + overlap_);
    const std::int64_t end = last * jobs_;
    Job job = job_at(first * jobs_);
    for (std::int64_t i = first * jobs_; i < end; ++i) {
      const Job next = i + 1 < end ? job_at(i + 1) : Job{};
      if (!direct_) stage_rows(stage, src, job.at, job.slot, job.from(), job.end());
      Ahead ahead{};
      if (i + 1 < end && store_ == kernels::Store::past_cache) {
        const bool continues = next.at.src == job.at.src && next.slot == job.slot && next.first == job.last;
        ahead = ahead_of(src, next.at, next.slot, continues ? job.end() : next.from(), next.end(), lines_of(job));
      }
      if (direct_)
        write(dst, job, image_rows(src, job), ahead);
      else
        write(dst, job, {stage, row_.pitch(), stage + scratch_per_piece_}, ahead);
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
    return y_.kernel * x_.kernel * (job.last - job.first) * x_.positions * unit_ / line_bytes / rows_of_y_.slots();
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

  void write(std::byte* dst, const Job& job, const Rows& source, Ahead& ahead) const noexcept {
    const std::int64_t row_bytes = x_.positions * unit_;
    const std::int64_t rows = job.last - job.first;
    const bool gathers =
        store_ == kernels::Store::past_cache && row_bytes < 2 * line_bytes && y_.position_stride == row_bytes;
    for (std::int64_t i = 0; i < y_.kernel; ++i) {
      const StagedWindow::Tap& tap = rows_of_y_.taps[static_cast<std::size_t>(i)];
      if (tap.slot != job.slot) continue;
      const std::byte* from = source.first + (tap.shift - job.span.low) * source.pitch;
      std::byte* to = dst + job.at.dst + job.first * y_.position_stride + i * y_.tap_stride;
      for (std::int64_t j = 0; j < x_.kernel; ++j) {
        const std::byte* row = from + row_.offset(j);
        std::byte* column = to + j * x_.tap_stride;
        if (gathers)
          kernels::gather(column, {&row, 1, source.pitch, row_bytes, source.end}, rows, store_, ahead);
        else
          kernels::copy_rows(column, y_.position_stride, row, source.pitch, row_bytes, rows, store_, ahead);
      }
    }
  }

  std::vector<Span> spans_{};  // shifts of the taps of each slot of rows
  std::int64_t overlap_ = 0;   // rows of a stage beyond those of a band
  std::int64_t band_ = 1;
  std::int64_t bands_ = 1;
  std::int64_t jobs_ = 1;  // stages of a band
  bool direct_ = false;    // nothing is padded or skipped: rows are read where they are
};

/// A ring of as many rows as a window reads; each row of positions adds the rows that are new.
class StageByTaps final : public Stage {
 public:
  StageByTaps(const Problem& problem, const Choice& choice) : Stage(problem, choice, false) {
    ring_ = rows_of_y_.count - (y_.positions - 1) * rows_of_y_.advance;
    scratch_per_piece_ = saturating_mul(ring_, row_.pitch());
    if (fits()) scratch_per_piece_ += line_bytes;
    rows_ = count_tuples(outer_) * y_.positions;
    jobs_ = count_tuples(taps_);
    const std::int64_t patch = y_.kernel * x_.kernel * unit_;
    flat_ = y_.tap_stride == x_.kernel * unit_ || y_.kernel == 1;
    continuous_ = flat_ && (x_.position_stride == patch || x_.positions == 1);
    if (!continuous_ && patch < worth_past_cache) store_ = kernels::Store::plain;
  }

  static constexpr std::int64_t most_rows = 64;  ///< of a window (arbitrary)

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte* stage) const noexcept override {
    row_.prepare(stage, ring_);
    Place staged;
    std::int64_t staged_end = 0;  // rows of that place before it are in the ring
    bool any = false;
    for (std::int64_t row = first; row < last; ++row)
      for (std::int64_t taps = 0; taps < jobs_; ++taps) {
        const std::int64_t y = row % y_.positions;
        const Place at = place(row / y_.positions, taps);
        const std::int64_t from = y * rows_of_y_.advance + rows_of_y_.low;
        const bool continues =
            any && at.src == staged.src && at.outside == staged.outside && staged_end >= from && staged_end <= from + ring_;
        for (std::int64_t m = continues ? staged_end : from; m < from + ring_;) {
          const std::int64_t slot = floor_mod(m, ring_);
          const std::int64_t until = std::min(from + ring_, m + ring_ - slot);  // the ring's end
          stage_rows(stage + slot * row_.pitch(), src, at, 0, m, until);
          m = until;
        }
        staged = at;
        staged_end = from + ring_;
        any = true;
        Ahead ahead{};
        if (store_ == kernels::Store::past_cache && jobs_ == 1 && y + 1 < y_.positions)
          ahead = ahead_of(src, at, 0, staged_end, staged_end + rows_of_y_.advance,
                           y_.kernel * x_.kernel * x_.positions * unit_ / line_bytes);
        write(dst + at.dst + y * y_.position_stride, y, stage, ahead);
      }
    if (store_ == kernels::Store::past_cache) kernels::finish_stores();
  }

  void describe_choices(std::ostream& out) const override {
    out << "stage     a ring of " << ring_ << " rows of " << row_.pitch() << " bytes\nfetch     "
        << (store_ == kernels::Store::plain ? "nothing" : "the rows that the next positions add") << "\nstore     "
        << name_of(store_) << '\n';
  }

 private:
  /// Patches that lie apart are worth whole lines when they have many (arbitrary).
  static constexpr std::int64_t worth_past_cache = 1024;

  void write(std::byte* dst, std::int64_t y, const std::byte* stage, Ahead& ahead) const noexcept {
    std::array<const std::byte*, most_rows> rows;
    for (std::int64_t i = 0; i < y_.kernel; ++i) {
      const std::int64_t m = y * rows_of_y_.advance + rows_of_y_.taps[static_cast<std::size_t>(i)].shift;
      rows[static_cast<std::size_t>(i)] = stage + floor_mod(m, ring_) * row_.pitch() + row_.offset(0);
    }
    const std::int64_t piece = x_.kernel * unit_;
    const std::int64_t step = row_.indices().advance * unit_;
    if (continuous_)
      return kernels::gather(dst, {rows.data(), y_.kernel, step, piece, stage + scratch_per_piece_}, x_.positions, store_,
                             ahead);
    for (std::int64_t x = 0; x < x_.positions; ++x, dst += x_.position_stride) {
      if (flat_) {
        kernels::gather(dst, {rows.data(), y_.kernel, step, piece, stage + scratch_per_piece_}, 1, store_, ahead);
      } else {
        for (std::int64_t i = 0; i < y_.kernel; ++i)
          kernels::gather(dst + i * y_.tap_stride,
                          {&rows[static_cast<std::size_t>(i)], 1, step, piece, stage + scratch_per_piece_}, 1, store_,
                          ahead);
      }
      for (std::int64_t i = 0; i < y_.kernel; ++i) rows[static_cast<std::size_t>(i)] += step;
    }
  }

  std::int64_t ring_ = 1;
  std::int64_t jobs_ = 1;
  bool flat_ = false;        // a patch's rows lie side by side
  bool continuous_ = false;  // and so do patches
};

}  // namespace

std::unique_ptr<Compiled> make_stage_by_positions(const Problem& problem) {
  const std::optional<Choice> choice = choose(problem, Columns::along_positions);
  if (!choice) return nullptr;
  auto plan = std::make_unique<StageByPositions>(problem, *choice);
  return plan->fits() ? std::move(plan) : nullptr;
}

std::unique_ptr<Compiled> make_stage_by_taps(const Problem& problem) {
  const std::optional<Choice> choice = choose(problem, Columns::along_taps);
  if (!choice || (choice->across >= 0 && problem.windows[choice->across].kernel > StageByTaps::most_rows)) return nullptr;
  auto plan = std::make_unique<StageByTaps>(problem, *choice);
  return plan->fits() ? std::move(plan) : nullptr;
}

}  // namespace patchfold::engine
