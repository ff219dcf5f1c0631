// SPDX-License-Identifier: Apache-2.0
// One row of a stage: an image row with what lies outside of it filled in, split by residue.
#pragma once

#include <array>
#include <cstddef>

#include "engine/problem.hpp"
#include "engine/staged_window.hpp"

namespace patchfold::engine {

class StageRow {
 public:
  /// `unit`: bytes of an element of the row, which lie together in the image.
  StageRow(const Problem& problem, const Window& window, std::int64_t unit, bool by_residue);

  /// Writes a row from an image row, or from nothing (nullptr).
  void write(std::byte* to, const std::byte* image_row) const noexcept;

  const StagedWindow& indices() const noexcept { return indices_; }
  /// Bytes from the row's start to where position 0 of a tap stands.
  std::int64_t offset(std::int64_t tap) const noexcept {
    const StagedWindow::Tap& t = indices_.taps[static_cast<std::size_t>(tap)];
    return t.slot * slot_pitch_ + (t.shift - indices_.low) * unit_;
  }
  std::int64_t pitch() const noexcept { return pitch_; }

 private:
  void fill(std::byte* to, std::int64_t count) const noexcept;
  void write_margin(std::byte* to, const std::byte* image_row, std::int64_t residue, std::int64_t from,
                    std::int64_t end) const noexcept;
  void write_slot(std::byte* to, const std::byte* image_row, std::int64_t slot, std::int64_t from,
                  std::int64_t end) const noexcept;

  Window window_;
  std::int64_t unit_;
  std::int64_t element_size_;
  std::array<std::byte, 16> fill_;
  StagedWindow indices_;
  bool splits_ = false;  // by the vector kernel
  std::int64_t slot_pitch_ = 0;
  std::int64_t pitch_ = 0;
};

/// Bytes from row to row of a stage: whole lines, and not a multiple of a page, whose lines would share few places in a
/// cache.
std::int64_t stage_pitch(std::int64_t bytes) noexcept;

}  // namespace patchfold::engine
