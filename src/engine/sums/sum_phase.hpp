// SPDX-License-Identifier: Apache-2.0
// Along a row of the image, the elements of one residue modulo the stride form a phase. Neighbouring positions of a tap
// point at neighbours of one phase, so that a vector of column elements is added to a vector of sums.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/problem.hpp"
#include "kernels/panel.hpp"
#include "tensor/checked.hpp"

namespace patchfold::engine {

/// Vectors of a phase that one kernel call sums: only the first and the last may have lanes that do not count.
struct SumChunk {
  std::int64_t first = 0;  ///< vector
  std::int64_t vectors = 1;
  std::int64_t repeats = 1;                 ///< as many chunks like this follow each other
  std::vector<kernels::PanelMask> masks{};  ///< by tap of the phase
};

/// The elements of one residue, and the taps that point at them. It is cut into chunks of vectors; where a tap points at
/// some lanes of a vector only, near the borders, the chunk has masks.
struct SumPhase {
  struct Tap {
    std::int64_t offset = 0;  ///< bytes from the columns' origin to what element 0 of the phase would receive
    std::int64_t from = 0;    ///< lanes of the phase that receive something: [from, to)
    std::int64_t to = 0;
  };
  std::int64_t lanes = 0;
  std::vector<Tap> taps{};  ///< ascending
  std::vector<SumChunk> chunks{};

  /// Cuts the phase into chunks of up to `most_vectors` vectors of so many lanes. False if the masks would take too much
  /// memory, since taps begin and end in very many places.
  bool cut(std::int64_t vector_lanes, std::int64_t most_vectors);
};

/// The phases of a window along the row, for elements of `parts` lanes of `lane_size` bytes.
std::vector<SumPhase> phases_of(const Window& window, std::int64_t parts, std::int64_t lane_size);

}  // namespace patchfold::engine
