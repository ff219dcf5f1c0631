// SPDX-License-Identifier: Apache-2.0
#include "engine/copies/stage_writer.hpp"

#include <algorithm>
#include <cstring>

#include "engine/window.hpp"
#include "kernels/blocks.hpp"
#include "kernels/move.hpp"
#include "kernels/piece.hpp"

namespace patchfold::engine {

std::int64_t stage_pitch(std::int64_t bytes) noexcept {
  constexpr std::int64_t page = 4096;
  const std::int64_t lines = ceil_div(bytes, kernels::line_bytes) * kernels::line_bytes;
  return lines % page == 0 ? lines + kernels::line_bytes : lines;
}

StageWriter::StageWriter(const Problem& problem, const Window& window, std::int64_t unit, bool by_residue)
    : window_(window), unit_(unit), element_size_(problem.element_size), fill_(problem.fill), indices_(window, by_residue) {
  // Splitting fills every slot, which is wasted where few are needed.
  splits_ = kernels::has_vectors(unit, indices_.stride) && 2 * indices_.slots() >= indices_.stride;
  if (splits_) indices_.use_all_slots();
  slot_pitch_ = stage_pitch(indices_.count * unit);
  pitch_ = stage_pitch(indices_.slots() * slot_pitch_);
  from_ = std::clamp<std::int64_t>(0, indices_.low, indices_.low + indices_.count);
  end_ = std::clamp(window_.extent / indices_.stride, from_, indices_.low + indices_.count);
}

void StageWriter::prepare(std::byte* to, std::int64_t rows) const noexcept {
  // What lies beside the image is the same in every row, and no row overwrites it.
  if (window_.mode != PaddingMode::constant) return;
  for (; rows > 0; --rows, to += pitch_) write_outside(to);
}

void StageWriter::write_outside(std::byte* to) const noexcept {
  for (std::int64_t slot = 0; slot < indices_.slots(); ++slot) fill(to + slot * slot_pitch_, indices_.count);
}

void StageWriter::write(std::byte* to, const std::byte* image, std::int64_t image_pitch, std::int64_t rows) const noexcept {
  const std::int64_t low = indices_.low, stride = indices_.stride, count = end_ - from_;
  std::byte* inside = to + (from_ - low) * unit_;
  const std::byte* from = image + from_ * stride * unit_;
  kernels::Ahead none{};
  if (count > 0 && stride == 1) {
    kernels::copy_rows(inside, pitch_, from, image_pitch, count * unit_, rows, kernels::Store::plain, none);
  } else if (count > 0 && splits_) {
    kernels::split(inside, from, unit_, {stride, slot_pitch_, count, rows, image_pitch, pitch_, 0}, kernels::Store::plain);
  } else if (count > 0) {
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t slot = 0; slot < indices_.slots(); ++slot)
        kernels::copy_row(inside + row * pitch_ + slot * slot_pitch_, unit_,
                          from + row * image_pitch + indices_.residue(slot) * unit_, stride * unit_, count, unit_);
  }
  const bool constant = window_.mode == PaddingMode::constant;
  for (std::int64_t slot = 0; slot < indices_.slots(); ++slot) {
    const std::int64_t residue = indices_.residue(slot);
    // The last residues have an element less inside the image.
    const std::int64_t end =
        constant ? std::clamp(ceil_div(window_.extent - residue, stride), end_, low + indices_.count) : low + indices_.count;
    if (end == end_ && (constant || from_ == low)) continue;
    for (std::int64_t row = 0; row < rows; ++row) {
      std::byte* slot_row = to + row * pitch_ + slot * slot_pitch_;
      if (!constant) copy_elements(slot_row, image + row * image_pitch, residue, low, from_);
      copy_elements(slot_row, image + row * image_pitch, residue, end_, end);
    }
  }
}

/// One by one, wherever their coordinates lie.
void StageWriter::copy_elements(std::byte* to, const std::byte* image_row, std::int64_t residue, std::int64_t from,
                                std::int64_t end) const noexcept {
  for (std::int64_t m = from; m < end; ++m) {
    const std::int64_t c = m * indices_.stride + residue;
    const Run run = run_at(window_, c);
    if (!run.outside) kernels::copy_piece(to + (m - indices_.low) * unit_, image_row + source_at(run, c) * unit_, unit_);
  }
}

void StageWriter::fill(std::byte* to, std::int64_t count) const noexcept {
  kernels::fill_row(to, unit_, fill_.data(), element_size_, count, unit_);
}

}  // namespace patchfold::engine
