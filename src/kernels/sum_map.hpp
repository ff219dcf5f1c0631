// SPDX-License-Identifier: Apache-2.0
// Sums overlapping columns by a program that was written beforehand.
//
// All maps of a problem (say, the images of channels) add the same taps in the same places. So a program is written once.
// The program lists the terms to add to each run of a few neighbouring vectors of the map. A term that not all lanes get has
// masks, which mark the lanes that get it. The kernel runs the program for one map after another. A program knows no
// borders, rows or strides: vectors go across the ends of rows, and lanes to which a term adds nothing are masked.
//
// Accumulators of sums begin as +0 and terms are added in the given order, as in kernels/sum.hpp, so both kernels give equal
// bits. The functions of engine/sums/sum_program.hpp write programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "patchfold/tensor.hpp"

namespace patchfold::kernels {

/// A step adds a few terms to sums. The vectors of a term lie side by side in the columns of a map, and the vectors of the sums lie
/// side by side in the map.
struct SumStep {
  std::int64_t first = 0;  ///< index of the first term in SumProgram::terms
  std::int32_t count = 0;  ///< 0 to most_step_terms
  bool begins = false;     ///< the sums begin with this step
  std::int64_t to = 0;     ///< lanes from the map's first sum
  std::int64_t vectors = 0;
  /// The offset in SumProgram::masks, where each vector has a bit for each lane of each term; -1 if each term has all lanes.
  std::int64_t masks = 0;
  std::int64_t low = 0;  ///< the terms read the bytes [low, high) of the columns
  std::int64_t high = 0;
};
inline constexpr std::int64_t most_step_terms = 8;

/// A term of a run: vectors that lie side by side in the columns of a map and are added to the vectors of the run.
struct SumTerm {
  std::int64_t offset = 0;  ///< bytes from the map's columns to its first vector
  std::int64_t masks = 0;   ///< offset in SumProgram::masks: for each vector of the run a bit for each lane that gets the term
};

/// Vectors that lie side by side in the map, and their terms.
struct SumRun {
  std::int64_t to = 0;     ///< lanes from the map's first sum
  std::int64_t first = 0;  ///< index of the first term in SumProgram::terms
  std::int32_t count = 0;
  std::int32_t vectors = 1;  ///< a power of two, 1 to SumMapKernel::most_vectors
  std::int64_t low = 0;      ///< the terms read the bytes [low, high) of the columns
  std::int64_t high = 0;
};

/// A program that adds the terms of a map, made of steps or of runs. Steps are in the order of the columns in memory, and the first
/// steps begin the sums, which stay in the first-level cache. Runs are for maps so small that the order in memory does not matter:
/// the sums of a run stay in registers. Runs ascend: the last vector of each may have lanes beyond the run, and the next run writes
/// those elements again.
struct SumProgram {
  std::span<const SumStep> steps{};
  std::span<const SumRun> runs{};
  const SumTerm* terms = nullptr;
  const std::uint8_t* masks = nullptr;  ///< with 8 bytes to spare at its end
  std::int64_t lanes = 0;               ///< number of lanes of the map
  /// For means: the number of terms of each lane, 1 for a lane without terms; two vectors of counts follow behind the last lane.
  const double* counts = nullptr;
};

/// A map, with the memory for its sums.
struct SumMap {
  const std::byte* src = nullptr;  ///< the map's columns
  std::byte* to = nullptr;         ///< elements, rounded; one vector beyond the last element is written, too
  std::byte* sums = nullptr;       ///< accumulators of steps if `to` cannot hold them; room for one vector more
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;    ///< nothing outside of [begin, end) is read
  const std::byte* ahead = nullptr;  ///< prefetched while runs are summed: [ahead, ahead_end)
  const std::byte* ahead_end = nullptr;
  bool* certain = nullptr;  ///< becomes false if needs_care() (kernels/mean.hpp) may be true for a mean
};

/// The kernel of one element type on one instruction set; it lives as long as the process.
struct SumMapKernel {
  std::int64_t lanes = 1;       ///< number of lanes of a vector of accumulators
  std::int64_t lane_size = 1;   ///< bytes of a lane in memory: an element, or half a complex number
  std::int64_t sum_size = 1;    ///< bytes of a lane of accumulators
  std::int64_t mask_bytes = 1;  ///< bytes of the mask of one vector
  std::int64_t most_vectors = 1;
  void (*sum)(const SumProgram& program, const SumMap& map) = nullptr;
};

/// Returns the kernel for a summable type, on the instruction set in use.
const SumMapKernel& sum_map_kernel(DType dtype) noexcept;

/// Returns the kernel for means, which are computed as kernels/mean.hpp says; each mean must have at most 2^15 terms.
const SumMapKernel& mean_map_kernel(DType dtype) noexcept;

}  // namespace patchfold::kernels
