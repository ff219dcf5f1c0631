// SPDX-License-Identifier: Apache-2.0
// Along a row of the image, the elements of one residue modulo the stride form a phase: a tap points at neighbours of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/problem.hpp"
#include "kernels/tile.hpp"
#include "tensor/checked.hpp"

namespace patchfold::engine {

/// Vectors of a phase that one kernel call sums: only the first and the last may have lanes that do not count.
struct TileChunk {
  std::int64_t first = 0;  ///< vector
  std::int64_t vectors = 1;
  std::int64_t repeats = 1;                ///< as many chunks like this follow each other
  std::vector<kernels::TileMask> masks{};  ///< by tap of the phase
};

struct TilePhase {
  struct Tap {
    std::int64_t offset = 0;  ///< bytes from the columns' origin to what element 0 of the phase would receive
    std::int64_t from = 0;    ///< lanes of the phase that receive something: [from, to)
    std::int64_t to = 0;
  };
  std::int64_t lanes = 0;
  std::vector<Tap> taps{};  ///< ascending
  std::vector<TileChunk> chunks{};

  /// Cuts the phase into chunks for vectors of so many lanes. False where taps begin and end in so many places that their
  /// masks would fill a memory of their own.
  bool cut(std::int64_t vector_lanes);
};

/// The phases of a window along the row, for elements of `parts` lanes of `lane_size` bytes.
std::vector<TilePhase> phases_of(const Window& window, std::int64_t parts, std::int64_t lane_size);

}  // namespace patchfold::engine
