// SPDX-License-Identifier: Apache-2.0
// What splitting and joining share: which dims of a problem are streams.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/copies/windowless.hpp"
#include "kernels/blocks.hpp"

namespace patchfold::engine {

/// Bytes that are worth writing past the cache in one go: partial lines at their ends are read first (arbitrary: 64 lines).
inline constexpr std::int64_t run_bytes = 4096;

/// Bytes of the shortest row that two to four streams win with, whatever the vectors (arbitrary: two vectors of SSE4); and
/// of the shortest that is worth a call of its own, where rows do not follow one another.
inline constexpr std::int64_t shortest_row_bytes = 32, shortest_single_bytes = 1024;

/// Of the dims of a split or a join, those that the kernel takes. For a split "apart" is the destination, for a join the
/// source: the side where a stream is contiguous.
struct Streamed {
  Dim ways{};
  Dim along{};
  Dim rows{};  ///< continues the streams
};

inline std::int64_t apart(const Dim& dim, bool joins) {
  return joins ? dim.src_stride : dim.dst_stride;
}
inline std::int64_t together(const Dim& dim, bool joins) {
  return joins ? dim.dst_stride : dim.src_stride;
}

/// Takes the streams' dims out of `dims`; ways.extent is 1 if there are none.
inline Streamed take_streams(DimList& dims, std::int64_t unit, bool joins) {
  DimList rest = dims;
  Streamed streamed;
  streamed.ways = take(
      rest, find(rest, [&](const Dim& d) { return together(d, joins) == unit && kernels::has_vectors(unit, d.extent); }));
  if (streamed.ways.extent == 1) return {};
  streamed.along = take(rest, find(rest, [&](const Dim& d) {
                          return apart(d, joins) == unit && together(d, joins) == streamed.ways.extent * unit;
                        }));
  if (streamed.along.extent * unit * streamed.ways.extent < kernels::line_bytes) return {};
  streamed.rows = take(rest, find(rest, [&](const Dim& d) {
                         return apart(d, joins) == streamed.along.extent * unit && together(d, joins) > 0;
                       }));
  dims = rest;
  return streamed;
}

/// Whether streams are faster than bricks (strategy "strided"): rows are long, or follow one another. Two or four streams
/// are, if a row fills a vector; so are three, except in a split past the cache. All others are only past the cache, if a
/// row has a few lines there: 256 bytes, or one line for two or three streams of elements of 1 or 2 bytes.
inline bool streams_pay(const Problem& problem, bool joins) {
  if (!problem.windows.empty()) return false;
  Problem rest = problem;
  const std::int64_t unit = take_unit(rest);
  const Streamed streamed = take_streams(rest.dims, unit, joins);
  const std::int64_t ways = streamed.ways.extent, row_bytes = streamed.along.extent * unit;
  if (ways == 1 || (streamed.rows.extent == 1 && row_bytes < shortest_single_bytes)) return false;
  const bool past_cache = store_of(problem) == kernels::Store::past_cache;
  const bool few = ways == 2 || ways == 4 || (ways == 3 && (joins || !past_cache));
  if (few && row_bytes >= std::max(shortest_row_bytes, kernels::vector_bytes())) return true;
  return past_cache && row_bytes >= (unit <= 2 && ways <= 3 ? kernels::line_bytes : 256);
}

}  // namespace patchfold::engine
