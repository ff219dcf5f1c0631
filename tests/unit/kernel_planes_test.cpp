// SPDX-License-Identifier: Apache-2.0
// Planes of any strides, against plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "every_set.hpp"
#include "fenced.hpp"
#include "kernels/plane.hpp"

namespace patchfold::kernels {
namespace {

constexpr std::int64_t plane_units[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 72};

/// Two axes of one side.
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

/// Units in equal steps.
struct Listed {
  Listed(std::int64_t stride, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) offsets.push_back(i * stride);
    side = {offsets.data(), stride};
  }
  std::vector<std::int64_t> offsets{};
  PlaneSide side{};
};

void check_plane(Dice& dice, std::int64_t unit) {
  const std::int64_t rows = dice.between(1, dice.chance(50) ? 9 : 70), columns = dice.between(1, dice.chance(50) ? 9 : 70);
  const Side from = random_side(dice, unit, rows, columns, dice.chance(70));
  const Side to = random_side(dice, unit, rows, columns, dice.chance(30));
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
    if (!in_steps && dice.chance(50)) {  // what lies in equal steps may be said not to
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

TEST(KernelPlanes, AreThoseOfAPlainLoop) {
  Dice dice(20261122);
  for (int i = 0; i < 600; ++i)
    for (const std::int64_t unit : plane_units) {
      check_plane(dice, unit);
      if (HasFatalFailure()) return;
    }
}

/// Rows and columns that are several dims each.
TEST(KernelPlanes, FollowAnyOffsets) {
  Dice dice(20261123);
  for (int i = 0; i < 300; ++i)
    for (const std::int64_t unit : {1, 2, 4, 8, 12}) {
      const std::int64_t rows = dice.between(1, 40), columns = dice.between(1, 40);
      const Fenced source(static_cast<std::size_t>(rows * columns * unit));
      dice.fill(source.bytes());
      Target target(rows * columns * unit, dice.between(0, 63));
      // Rows side by side in the source, and columns in the destination; their other sides in any order.
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
