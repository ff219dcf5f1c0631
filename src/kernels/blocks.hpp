// SPDX-License-Identifier: Apache-2.0
// Regroups small elements within registers.
//
// Split distributes the elements of a row to `ways` streams in turn: r g b r g b .. becomes r r .. g g .. b b ... Join is the
// inverse. Split and join load whole vectors, move lanes between them, and store whole vectors. The strategy "streams" of the
// engine calls split and join for operators that move single elements, such as space_to_depth or patches with stride = kernel.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/stream.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold::kernels {

/// Returns whether split and join have code for `ways` streams of elements of `unit` bytes.
bool has_vectors(std::int64_t unit, std::int64_t ways) noexcept;

/// The work of one split or join: `rows` rows, each of `count` groups of `ways` elements.
struct Streams {
  std::int64_t ways = 1;
  std::int64_t pitch = 0;  ///< bytes from stream to stream
  std::int64_t count = 0;  ///< elements of a stream in a row
  std::int64_t rows = 1;
  std::int64_t row_pitch = 0;         ///< bytes from row to row on the side where elements lie together
  std::int64_t stream_row_pitch = 0;  ///< bytes from row to row of a stream; count * unit if the rows have no gaps
  std::int64_t prefetch = 0;          ///< bytes that reads are prefetched ahead; 0: none
};

/// Copies dst[way * pitch + row * stream_row_pitch + i * unit] = src[row * row_pitch + (i * ways + way) * unit]. `unit` must
/// be 1, 2, 4 or 8, and `ways` must be 2, 3, 4, 8 or 16.
void split(std::byte* dst, const std::byte* src, std::int64_t unit, const Streams& streams, Store store) noexcept;

/// Returns the size in bytes of the vectors that split and join use; both are fast only for rows that fill a vector.
std::int64_t vector_bytes() noexcept;

/// Returns whether a row consists of whole vectors, and `ways` is not 3, so that split and join can write whole lines.
bool streams_whole(std::int64_t unit, const Streams& streams) noexcept;

/// The change of an element that is added to +0: integers do not change, -0 becomes +0, signalling NaNs become quiet, and booleans
/// become 0 or 1.
enum class Finish : std::uint8_t { none, float32, float64, float16, bfloat16, boolean };
Finish finish_of(DType dtype) noexcept;
/// Adds +0 to each element of the type `finish` in the `bytes` bytes from `elements` on.
void finish_elements(std::byte* elements, std::int64_t bytes, Finish finish) noexcept;

/// Copies dst[row * row_pitch + (i * ways + way) * unit] = src[way * pitch + row * stream_row_pitch + i * unit], changed as
/// `finish` says, for the units and ways of split().
void join(std::byte* dst, const std::byte* src, std::int64_t unit, const Streams& streams, Store store,
          Finish finish) noexcept;

}  // namespace patchfold::kernels
