// SPDX-License-Identifier: Apache-2.0
// Compares copies of planes, which have rows and columns with any strides, with plain loops.
// Compares copies of rows and pieces, through the cache and past it, with plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "every_set.hpp"
#include "fenced.hpp"
#include "kernel_bytes.hpp"
#include "kernels/plane.hpp"
#include "kernels/stream.hpp"
#include "kernels/weigh.hpp"

namespace patchfold::kernels {
namespace {

constexpr std::int64_t plane_units[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 72};

/// Where the units of a plane lie in the source or in the destination, in bytes.
struct Side {
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::int64_t bytes = 0;  ///< from the beginning of the lowest unit to the end of the highest
  std::int64_t first = 0;  ///< offset of unit (0, 0), above 0 if a stride is negative
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

/// Offsets in equal steps, as a list and as the PlaneSide that points to the list.
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
    if (!in_steps && dice.chance(50)) {  // without a stride, the kernel reads the list of offsets
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

/// Tests numbers of rows and columns around the sizes of blocks and vectors. Source units lie side by side or two units
/// apart, up to the end of the memory.
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

/// Tests planes whose columns do not all fit into the first-level cache: columns 4096 or 8192 bytes apart, which share the
/// same few sets of the cache, or at least 129 columns.
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

/// Tests rows and columns whose offsets have no common step, as when one index runs over several dims.
TEST(KernelPlanes, FollowAnyOffsets) {
  Dice dice(20261123);
  for (int i = 0; i < 300; ++i)
    for (const std::int64_t unit : {1, 2, 4, 8, 12}) {
      const std::int64_t rows = dice.between(1, 40), columns = dice.between(1, 40);
      const Fenced source(static_cast<std::size_t>(rows * columns * unit));
      dice.fill(source.bytes());
      Target target(rows * columns * unit, dice.between(0, 63));
      // In the source, rows are one unit apart, and columns come in any order. In the destination, columns are one unit
      // apart, and rows come in any order.
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

/// Returns random addresses to prefetch, which must not affect results.
Ahead some_ahead(Dice& dice, const std::byte* src) {
  Ahead ahead;
  if (dice.chance(50)) return ahead;
  ahead.group = src;
  ahead.row_lines = dice.between(1, 9);
  ahead.rows = dice.between(0, 5);
  ahead.pitch = dice.between(-100, 5000);
  ahead.groups = dice.between(0, 3);
  ahead.group_pitch = dice.between(0, 100000);
  ahead.spread_over(dice.between(0, 100));
  return ahead;
}

struct Rows {
  std::int64_t row_bytes = 0, rows = 0, src_pitch = 0, dst_pitch = 0, shift = 0;
};

void check_rows(Dice& dice, const Rows& r) {
  // The row with the highest address ends where the memory ends.
  const std::int64_t src_span = std::abs(r.src_pitch) * (r.rows - 1) + r.row_bytes;
  const std::int64_t dst_span = std::abs(r.dst_pitch) * (r.rows - 1) + r.row_bytes;
  const Fenced source(static_cast<std::size_t>(src_span), dice.chance(80));
  dice.fill(source.bytes());
  const std::byte* src = source.data() + (r.src_pitch < 0 ? -r.src_pitch * (r.rows - 1) : 0);
  Target target(dst_span, r.shift);
  const std::int64_t first = r.dst_pitch < 0 ? -r.dst_pitch * (r.rows - 1) : 0;
  for (std::int64_t row = 0; row < r.rows; ++row)
    std::memcpy(target.expected() + first + row * r.dst_pitch, src + row * r.src_pitch,
                static_cast<std::size_t>(r.row_bytes));
  on_every_instruction_set("copy_rows", [&](const std::string& set) {
    for (const Store store : stores) {
      target.reset();
      Ahead ahead = some_ahead(dice, src);
      copy_rows(target.data() + first, r.dst_pitch, src, r.src_pitch, r.row_bytes, r.rows, store, ahead);
      finish_stores();
      ASSERT_EQ(target.wrong(), "") << set << ", " << name_of(store) << ": " << r.rows << " rows of " << r.row_bytes
                                    << " bytes, source pitch " << r.src_pitch << ", destination pitch " << r.dst_pitch
                                    << ", " << r.shift << " bytes behind a line";
    }
  });
}

TEST(CopyRows, CopiesRowsOfEveryLengthSideBySideAndApart) {
  Dice dice(1);
  for (std::int64_t bytes = 1; bytes <= 330 && !HasFailure(); ++bytes)
    for (const std::int64_t rows : {1, 2, 5}) {
      check_rows(dice, {bytes, rows, bytes, bytes, dice.between(0, 63)});
      check_rows(dice, {bytes, rows, bytes + dice.between(0, 100), bytes, dice.between(0, 63)});
      check_rows(dice, {bytes, rows, bytes, bytes + dice.between(0, 100), dice.between(0, 63)});
    }
}

TEST(CopyRows, CopiesRowsThatOverlapRepeatOrRunBackwardsInTheSource) {
  Dice dice(2);
  for (int round = 0; round < 1500 && !HasFailure(); ++round) {
    Rows r;
    r.row_bytes = dice.chance(60) ? dice.between(100, 700) : dice.between(1, 6000);
    r.rows = dice.between(1, 12);
    r.src_pitch = dice.chance(20) ? 0 : dice.chance(50) ? dice.between(-200, 200) : dice.between(-r.row_bytes, r.row_bytes);
    r.dst_pitch = dice.chance(60) ? r.row_bytes : (dice.chance(50) ? -1 : 1) * (r.row_bytes + dice.between(0, 200));
    r.shift = dice.chance(30) ? 0 : dice.between(0, 63);
    check_rows(dice, r);
  }
}

struct Pieces {
  std::int64_t unit = 0, ways = 0, step = 0, count = 0, shift = 0;
  bool to_the_end = true;  ///< whether the kernel may read the whole source to its end, and not the pieces only
};

void check_gather(Dice& dice, const Pieces& p) {
  // Row 0 ends where the source ends, row 1 begins where the source begins, and the other rows lie between.
  const std::int64_t reach = std::abs(p.step) * (p.count - 1) + p.unit;
  const std::int64_t slack = dice.chance(30) ? 0 : dice.between(0, 500);
  const Fenced source(static_cast<std::size_t>(reach + slack), dice.chance(80));
  dice.fill(source.bytes());
  std::vector<const std::byte*> rows;
  for (std::int64_t way = 0; way < p.ways; ++way)
    rows.push_back(source.data() + (p.step < 0 ? -p.step * (p.count - 1) : 0) +
                   (way == 0   ? slack
                    : way == 1 ? 0
                               : dice.between(0, slack)));
  const std::byte* end = p.to_the_end ? source.end() : source.data();
  Target target(p.unit * p.ways * p.count, p.shift);
  for (std::int64_t i = 0; i < p.count; ++i)
    for (std::int64_t way = 0; way < p.ways; ++way)
      std::memcpy(target.expected() + (i * p.ways + way) * p.unit, rows[static_cast<std::size_t>(way)] + i * p.step,
                  static_cast<std::size_t>(p.unit));
  on_every_instruction_set("gather", [&](const std::string& set) {
    for (const Store store : stores) {
      target.reset();
      Ahead ahead = some_ahead(dice, source.data());
      gather(target.data(), {rows.data(), p.ways, p.step, p.unit, end}, p.count, store, ahead);
      finish_stores();
      ASSERT_EQ(target.wrong(), "") << set << ", " << name_of(store) << ": unit " << p.unit << ", " << p.ways
                                    << " ways, step " << p.step << ", count " << p.count << ", " << p.shift
                                    << " bytes behind a line, slack " << slack;
    }
  });
}

TEST(Gather, TakesPiecesOfEverySize) {
  Dice dice(3);
  for (std::int64_t unit = 1; unit <= 140 && !HasFailure(); ++unit)
    for (const std::int64_t ways : {1, 2, 3, 7})
      for (const std::int64_t count : {1, 2, 9, 40})
        check_gather(dice, {unit, ways, dice.chance(60) ? unit : dice.between(-unit, 2 * unit), count, dice.between(0, 63),
                            dice.chance(90)});
}

TEST(Gather, TakesPiecesOfManyRowsAndLongPieces) {
  Dice dice(4);
  constexpr std::int64_t units[] = {12, 48, 64, 100, 2047, 2048, 2049, 4096, 5000};
  for (int round = 0; round < 600 && !HasFailure(); ++round) {
    Pieces p;
    p.unit = dice.chance(40) ? dice.pick(units) : dice.between(1, 300);
    p.ways = dice.chance(50) ? dice.between(1, 5) : dice.between(6, 64);
    p.count = dice.between(1, std::max<std::int64_t>(1, 20000 / (p.unit * p.ways)));
    p.step = dice.chance(10) ? 0 : dice.between(-2 * p.unit, 2 * p.unit);
    p.shift = dice.chance(30) ? 0 : dice.between(0, 63);
    check_gather(dice, p);
  }
}

TEST(Weigh, IsThePlainSumInFixedPoint) {
  on_every_instruction_set("weigh", [](const std::string& set) {
    Dice dice(11);
    for (int round = 0; round < 300; ++round) {
      const std::int64_t count = dice.between(1, 300), taps = dice.between(0, 9);
      const std::int64_t pitch = count + dice.between(0, 20);
      const int bits = static_cast<int>(dice.between(8, 22));
      const Fenced source(static_cast<std::size_t>(taps == 0 ? 1 : (taps - 1) * pitch + count));
      dice.fill(source.bytes());
      std::vector<std::int32_t> weights;
      for (std::int64_t k = 0; k < taps; ++k)
        weights.push_back(static_cast<std::int32_t>(dice.between(-(std::int64_t{1} << bits), std::int64_t{1} << bits) / 2));
      Target target(count, dice.between(0, 63));
      for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t sum = std::int64_t{1} << (bits - 1);
        for (std::int64_t k = 0; k < taps; ++k)
          sum += weights[static_cast<std::size_t>(k)] * std::to_integer<std::int64_t>(source.data()[k * pitch + i]);
        target.expected()[i] = static_cast<std::byte>(std::clamp<std::int64_t>(sum >> bits, 0, 255));
      }
      weigh(target.data(), source.data(), pitch, count, weights.data(), taps, bits);
      ASSERT_EQ(target.wrong(), "") << set << " round " << round;
    }
  });
}

}  // namespace
}  // namespace patchfold::kernels
