// SPDX-License-Identifier: Apache-2.0
// Compares copies of rows and pieces, through the cache and past it, with plain loops.
#include <gtest/gtest.h>

#include <algorithm>

#include "every_set.hpp"
#include "fenced.hpp"
#include "kernel_bytes.hpp"
#include "kernels/stream.hpp"

namespace patchfold::kernels {
namespace {

/// Returns random lines to prefetch, since the addresses of prefetches must not affect results.
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
  bool to_the_end = true;  ///< pieces may be read up to the end of memory; otherwise `end` lies before them
};

void check_gather(Dice& dice, const Pieces& p) {
  // Rows lie anywhere in one range; one row ends at the end of the range, and one begins at its beginning.
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

}  // namespace
}  // namespace patchfold::kernels
