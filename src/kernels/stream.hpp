// SPDX-License-Identifier: Apache-2.0
// Copies rows of bytes to large outputs in which they lie side by side. A store past the cache must be a whole line of 64 bytes, so
// lines that straddle two rows are put together in a register.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace patchfold::kernels {

inline constexpr std::int64_t line_bytes = 64;

/// The way to write a destination: through the cache, or past it, which is faster if the destination does not fit into the cache.
enum class Store : std::uint8_t { plain, past_cache };

/// Cache lines to prefetch, a few at a time, during other work. The lines form groups of rows.
struct Ahead {
  const std::byte* group = nullptr;
  std::int64_t row_lines = 0;
  std::int64_t rows = 0;
  std::int64_t pitch = 0;  ///< bytes from row to row
  std::int64_t groups = 1;
  std::int64_t group_pitch = 0;
  std::int64_t rate = 0;    ///< lines to prefetch for 256 lines of progress
  std::int64_t row = 0;     ///< next row of the group
  std::int64_t line = 0;    ///< next line of the row
  std::int64_t credit = 0;  ///< lines that are due, in 256ths

  /// Prefetches the lines that are due after `lines` lines of progress.
  void advance(std::int64_t lines) noexcept {
    credit += lines * rate;
    while (credit >= 256) {
      if (row >= rows || groups <= 0) return;
      const std::int64_t here = std::min(credit / 256, row_lines - line);
      const std::byte* at = group + row * pitch + line * line_bytes;
      for (std::int64_t i = 0; i < here; ++i) __builtin_prefetch(at + i * line_bytes);
      credit -= here * 256;
      line += here;
      if (line < row_lines) return;
      line = 0;
      if (++row < rows) continue;
      row = 0;
      group += group_pitch;
      --groups;
    }
  }

  /// Sets the rate so that all lines are prefetched shortly before `lines` lines of progress are made.
  void spread_over(std::int64_t lines) noexcept {
    constexpr std::int64_t haste = 295;  // 1.15 * 256
    rate = rows <= 0 ? 0 : groups * rows * row_lines * haste / std::max<std::int64_t>(1, lines) + 1;
  }
};

/// Copies `rows` rows of `row_bytes` bytes. Pointers and pitches need no alignment. With Store::past_cache, lines of the
/// destination are written whole wherever rows lie side by side (dst_pitch == row_bytes). Call finish_stores() before other threads
/// read the destination.
void copy_rows(std::byte* dst, std::int64_t dst_pitch, const std::byte* src, std::int64_t src_pitch, std::int64_t row_bytes,
               std::int64_t rows, Store store, Ahead& ahead) noexcept;

/// Sources of pieces of `unit` bytes, taken in turn from `ways` rows, each of which advances by `step` bytes.
struct Sources {
  const std::byte* const* rows = nullptr;
  std::int64_t ways = 1;
  std::int64_t step = 0;
  std::int64_t unit = 1;
  const std::byte* end = nullptr;  ///< end of the readable memory
};

/// Copies dst[(i * ways + way) * unit] = rows[way][i * step] for i < count. Writes no other bytes, and reads no byte at or behind
/// `end`.
void gather(std::byte* dst, const Sources& sources, std::int64_t count, Store store, Ahead& ahead) noexcept;

/// Makes stores past the cache visible to other threads. Call finish_stores() after the last copy_rows of a piece of work.
void finish_stores() noexcept;

}  // namespace patchfold::kernels
