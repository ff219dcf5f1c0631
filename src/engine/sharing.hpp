// SPDX-License-Identifier: Apache-2.0
// Shares rows of work out over threads: decides the number of pieces, and the rows of each piece.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace patchfold::engine {

/// The fewest bytes of a piece that is worth another thread. Copying so many bytes takes 10 us; waking a thread takes 2 to
/// 32 us.
inline constexpr double bytes_per_piece = 128 * 1024;
/// The number of pieces for each thread, so that a thread that ends early can take more pieces (arbitrary).
inline constexpr double pieces_per_thread = 4;

/// The most bytes of a piece, so that work can soon be stopped between two pieces (arbitrary: some milliseconds of
/// copying).
inline constexpr double most_bytes_of_piece = 32 * 1024 * 1024;

/// Returns the number of pieces for work that reads and writes `bytes`.
inline std::int64_t piece_count(int threads, std::int64_t rows, double bytes) noexcept {
  if (rows <= 1) return 1;
  const double shared = threads <= 1 ? 1 : static_cast<double>(threads) * pieces_per_thread;
  const double wanted = std::min(bytes / bytes_per_piece, std::max(shared, bytes / most_bytes_of_piece));
  return static_cast<std::int64_t>(std::clamp(wanted, 1.0, static_cast<double>(rows)));
}

/// Returns the rows [first, last) of a piece. The numbers of rows differ by at most one between pieces.
inline std::pair<std::int64_t, std::int64_t> rows_of_piece(std::int64_t piece, std::int64_t pieces,
                                                           std::int64_t rows) noexcept {
  // The formula avoids rows * piece, which might exceed 64 bits.
  const std::int64_t each = rows / pieces;
  const std::int64_t rest = rows % pieces;
  const std::int64_t first = piece * each + std::min(piece, rest);
  return {first, first + each + (piece < rest ? 1 : 0)};
}

}  // namespace patchfold::engine
