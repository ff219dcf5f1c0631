// SPDX-License-Identifier: Apache-2.0
// Problems drawn at random, and how long they take in multiples of a copy.
#pragma once

#include <cstdint>
#include <string>

#include "bench/measure.hpp"
#include "bench/placed.hpp"

namespace patchfold::bench {

/// Bounds for the elements of both tensors together, in bytes.
struct SizeRange {
  std::int64_t least = std::int64_t{1} << 17;
  std::int64_t most = std::int64_t{1} << 26;
};

/// Returns problem `index` of the sequence of `seed`: equal on every machine, and independent of other draws. Operators, kernels of
/// 1 to 32, strides, dilations, pads, element types, shapes and both layouts are random.
PlacedProblem draw(std::uint64_t seed, std::int64_t index, const SizeRange& sizes = {});

/// A row of the result. Times and ratios are medians over the rounds; a ratio compares times of one round.
struct RandomMeasurement {
  std::int64_t index = 0;
  PlacedProblem placed{};
  int threads = 1;
  double seconds = 0;  ///< of the operator
  double bytes = 0;    ///< of the memory of both tensors, with gaps
  double of_copy = 0;  ///< time / the faster of memcpy and a non-temporal copy, from half of these bytes to the other half
  Plan plan{};
};

/// Runs the problem on the library's own threads, whose number it sets. Needs memory for both tensors, and once more for the larger
/// tensor.
RandomMeasurement measure_random(std::int64_t index, const PlacedProblem& placed, int threads, const Settings& settings);

}  // namespace patchfold::bench
