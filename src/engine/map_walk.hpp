// SPDX-License-Identifier: Apache-2.0
// Walks over the elements of a map, or over the positions of its columns, tap by tap. The writers of programs (sum_program.hpp,
// extract_program.hpp) use the walk.
//
// The walk visits the elements of one side, called near, in order. A tap ties each near element e to element e + shift of the other
// side, called far, if this element exists. Masks mark the elements of a vector that are tied.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/index.hpp"
#include "engine/problem.hpp"

namespace patchfold::engine {

/// One tap of an axis, and the elements [from, to) of the near side that it ties.
struct WalkTap {
  std::int64_t phase = 0;   ///< residue, modulo the stride, of the coordinates that the tap ties
  std::int64_t offset = 0;  ///< place in bytes of the far element that is tied to near element 0
  std::int64_t from = 0;
  std::int64_t to = 0;
};

/// An axis of the near side, with the taps along it. Lengths, and `from` and `to` of a tap, count elements.
struct WalkAxis {
  std::int64_t length = 1;      ///< elements on the near side
  std::int64_t far_length = 1;  ///< elements on the far side
  std::int64_t far_stride = 0;  ///< bytes from element to element on the far side
  std::int64_t phases = 1;
  std::vector<WalkTap> taps{};  ///< in ascending order
};

/// Returns the number of phases along a window. Coordinates with one residue modulo the stride form a phase, whose element
/// m is the coordinate m * stride + residue.
inline std::int64_t phase_count(const Window& w) noexcept {
  return w.stride < w.extent ? w.stride : w.extent;
}
/// Returns the number of elements of the longest phase.
inline std::int64_t phase_length(const Window& w) noexcept {
  return (w.extent + w.stride - 1) / w.stride;
}

/// Returns the indices of the windows: first the window whose positions lie farthest apart in memory, last the window whose
/// positions lie closest together.
std::vector<int> walk_order(const std::vector<Window>& windows, std::int64_t element_size);

/// The walk through one map: rows of lanes, the taps that tie each row, and the masks of the tied lanes. Writers of programs turn
/// rows, taps and masks into steps for kernels. A row is the innermost axis, joined with the axes around it as long as their
/// rows follow one another on both sides. Axes are joined because vectors along one short axis would be mostly empty. A walk
/// depends only on the windows, so one walk serves all maps.
class MapWalk {
 public:
  /// The vectors of a kernel and the masks of their lanes.
  struct Vectors {
    std::int64_t lanes = 1;       ///< a power of two
    std::int64_t lane_size = 1;   ///< bytes of a lane
    std::int64_t mask_bytes = 1;  ///< bytes of the mask of one vector
  };
  using Taps = std::vector<std::vector<WalkTap>>;
  /// A tuple of taps, one for each axis, and the place in bytes of the far element that the tuple ties to near element 0.
  struct Met {
    std::vector<WalkTap> taps{};
    std::int64_t offset = 0;
  };
  /// Masks that add_masks() wrote.
  struct Masks {
    std::int64_t at = 0;     ///< place in `masks`
    std::int64_t lanes = 0;  ///< number of lanes that these masks set
  };

  /// Makes the walk. Axes are in the order of the windows; `order` names them from the outermost to the innermost.
  MapWalk(const std::vector<WalkAxis>& axes, const std::vector<int>& order, Vectors vectors, std::int64_t element_size);

  /// Returns the number of axes. The functions below count axes in the order of `order`.
  std::size_t size() const noexcept { return axes_.size(); }
  const WalkAxis& axis(std::size_t k) const noexcept { return axes_[k]; }
  Taps taps() const;
  /// Return numbers of lanes: row() of a row, row_step() of one step along the row's outermost axis, and parts() of an
  /// element.
  std::int64_t row() const noexcept { return row_; }
  std::int64_t row_step() const noexcept { return row_ / axes_[flat_].length; }
  std::int64_t parts() const noexcept { return parts_; }
  /// is_single_row() returns whether a row consists of one axis, and is_one_row() whether it consists of all axes.
  bool is_single_row() const noexcept { return flat_ + 1 == axes_.size(); }
  bool is_one_row() const noexcept { return flat_ == 0; }
  /// Returns the number of axes outside of a row, whose tuples number the rows.
  std::size_t outer_axes() const noexcept { return flat_; }
  /// Returns the tap of the row's outermost axis in a tuple of taps.
  const WalkTap& row_tap(const Met& met) const noexcept { return met.taps[flat_]; }
  std::int64_t phase_of(const Met& met) const noexcept;

  /// Calls visit(met) for every tuple of taps, the taps of the last window fastest, until visit returns false. Returns
  /// whether visit was true for all tuples.
  template <class Visit>
  bool each_tap(const Taps& taps, const Visit& visit) const {
    Dims counts;
    for (const std::size_t place : place_) {
      if (taps[place].empty()) return true;
      counts.push_back(std::ssize(taps[place]));
    }
    Dims index = Dims::filled(counts.size(), 0);
    Met met{std::vector<WalkTap>(size())};
    do {
      met.offset = 0;
      for (std::size_t i = 0; i < size(); ++i) {
        const WalkTap& tap = met.taps[place_[i]] = taps[place_[i]][static_cast<std::size_t>(index[static_cast<int>(i)])];
        met.offset += tap.offset;
      }
      if (!visit(met)) return false;
    } while (advance(index, counts));
    return true;
  }

  /// Returns the extents of the axes that number the rows.
  Dims rows() const;
  /// Returns the offset in bytes of a row on the far side; nothing if the taps do not tie the row.
  std::optional<std::int64_t> row_offset(const Dims& row, const Met& met) const;

  /// Appends the masks of `vectors` vectors of a row, of which the first begins at lane `lane`. Each vector has one mask for
  /// each term, which marks the lanes that the term ties.
  Masks add_masks(const std::vector<const Met*>& terms, std::int64_t lane, std::int64_t vectors);
  /// Returns the index of the masks of these terms. Appends the masks unless terms with the same lanes have appended them already.
  /// Returns -1 if every lane is tied.
  std::int64_t shared_masks(const std::vector<const Met*>& terms, std::int64_t lane, std::int64_t vectors);
  /// Removes the masks that add_masks() wrote last.
  void forget(const Masks& masks) { masks_.resize(static_cast<std::size_t>(masks.at)); }
  /// Returns all masks, followed by 8 spare bytes.
  std::vector<std::uint8_t> take_masks();

 private:
  bool ties_row(const Met& met, std::int64_t row) const noexcept;

  Vectors vectors_;
  std::vector<WalkAxis> axes_{};      // from the outermost to the innermost
  std::vector<std::size_t> place_{};  // index in axes_ of each window
  std::int64_t parts_ = 1;            // lanes of an element
  std::size_t flat_ = 0;              // the outermost axis of a row
  std::int64_t row_ = 1;
  std::vector<std::uint8_t> masks_{};
  std::map<std::vector<std::int64_t>, std::int64_t> known_{};
};

}  // namespace patchfold::engine
