// SPDX-License-Identifier: Apache-2.0
// Cuts an extract into bands, and places the elements of a band in scratch memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "engine/problem.hpp"
#include "engine/walk.hpp"

namespace patchfold::engine {

/// The bands of an extract and the layout of their stage, the scratch memory for the image part of a band. The stage has an axis
/// for the coordinates of each window, and an axis for each dim that is staged with them. One window may be sorted: its coordinates
/// are ordered by residue modulo the stride, so that the positions of a tap are neighbours. A stage with an axis for taps was
/// rejected: it would be as large as the columns, and slower than a program for maps.
struct BandLayout {
  /// Positions of one window, and the coordinates that they reach inside the image.
  struct Reach {
    std::int64_t positions = 0;
    std::int64_t first = 0;  ///< first coordinate
    std::int64_t from = 0;   ///< coordinates [first + from, first + end) lie inside the image
    std::int64_t end = 0;
  };
  /// The place in the stage of each coordinate along a window, counted from the first coordinate of the band.
  struct Place {
    std::int64_t step = 0;    ///< bytes between neighbours; in the sorted window, between neighbours with equal residues
    std::int64_t phases = 1;  ///< number of residues
    std::int64_t pitch = 0;   ///< bytes between residues
    std::int64_t of(std::int64_t coordinate) const noexcept {
      return coordinate / phases * step + coordinate % phases * pitch;
    }
  };

  Reach reach(int window, std::int64_t position, std::int64_t positions) const noexcept;
  /// Returns the reach of a window in a band. A band has some positions of the first window and all positions of the other windows.
  Reach reach(int window, const Reach& band) const noexcept {
    return window == 0 ? band : reach(window, 0, windows[window].positions);
  }
  Reach band_at(std::int64_t position) const noexcept {
    return reach(0, position, std::min(band, windows[0].positions - position));
  }

  FixedList<Window, max_rank> windows{};
  FixedList<Place, max_rank> places{};  ///< places of the windows' coordinates
  DimList outer{}, inner{};             ///< dims that count rows of work, and dims that are staged
  FixedList<std::int64_t, 2 * max_rank> inner_steps{};
  Dim grouped{};  ///< a dim of which `group` elements are staged together
  std::int64_t group = 1, groups = 1, last_group = 1, group_step = 0;
  std::int64_t band = 1;   ///< positions of the first window
  std::int64_t bytes = 0;  ///< bytes of the stage
  bool has_outside = false;
};

/// Returns whether the stage sorts the coordinates of a window. Sorting pays if the window's positions are neighbours in the
/// destination but not in the image, unless rows are short or elements large.
bool sorts_coordinates(const Window& window, std::int64_t element) noexcept;

/// Returns the bands of a problem; nothing if the problem is not an extract with constant borders, or if its stage would not fit
/// into the cache.
std::optional<BandLayout> lay_out_bands(const Problem& problem);

}  // namespace patchfold::engine
