// SPDX-License-Identifier: Apache-2.0
// Moves a brick plane by plane, and decides which of its axes become the rows and the columns of planes (kernels/plane.hpp).
//
// There are several choices: rows that are exchanged with columns in registers, columns that are put in order or spread in
// registers, and units one by one. Each is given a price in cycles, and the cheapest is taken.
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

/// The most bytes of the units that planes are made of: longer units are runs (arbitrary).
inline constexpr std::int64_t longest_plane_unit = 1024;

/// An axis of a brick.
struct BrickAxis {
  std::int64_t length = 1;  ///< units in a brick
  bool whole = true;        ///< every brick has as many; otherwise the last ones may have fewer
  std::int64_t from = 0;    ///< bytes from unit to unit in the source
  std::int64_t to = 0;      ///< and in the destination
};

using BrickAxes = FixedList<BrickAxis, 2 * max_rank>;

/// The number of units that a brick has along each of its axes.
using Extents = std::array<std::int64_t, max_axes>;

/// Some axes, the nearest first.
using AxisOrder = FixedList<int, 2 * max_rank>;
inline bool has(const AxisOrder& order, int axis) {
  return std::ranges::find(order, axis) != order.end();
}

/// Moves bricks of one shape. The constructor chooses rows and columns once, for a whole brick; bricks at the edges of the
/// index space move their fewer units in the same way. Rows and columns are lists of offsets in place of two strides,
/// because an axis that is too short to fill a register is continued by the next dim of its side.
class Planes {
 public:
  Planes() = default;
  Planes(std::int64_t unit, const BrickAxes& axes);

  /// Returns an estimate of the cycles that a whole brick takes while it lies in the cache.
  double cycles() const noexcept { return cycles_; }

  /// Lists the offsets of the choice. To be called once, before the first move; plans that only compare prices need none.
  void prepare();

  std::int64_t rows() const noexcept { return static_cast<std::int64_t>(offsets_[0].size()); }
  std::int64_t columns() const noexcept { return static_cast<std::int64_t>(offsets_[2].size()); }

  /// Moves the units [0, extents[i]) along each axis. Nothing is read from `from_end` on. `ahead` makes progress by the
  /// bytes that are moved.
  void move(std::byte* to, const std::byte* from, const Extents& extents, const std::byte* from_end,
            kernels::Ahead& ahead) const noexcept;

 private:
  using List = AxisOrder;
  enum class Side : std::uint8_t { from, to, both };
  /// The axes that become the rows and the columns of planes, the nearest first. No axis is in both.
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
  std::array<std::vector<std::int64_t>, 4> offsets_{};  // of rows, then of columns: in the destination, in the source
  std::array<std::int64_t, 4> steps_{};
  bool repeats_ = false;  // all columns of a row are the same unit
};

}  // namespace patchfold::engine
