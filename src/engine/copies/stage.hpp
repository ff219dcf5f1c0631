// SPDX-License-Identifier: Apache-2.0
// Base class of the extracts by way of a stage.
#pragma once

#include <array>
#include <optional>

#include "engine/compiled.hpp"
#include "engine/copies/stage_writer.hpp"
#include "engine/copies/staged_window.hpp"
#include "engine/machine.hpp"
#include "engine/rows.hpp"
#include "engine/window.hpp"
#include "kernels/stream.hpp"

namespace patchfold::engine {

/// The two windows that are staged, and what moves in one piece.
struct StageChoice {
  std::int64_t unit = 1;
  int along = -1;   ///< window whose coordinates are `unit` bytes apart
  int across = -1;  ///< window whose coordinates are rows of the image; -1 if there is but one window
};

/// Whether neighbours in a column of the destination are positions, or taps, of the window `along`.
enum class Columns { along_positions, along_taps };

/// The windows to stage; nothing for a problem that does not extract, or whose columns run along neither of both.
std::optional<StageChoice> choose_stage(Problem problem, Columns columns);

/// A stage is a part of scratch memory that holds rows of the image: what lies outside the image is filled in, and the
/// elements are sorted by residue modulo the stride. It takes a few hundred kilobytes and stays in the cache. Whoever reads
/// it meets no borders and no strides: every column is a run of rows that lie in equal steps. Two windows are staged: x,
/// whose coordinates are neighbours in memory, and y, whose coordinates are rows of the image. All other axes choose which
/// part of the image is staged. Derived classes decide when rows are staged and write the columns.
class Stage : public Compiled {
 public:
  Stage(const Problem& problem, const StageChoice& choice, bool by_residue);

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
                  std::int64_t end) const noexcept;

  /// The rows of the image that the elements [from, end) of a slot read, to be fetched while `lines` lines are written.
  kernels::Ahead ahead_of(const std::byte* src, const Place& at, std::int64_t slot, std::int64_t from, std::int64_t end,
                          std::int64_t lines) const noexcept;

  std::int64_t unit_;
  Window x_, y_;
  StageWriter row_;
  StagedWindow rows_of_y_;
  kernels::Store store_;
  AxisList outer_{};
  AxisList taps_{};  // of windows that are not staged
};

}  // namespace patchfold::engine
