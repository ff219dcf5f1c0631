// SPDX-License-Identifier: Apache-2.0
// Compares planes of any strides with plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "every_set.hpp"
#include "fenced.hpp"
#include "kernels/plane.hpp"

namespace patchfold::kernels {
namespace {

constexpr std::int64_t plane_units[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 72};

/// One side of a plane, with strides of both axes.
struct Side {
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::int64_t bytes = 0;  ///< that the units span
  std::int64_t first = 0;  ///< offset of the first unit, above 0 where strides go backwards
};

Side random_side(Dice& dice, std::int64_t unit, std::int64_t rows, std::int64_t columns, bool rows_nearest) {
  const std::int64_t near_step = unit * (dice.chance(50) ? 1 : dice.chance(60) ? 2 : 3);
  std::int64_t near = near_step, near_count = rows_nearest ? rows : columns;
  const std::int64_t gap = dice.chance(50) ? 0 : dice.between(0, 40);
  std::int64_t far = near * near_count + gap;
  Side side;
  side.bytes = (near_count - 1) * near + ((rows_nearest ? columns : rows) - 1) * far + unit;
  if (dice.chance(25)) near = -near;
  if (dice.chance(25)) far = -far;
  side.row = rows_nearest ? near : far;
  side.column = rows_nearest ? far : near;
  side.first = std::max<std::int64_t>(0, -side.row * (rows - 1)) + std::max<std::int64_t>(0, -side.column * (columns - 1));
  return side;
}

/// A list of offsets in equal steps.
struct Listed {
  Listed(std::int64_t stride, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) offsets.push_back(i * stride);
    side = {offsets.data(), stride};
  }
  std::vector<std::int64_t> offsets{};
  PlaneSide side{};
};

void check_plane(Dice& dice, std::int64_t unit, std::int64_t rows, std::int64_t columns, const Side& from, const Side& to) {
  const Fenced source(static_cast<std::size_t>(from.bytes), dice.chance(80));
  dice.fill(source.bytes());
  Target target(to.bytes, dice.between(0, 63));
  const Listed dst_rows(to.row, rows), dst_columns(to.column, columns), src_rows(from.row, rows),
      src_columns(from.column, columns);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      std::memcpy(target.expected() + to.first + r * to.row + c * to.column,
                  source.data() + from.first + r * from.row + c * from.column, static_cast<std::size_t>(unit));
  Plane plane{rows, columns, dst_rows.side, dst_columns.side, src_rows.side, src_columns.side, source.end()};
  for (const bool in_steps : {true, false}) {
    if (!in_steps && dice.chance(50)) {  // equal steps may be passed as a list
      plane.src_columns.stride = 0;
      plane.dst_rows.stride = 0;
    }
    on_every_instruction_set("plane", [&](const std::string& set) {
      target.reset();
      plane_kernel(unit, plane)(target.data() + to.first, source.data() + from.first, unit, plane);
      ASSERT_EQ(target.wrong(), "") << set << ": " << rows << " rows and " << columns << " columns of " << unit
                                    << " bytes, from steps of " << from.row << " and " << from.column << " to steps of "
                                    << to.row << " and " << to.column;
    });
    if (::testing::Test::HasFatalFailure()) return;
  }
}

void check_random_plane(Dice& dice, std::int64_t unit, std::int64_t most) {
  const auto length = [&] { return dice.between(1, dice.chance(50) ? 9 : most); };
  const std::int64_t rows = length(), columns = length();
  const Side from = random_side(dice, unit, rows, columns, dice.chance(70));
  const Side to = random_side(dice, unit, rows, columns, dice.chance(30));
  check_plane(dice, unit, rows, columns, from, to);
}

TEST(KernelPlanes, AreThoseOfAPlainLoop) {
  Dice dice(20261122);
  for (int i = 0; i < 600; ++i)
    for (const std::int64_t unit : plane_units) {
      check_random_plane(dice, unit, 70);
      if (HasFatalFailure()) return;
    }
}

TEST(KernelPlanes, HaveUnitsOfAnySize) {
  Dice dice(20261125);
  for (std::int64_t unit = 1; unit <= 200; ++unit)
    for (int i = 0; i < 4; ++i) {
      check_random_plane(dice, unit, 12);
      if (HasFatalFailure()) return;
    }
}

Side side_of(std::int64_t unit, std::int64_t rows, std::int64_t row, std::int64_t columns, std::int64_t column) {
  const std::int64_t row_way = row * (rows - 1), column_way = column * (columns - 1);
  return {row, column, std::abs(row_way) + std::abs(column_way) + unit,
          std::max<std::int64_t>(0, -row_way) + std::max<std::int64_t>(0, -column_way)};
}

/// Tests sizes around the sizes of blocks and of vectors, with units two places apart that reach the end of the memory.
TEST(KernelPlanes, ExchangeAndStraightenUpToTheEnd) {
  Dice dice(20261126);
  constexpr std::int64_t lengths[] = {2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 65};
  for (const std::int64_t unit : {1, 2, 4, 8})
    for (const std::int64_t step : {1, -1, 2, -2})
      for (const std::int64_t rows : lengths)
        for (const std::int64_t columns : lengths) {
          const std::int64_t near = step * unit, gap = dice.between(0, 9);
          const Side to = side_of(unit, rows, columns * unit + gap, columns, unit);
          check_plane(dice, unit, rows, columns, side_of(unit, rows, near, columns, std::abs(near) * rows + gap), to);
          if (rows < 6)
            check_plane(dice, unit, rows, columns, side_of(unit, rows, std::abs(near) * columns, columns, near), to);
          if (HasFatalFailure()) return;
        }
}

/// Tests more columns than the first-level cache holds: columns many lines apart, or very many columns.
TEST(KernelPlanes, ExchangeColumnsInGroups) {
  Dice dice(20261127);
  for (const std::int64_t unit : {1, 2, 4, 8})
    for (int i = 0; i < 30; ++i) {
      const bool meet = dice.chance(70);
      const std::int64_t rows = dice.between(3, 40), columns = meet ? dice.between(5, 60) : dice.between(129, 300);
      const std::int64_t row = unit * dice.between(1, 2) * (dice.chance(50) ? 1 : -1);
      const std::int64_t column =
          (meet ? 4096 * dice.between(1, 2) : std::abs(row) * rows + unit) * (dice.chance(70) ? 1 : -1);
      check_plane(dice, unit, rows, columns, side_of(unit, rows, row, columns, column),
                  side_of(unit, rows, columns * unit + dice.between(0, 9), columns, unit));
      if (HasFatalFailure()) return;
    }
}

/// Tests rows and columns of several dims each.
TEST(KernelPlanes, FollowAnyOffsets) {
  Dice dice(20261123);
  for (int i = 0; i < 300; ++i)
    for (const std::int64_t unit : {1, 2, 4, 8, 12}) {
      const std::int64_t rows = dice.between(1, 40), columns = dice.between(1, 40);
      const Fenced source(static_cast<std::size_t>(rows * columns * unit));
      dice.fill(source.bytes());
      Target target(rows * columns * unit, dice.between(0, 63));
      // Rows lie side by side in the source, and columns in the destination; on the other side they are in any order.
      std::vector<std::int64_t> row_order, column_order, row_offsets, column_offsets;
      for (std::int64_t r = 0; r < rows; ++r) row_order.insert(row_order.begin() + dice.between(0, r), r * columns * unit);
      for (std::int64_t c = 0; c < columns; ++c)
        column_order.insert(column_order.begin() + dice.between(0, c), c * rows * unit);
      for (std::int64_t r = 0; r < rows; ++r) row_offsets.push_back(r * unit);
      for (std::int64_t c = 0; c < columns; ++c) column_offsets.push_back(c * unit);
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < columns; ++c)
          std::memcpy(target.expected() + row_order[static_cast<std::size_t>(r)] + c * unit,
                      source.data() + r * unit + column_order[static_cast<std::size_t>(c)], static_cast<std::size_t>(unit));
      const Plane plane{rows,
                        columns,
                        {row_order.data(), 0},
                        {column_offsets.data(), unit},
                        {row_offsets.data(), unit},
                        {column_order.data(), 0},
                        source.end()};
      on_every_instruction_set("plane", [&](const std::string& set) {
        target.reset();
        plane_kernel(unit, plane)(target.data(), source.data(), unit, plane);
        ASSERT_EQ(target.wrong(), "") << set << ": " << rows << " rows and " << columns << " columns of " << unit
                                      << " bytes";
      });
      if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace patchfold::kernels
