// SPDX-License-Identifier: Apache-2.0
// Moves a brick (a part of a copy that fits into the cache, strided.cpp) plane by plane, and chooses the axes that become the rows
// and the columns of planes (kernels/plane.hpp).
//
// The choices are: rows exchanged with columns in registers, columns put in order or spread in registers, and units one by one. The
// price of a choice is in cycles, and the cheapest choice is used.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/problem.hpp"
#include "kernels/plane.hpp"
#include "kernels/stream.hpp"

namespace patchfold::engine {

/// The most bytes of a unit in planes (arbitrary); longer units are copied directly, as runs of bytes.
inline constexpr std::int64_t longest_plane_unit = 1024;

/// An axis of a brick.
struct BrickAxis {
  std::int64_t length = 1;  ///< units in a brick
  bool whole = true;        ///< every brick has this length; otherwise the last ones may be shorter
  std::int64_t from = 0;    ///< bytes from unit to unit in the source
  std::int64_t to = 0;      ///< bytes from unit to unit in the destination
};

using BrickAxes = FixedList<BrickAxis, 2 * max_rank>;

/// The number of units that a brick has along each of its axes.
using Extents = std::array<std::int64_t, max_axes>;

/// A list of axes, the smallest stride of one side first.
using AxisOrder = FixedList<int, 2 * max_rank>;
inline bool has(const AxisOrder& order, int axis) {
  return std::ranges::find(order, axis) != order.end();
}

/// Moves bricks of one shape. The constructor chooses rows and columns once, for a whole brick; bricks at the edges of the index
/// space move fewer units in the same way. Rows and columns are lists of offsets, not strides: if an axis is too short to
/// fill a register, the dim that follows it in memory on that side continues the list.
class Planes {
 public:
  Planes() = default;
  Planes(std::int64_t unit, const BrickAxes& axes);

  /// Returns the estimated cycles for a whole brick in the cache.
  double cycles() const noexcept { return cycles_; }

  /// Computes the offsets of rows and columns for the chosen way to copy. Call prepare() once, before the first move(); a plan that
  /// only compares prices does not need prepare().
  void prepare();

  std::int64_t rows() const noexcept { return static_cast<std::int64_t>(offsets_[0].size()); }
  std::int64_t columns() const noexcept { return static_cast<std::int64_t>(offsets_[2].size()); }

  /// Moves the units [0, extents[i]) along each axis. No byte at or behind `from_end` is read. `ahead` advances by the moved bytes.
  void move(std::byte* to, const std::byte* from, const Extents& extents, const std::byte* from_end,
            kernels::Ahead& ahead) const noexcept;

 private:
  using List = AxisOrder;
  enum class Side : std::uint8_t { from, to, both };
  /// The axes of the rows and of the columns of planes, the smallest stride first. No axis is in both lists.
  struct Choice {
    List rows{}, columns{};
  };

  void take_unit();
  void consider(Choice choice);
  void consider_rows(const Choice& choice);
  void consider_exchanges(int columns);
  double price(const Choice& choice) const noexcept;
  double misses(const Choice& choice, bool to) const noexcept;
  std::int64_t length(const List& list) const noexcept;
  std::int64_t step(const List& list, bool to) const noexcept;
  bool repeats(const List& columns) const noexcept;
  void extend(List& list, const List& other, Side side) const;
  void fill_rows(Choice& choice, bool to) const;
  void list_offsets(const List& list, std::size_t at);

  std::int64_t unit_ = 1;
  BrickAxes axes_{};
  kernels::PlaneVectors vectors_{};
  double cycles_ = 0;
  Choice best_{};
  List others_{};
  std::array<std::vector<std::int64_t>, 4> offsets_{};  // of rows and of columns, each in the destination and in the source
  std::array<std::int64_t, 4> steps_{};
  bool repeats_ = false;  // all columns of a row are the same unit of the source
};

}  // namespace patchfold::engine
