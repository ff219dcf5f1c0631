// SPDX-License-Identifier: Apache-2.0
// Extracts by way of a stage with columns that run along taps, such as patches of images with channels last.
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

/// A ring of as many rows as a window reads; each row of positions adds the rows that are new.
class StageTaps final : public Stage {
 public:
  StageTaps(const Problem& problem, const StageChoice& choice) : Stage(problem, choice, false) {
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

std::unique_ptr<Compiled> make_stage_taps(const Problem& problem) {
  const std::optional<StageChoice> choice = choose_stage(problem, Columns::along_taps);
  if (!choice || (choice->across >= 0 && problem.windows[choice->across].kernel > StageTaps::most_rows)) return nullptr;
  auto plan = std::make_unique<StageTaps>(problem, *choice);
  return plan->fits() ? std::move(plan) : nullptr;
}

}  // namespace patchfold::engine
