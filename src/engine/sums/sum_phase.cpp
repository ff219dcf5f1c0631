// SPDX-License-Identifier: Apache-2.0
#include "engine/sums/sum_phase.hpp"

namespace patchfold::engine {
namespace {

/// Lanes of vector `v` that lie in [from, to).
std::pair<std::int16_t, std::int16_t> within(std::int64_t v, std::int64_t vector_lanes, const SumPhase::Tap& tap) {
  const auto clamp = [&](std::int64_t lane) {
    return static_cast<std::int16_t>(std::clamp<std::int64_t>(lane - v * vector_lanes, 0, vector_lanes));
  };
  return {clamp(tap.from), clamp(tap.to)};
}

}  // namespace

bool SumPhase::cut(std::int64_t vector_lanes, std::int64_t most_vectors) {
  chunks.clear();
  const std::int64_t vectors = ceil_div(lanes, vector_lanes);
  // Vectors in which every lane of every tap counts.
  std::int64_t low = 0, high = lanes;
  for (const Tap& tap : taps) {
    low = std::max(low, tap.from);
    high = std::min(high, tap.to);
  }
  const std::int64_t full_from = ceil_div(low, vector_lanes), full_to = floor_div(high, vector_lanes);
  constexpr std::int64_t most_masks = 65536;
  const std::int64_t borders = vectors - std::max<std::int64_t>(0, full_to - full_from);
  if (borders * static_cast<std::int64_t>(taps.size()) > most_masks) return false;
  const auto full = [&](std::int64_t v) { return v >= full_from && v < full_to; };
  for (std::int64_t v = 0; v < vectors;) {
    SumChunk chunk{v, 1, 1, {}};
    while (chunk.vectors < most_vectors && v + chunk.vectors < vectors &&
           (chunk.vectors == 1 || full(v + chunk.vectors - 1)))
      ++chunk.vectors;
    if (full(v) && chunk.vectors == most_vectors && full(v + chunk.vectors - 1))
      chunk.repeats = std::max<std::int64_t>(1, (full_to - v) / chunk.vectors);
    for (const Tap& tap : taps) {
      const auto [first_from, first_to] = within(v, vector_lanes, tap);
      const auto [last_from, last_to] = within(v + chunk.vectors - 1, vector_lanes, tap);
      chunk.masks.push_back({first_from, first_to, last_from, last_to});
    }
    v += chunk.vectors * chunk.repeats;
    chunks.push_back(std::move(chunk));
  }
  return true;
}

std::vector<SumPhase> phases_of(const Window& w, std::int64_t parts, std::int64_t lane_size) {
  std::vector<SumPhase> phases;
  const std::int64_t element_size = parts * lane_size;
  for (std::int64_t residue = 0; residue < std::min(w.stride, w.extent); ++residue) {
    SumPhase phase;
    const std::int64_t elements = ceil_div(w.extent - residue, w.stride);
    phase.lanes = elements * parts;
    for (std::int64_t tap = 0; tap < w.kernel; ++tap) {
      const std::int64_t distance = residue + w.pad_begin - tap * w.dilation;
      if (floor_mod(distance, w.stride) != 0) continue;
      const std::int64_t shift = floor_div(distance, w.stride);  // element m receives from position m + shift
      const std::int64_t from = std::max<std::int64_t>(0, -shift), to = std::min(elements, w.positions - shift);
      if (from < to) phase.taps.push_back({tap * w.tap_stride + shift * element_size, from * parts, to * parts});
    }
    phases.push_back(std::move(phase));
  }
  return phases;
}

}  // namespace patchfold::engine
