// SPDX-License-Identifier: Apache-2.0
// Sums of many columns into a tile of rows that stays in registers, so that each column is read in long runs. Accumulators
// begin as +0 and terms are added in the order given, as in kernels/sum.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "patchfold/tensor.hpp"

namespace patchfold::kernels {

/// The lanes of a term that count in the first and in the last vector of a row: [from, to).
struct TileMask {
  std::int16_t first_from = 0;
  std::int16_t first_to = 0;
  std::int16_t last_from = 0;
  std::int16_t last_to = 0;
};

/// A column, or a part of one.
struct TileTerm {
  std::int64_t offset = 0;  ///< bytes
  std::int64_t mask = 0;    ///< index of its masks
};

struct Tile {
  const TileTerm* terms = nullptr;
  std::int64_t count = 0;
  const TileMask* masks = nullptr;
  const std::byte* src = nullptr;  ///< what offsets count from, for the tile's first row
  std::int64_t vectors = 1;        ///< of a row, 1 to most_tile_vectors
  std::int64_t rows = 1;
  std::int64_t src_pitch = 0;  ///< bytes from row to row, in each term
  std::byte* to = nullptr;     ///< elements, rounded; rows of whole vectors
  std::int64_t to_pitch = 0;
  std::int64_t prefetch = 0;  ///< bytes ahead in each term; 0: none
  /// Outside of the masks a vector may reach beyond its column, but nothing is read outside of [begin, end).
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
  std::int64_t low = 0;  ///< of the offsets
  std::int64_t high = 0;
};

inline constexpr std::int64_t most_tile_vectors = 8;

/// The kernel of a type on one instruction set.
struct TileKernel {
  std::int64_t lanes = 1;      ///< of a vector of accumulators
  std::int64_t lane_size = 1;  ///< bytes of a lane in memory: of an element, or of half a complex number
  void (*sum)(const Tile& tile) = nullptr;
  std::int64_t (*rows)(std::int64_t vectors) = nullptr;  ///< rows of so many vectors that registers hold
};

/// For a summable type, on the instruction set in use.
const TileKernel& tile_kernel(DType dtype) noexcept;

}  // namespace patchfold::kernels
