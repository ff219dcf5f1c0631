// SPDX-License-Identifier: Apache-2.0
#include "engine/sums/sum_writer.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "kernels/blocks.hpp"
#include "kernels/piece.hpp"
#include "tensor/checked.hpp"

namespace patchfold::engine {

using kernels::line_bytes;
using kernels::Store;

void SumWriter::plan(std::int64_t band_rows) noexcept {
  if (phases == 1) return;
  constexpr std::int64_t wanted = 8 << 10;  // bytes that stay in the first cache
  // Rows that end at the end of a line together.
  const std::int64_t whole = line_bytes / std::gcd(row_bytes, line_bytes);
  joined_rows = std::min(band_rows, ceil_div(wanted, row_bytes * whole) * whole);
}

std::int64_t SumWriter::joined_bytes() const noexcept {
  return ceil_div(joined_rows * row_bytes, line_bytes) * line_bytes;
}

void SumWriter::write(std::byte* dst, std::int64_t pitch, std::int64_t rows, const std::byte* sums, std::byte* joined,
                      const std::byte* end, kernels::Ahead& ahead) const noexcept {
  const bool joins = phases > 1;
  const std::int64_t group = joins ? joined_rows : rows;
  const std::int64_t from_pitch = joins ? row_bytes : sums_pitch;
  for (std::int64_t row = 0; row < rows; row += group) {
    const std::int64_t here = std::min(group, rows - row);
    const std::byte* from = sums + row * sums_pitch;
    if (joins) {
      join(joined, from, here);
      from = joined;
    }
    if (onto != nullptr) {
      for (std::int64_t i = 0; i < here; ++i)
        onto->store_add(dst + (row + i) * pitch, element, from + i * from_pitch, row_bytes / element);
      ahead.advance(here * row_bytes / line_bytes);
    } else if (row_bytes < 2 * line_bytes && pitch == row_bytes && store == Store::past_cache) {
      kernels::gather(dst + row * pitch, {&from, 1, from_pitch, row_bytes, end}, here, store, ahead);
    } else {
      kernels::copy_rows(dst + row * pitch, pitch, from, from_pitch, row_bytes, here, store, ahead);
    }
  }
}

void SumWriter::join(std::byte* to, const std::byte* sums, std::int64_t rows) const noexcept {
  const std::int64_t whole = row_bytes / element / phases;  // elements that every phase has
  const std::int64_t rest = row_bytes / element % phases;
  const bool vectors = kernels::has_vectors(element, phases);
  if (vectors)
    kernels::join(to, sums, element, {phases, phase_pitch, whole, rows, row_bytes, sums_pitch, 0}, Store::plain,
                  kernels::Finish::none);
  if (vectors && rest == 0) return;
  for (std::int64_t row = 0; row < rows; ++row, to += row_bytes, sums += sums_pitch) {
    std::array<const std::byte*, most_phases> starts;
    for (std::int64_t i = 0; i < phases; ++i) starts[static_cast<std::size_t>(i)] = sums + i * phase_pitch;
    kernels::Ahead none{};
    if (!vectors) kernels::gather(to, {starts.data(), phases, element, element, sums}, whole, Store::plain, none);
    for (std::int64_t i = 0; i < rest; ++i)
      kernels::copy_piece(to + (whole * phases + i) * element, starts[static_cast<std::size_t>(i)] + whole * element,
                          element);
  }
}

}  // namespace patchfold::engine
