// SPDX-License-Identifier: Apache-2.0
#include "engine/stage_row.hpp"

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

StageRow::StageRow(const Problem& problem, const Window& window, std::int64_t unit, bool by_residue)
    : window_(window), unit_(unit), element_size_(problem.element_size), fill_(problem.fill), indices_(window, by_residue) {
  // Splitting fills every slot, which is wasted where few are needed.
  splits_ = kernels::has_vectors(unit, indices_.stride) && 2 * indices_.slots() >= indices_.stride;
  if (splits_) indices_.use_all_slots();
  slot_pitch_ = stage_pitch(indices_.count * unit);
  pitch_ = stage_pitch(indices_.slots() * slot_pitch_);
}

void StageRow::write(std::byte* to, const std::byte* image_row) const noexcept {
  const std::int64_t low = indices_.low;
  const std::int64_t high = low + indices_.count;
  if (image_row == nullptr) {
    for (std::int64_t slot = 0; slot < indices_.slots(); ++slot) fill(to + slot * slot_pitch_, indices_.count);
    return;
  }
  // The elements [from, end) of every slot lie inside the image.
  const std::int64_t from = std::clamp<std::int64_t>(0, low, high);
  const std::int64_t end = std::clamp(window_.extent / indices_.stride, from, high);
  if (splits_ && end > from)
    kernels::split(to + (from - low) * unit_, image_row + from * indices_.stride * unit_, unit_,
                   {indices_.stride, slot_pitch_, end - from, 1, 0, 0}, kernels::Store::plain);
  for (std::int64_t slot = 0; slot < indices_.slots(); ++slot)
    write_slot(to + slot * slot_pitch_, image_row, slot, from, end);
}

void StageRow::write_slot(std::byte* to, const std::byte* image_row, std::int64_t slot, std::int64_t from,
                          std::int64_t end) const noexcept {
  const std::int64_t low = indices_.low;
  const std::int64_t residue = indices_.residue(slot);
  write_margin(to, image_row, residue, low, from);
  if (!splits_ && end > from)
    kernels::copy_row(to + (from - low) * unit_, unit_, image_row + (from * indices_.stride + residue) * unit_,
                      indices_.stride * unit_, end - from, unit_);
  write_margin(to, image_row, residue, end, low + indices_.count);
}

void StageRow::write_margin(std::byte* to, const std::byte* image_row, std::int64_t residue, std::int64_t from,
                            std::int64_t end) const noexcept {
  for (std::int64_t m = from; m < end; ++m) {
    const std::int64_t c = m * indices_.stride + residue;
    std::byte* at = to + (m - indices_.low) * unit_;
    const Run run = run_at(window_, c);
    if (run.outside) {
      // Elements of a slot advance by a stride, so this many lie in the same run.
      const std::int64_t left = end - m;
      const std::int64_t here = c >= 0 ? left : std::min(left, ceil_div(-c, indices_.stride));
      fill(at, here);
      m += here - 1;
    } else {
      kernels::copy_piece(at, image_row + source_at(run, c) * unit_, unit_);
    }
  }
}

void StageRow::fill(std::byte* to, std::int64_t count) const noexcept {
  kernels::fill_row(to, unit_, fill_.data(), element_size_, count, unit_);
}

}  // namespace patchfold::engine
