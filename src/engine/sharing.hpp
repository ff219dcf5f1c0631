// SPDX-License-Identifier: Apache-2.0
// How rows of work are shared out: into how many pieces, and which rows each one is.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace patchfold::engine {

/// Bytes that are worth handing to another thread: some 10 us of copying, where waking a thread takes 2 to 32 us.
inline constexpr double bytes_per_piece = 128 * 1024;
/// Pieces for each thread, so that one that ends early takes more (arbitrary).
inline constexpr double pieces_per_thread = 4;

/// Pieces for work that reads and writes `bytes`; at most `most_each` for each thread.
inline std::int64_t piece_count(int threads, std::int64_t rows, double bytes,
                                double most_each = pieces_per_thread) noexcept {
  if (threads <= 1 || rows <= 1) return 1;
  // As many for every thread, so that none waits for another's last piece.
  const double each = std::max(1.0, std::floor(std::min(pieces_per_thread, most_each)));
  const double wanted = std::min(bytes / bytes_per_piece, static_cast<double>(threads) * each);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(wanted), 1, rows);
}

/// First and last row of a piece; they differ by one row at most.
inline std::pair<std::int64_t, std::int64_t> rows_of_piece(std::int64_t piece, std::int64_t pieces,
                                                           std::int64_t rows) noexcept {
  // rows * piece may not fit into 64 bits.
  const std::int64_t each = rows / pieces;
  const std::int64_t rest = rows % pieces;
  const std::int64_t first = piece * each + std::min(piece, rest);
  return {first, first + each + (piece < rest ? 1 : 0)};
}

}  // namespace patchfold::engine
