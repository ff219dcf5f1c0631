// SPDX-License-Identifier: Apache-2.0
// How the coordinates that a window reads lie in a stage.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/problem.hpp"
#include "tensor/checked.hpp"

namespace patchfold::engine {

/// Taps of a window that a stage can hold a list of (arbitrary).
inline constexpr std::int64_t most_staged_taps = 1024;

/// The coordinates that one window reads, in the order of a stage: those with the same residue modulo the stride lie side by
/// side, in a slot of their own. So neighbouring positions of a tap are neighbours in memory, and copying them needs no
/// stride.
class StagedWindow {
 public:
  /// A tap reads, at position b, the element `b * advance + shift` of its slot.
  struct Tap {
    std::int64_t slot = 0;
    std::int64_t shift = 0;
  };

  /// `by_residue`: a slot for each residue that taps meet; otherwise one slot with every coordinate.
  StagedWindow(const Window& w, bool by_residue) : stride(by_residue ? w.stride : 1), advance(by_residue ? 1 : w.stride) {
    for (std::int64_t q = 0; q < w.kernel; ++q) residues.push_back(floor_mod(q * w.dilation - w.pad_begin, stride));
    std::ranges::sort(residues);
    residues.erase(std::unique(residues.begin(), residues.end()), residues.end());
    std::int64_t high = 0;
    for (std::int64_t q = 0; q < w.kernel; ++q) {
      const std::int64_t coordinate = q * w.dilation - w.pad_begin;
      const auto slot = std::ranges::lower_bound(residues, floor_mod(coordinate, stride)) - residues.begin();
      taps.push_back({slot, floor_div(coordinate, stride)});
      low = q == 0 ? taps.back().shift : std::min(low, taps.back().shift);
      high = q == 0 ? taps.back().shift : std::max(high, taps.back().shift);
    }
    count = (w.positions - 1) * advance + high - low + 1;
  }

  /// Gives every residue a slot of its own number, as a kernel that splits by all of them fills them.
  void use_all_slots() {
    for (Tap& tap : taps) tap.slot = residues[static_cast<std::size_t>(tap.slot)];
    residues.clear();
    for (std::int64_t residue = 0; residue < stride; ++residue) residues.push_back(residue);
  }

  std::int64_t slots() const noexcept { return static_cast<std::int64_t>(residues.size()); }
  std::int64_t residue(std::int64_t slot) const noexcept { return residues[static_cast<std::size_t>(slot)]; }

  std::int64_t stride;                   ///< coordinates between neighbours of a slot
  std::int64_t advance;                  ///< elements of a slot between neighbouring positions
  std::vector<std::int64_t> residues{};  ///< by slot: element m of it is the coordinate m * stride + residue
  std::vector<Tap> taps{};
  std::int64_t low = 0;    ///< first element that any slot needs
  std::int64_t count = 0;  ///< elements of a slot
};

}  // namespace patchfold::engine
