// SPDX-License-Identifier: Apache-2.0
// Writes rows of a stage: rows of the image with padding, split by residue.
#pragma once

#include <array>
#include <cstddef>

#include "engine/copies/staged_window.hpp"
#include "engine/problem.hpp"

namespace patchfold::engine {

/// Writes single rows of a stage. A row of a stage holds what one row of the image gives to a window along it: a slot for
/// each residue modulo the window's stride (see StagedWindow), in which what lies outside the image is filled in. Strategies
/// with a stage hold one, and decide which rows of the image are written where.
class StageWriter {
 public:
  /// `unit`: bytes of an element of the row, which lie together in the image.
  StageWriter(const Problem& problem, const Window& window, std::int64_t unit, bool by_residue);

  /// Prepares memory for `rows` rows; needed once, however often rows are then written there.
  void prepare(std::byte* to, std::int64_t rows) const noexcept;
  /// Writes `rows` rows from image rows.
  void write(std::byte* to, const std::byte* image, std::int64_t image_pitch, std::int64_t rows) const noexcept;
  /// Writes a row that reads nothing.
  void write_outside(std::byte* to) const noexcept;

  const StagedWindow& indices() const noexcept { return indices_; }
  /// Bytes from the row's start to where position 0 of a tap stands.
  std::int64_t offset(std::int64_t tap) const noexcept {
    const StagedWindow::Tap& t = indices_.taps[static_cast<std::size_t>(tap)];
    return t.slot * slot_pitch_ + (t.shift - indices_.low) * unit_;
  }
  std::int64_t pitch() const noexcept { return pitch_; }

 private:
  void fill(std::byte* to, std::int64_t count) const noexcept;
  void copy_elements(std::byte* to, const std::byte* image_row, std::int64_t residue, std::int64_t from,
                     std::int64_t end) const noexcept;

  Window window_;
  std::int64_t unit_;
  std::int64_t element_size_;
  std::array<std::byte, 16> fill_;
  StagedWindow indices_;
  bool splits_ = false;    // by the vector kernel
  std::int64_t from_ = 0;  // elements [from, end) of every slot lie inside the image
  std::int64_t end_ = 0;
  std::int64_t slot_pitch_ = 0;
  std::int64_t pitch_ = 0;
};

/// Bytes from row to row of a stage: whole lines, and not a multiple of a page, whose lines would share few places in a
/// cache.
std::int64_t stage_pitch(std::int64_t bytes) noexcept;

}  // namespace patchfold::engine
