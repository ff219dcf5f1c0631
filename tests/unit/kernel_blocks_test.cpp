// SPDX-License-Identifier: Apache-2.0
// Compares the kernels split and join with plain loops.
#include <gtest/gtest.h>

#include "every_set.hpp"
#include "fenced.hpp"
#include "kernel_bytes.hpp"
#include "kernels/blocks.hpp"
#include "kernels/half.hpp"

namespace patchfold::kernels {
namespace {

constexpr std::int64_t all_units[] = {1, 2, 4, 8};
constexpr std::int64_t all_ways[] = {2, 3, 4, 8, 16};

/// The places of rows and streams: split moves the elements of a row to the streams in turn, and join moves them back. Rows
/// lie in one range of bytes, streams in another.
struct Shape {
  std::int64_t unit = 1;
  Streams streams{};
  std::int64_t together = 0;      ///< size of the range with the rows, in bytes
  std::int64_t apart = 0;         ///< size of the range with the streams, in bytes
  std::int64_t first_stream = 0;  ///< offset of stream 0 in its range
};

Shape random_shape(Dice& dice, std::int64_t unit, std::int64_t ways) {
  Shape shape;
  shape.unit = unit;
  Streams& s = shape.streams;
  s.ways = ways;
  s.count = dice.chance(50) ? dice.between(1, 40) : dice.pick(std::vector<std::int64_t>{16, 32, 63, 64, 65, 128, 200});
  s.rows = dice.between(1, 5);
  const std::int64_t row = s.count * unit;
  s.row_pitch = ways * row + (dice.chance(60) ? 0 : dice.chance(50) ? dice.between(0, 130) : 64);
  shape.together = s.row_pitch * (s.rows - 1) + ways * row;
  const bool by_row = dice.chance(15);  // the first rows of all streams lie together, then their second rows
  s.stream_row_pitch = by_row ? row * ways + dice.between(0, 70) : row + (dice.chance(70) ? 0 : dice.between(0, 70));
  const std::int64_t stream = s.stream_row_pitch * (s.rows - 1) + row;
  s.pitch = by_row ? row : dice.chance(50) ? (stream + 63) / 64 * 64 : stream + dice.between(0, 200);
  shape.apart = s.pitch * (ways - 1) + stream;
  if (dice.chance(20)) {
    shape.first_stream = s.pitch * (ways - 1);
    s.pitch = -s.pitch;
  }
  s.prefetch = dice.chance(50) ? 0 : dice.between(1, 10000);
  return shape;
}

/// Calls f(offset in the range with the rows, offset in the range with the streams) for every element.
template <class F>
void for_elements(const Shape& shape, F f) {
  const Streams& s = shape.streams;
  for (std::int64_t row = 0; row < s.rows; ++row)
    for (std::int64_t i = 0; i < s.count; ++i)
      for (std::int64_t way = 0; way < s.ways; ++way)
        f(row * s.row_pitch + (i * s.ways + way) * shape.unit,
          shape.first_stream + way * s.pitch + row * s.stream_row_pitch + i * shape.unit);
}

std::string text_of(const Shape& shape) {
  const Streams& s = shape.streams;
  return "unit " + std::to_string(shape.unit) + ", " + std::to_string(s.ways) + " ways, pitch " + std::to_string(s.pitch) +
         ", count " + std::to_string(s.count) + ", " + std::to_string(s.rows) + " rows, row pitch " +
         std::to_string(s.row_pitch) + ", stream row pitch " + std::to_string(s.stream_row_pitch);
}

TEST(Split, SplitsMatricesOfEveryShape) {
  Dice dice(1);
  for (int round = 0; round < 60; ++round)
    for (const std::int64_t unit : all_units)
      for (const std::int64_t ways : all_ways) {
        const Shape shape = random_shape(dice, unit, ways);
        const Fenced source(static_cast<std::size_t>(shape.together), dice.chance(80));
        dice.fill(source.bytes());
        Target target(shape.apart, dice.chance(50) ? 0 : dice.between(0, 63));
        for_elements(shape, [&](std::int64_t together, std::int64_t apart) {
          std::memcpy(target.expected() + apart, source.data() + together, static_cast<std::size_t>(unit));
        });
        on_every_instruction_set("split", [&](const std::string& set) {
          for (const Store store : stores) {
            target.reset();
            split(target.data() + shape.first_stream, source.data(), unit, shape.streams, store);
            ASSERT_EQ(target.wrong(), "") << set << ", " << name_of(store) << ": " << text_of(shape);
          }
        });
        if (HasFatalFailure()) return;
      }
}

/// Fills memory with elements, of which many are special values such as NaN.
void fill_with_numbers(Dice& dice, std::span<std::byte> bytes, Finish finish) {
  dice.fill(bytes);
  const auto put = [&](auto special, std::size_t at) { std::memcpy(bytes.data() + at, &special, sizeof special); };
  const std::size_t size = finish == Finish::float32 ? 4 : finish == Finish::float64 ? 8 : 1;
  for (std::size_t at = 0; at + size <= bytes.size(); at += size) {
    const std::int64_t kind = dice.between(0, 9);
    if (size == 4) {
      constexpr std::uint32_t special[] = {0, 0x80000000u, 0x7f800001u, 0xffc00123u, 0x7f800000u, 1, 0x80000001u};
      if (kind < 7) put(special[kind], at);
    } else if (size == 8) {
      constexpr std::uint64_t special[] = {
          0, std::uint64_t{1} << 63, 0x7ff0000000000001u, 0xfff8000000000123u, 0x7ff0000000000000u, 1, 0x8000000000000001u};
      if (kind < 7) put(special[kind], at);
    } else if (kind < 5 && finish == Finish::boolean) {
      put(static_cast<std::uint8_t>(kind < 3 ? 0 : kind - 2), at);
    }
  }
}

/// Replaces an element x by 0 + x, so that -0 becomes +0.
template <class T>
void add_to_zero(std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  value = T{0} + value;
  std::memcpy(at, &value, sizeof value);
}

void finish_plainly(std::byte* at, std::int64_t unit, Finish finish) {
  std::uint16_t half = 0;
  switch (finish) {
    case Finish::none: return;
    case Finish::float32:
      for (std::int64_t part = 0; part < unit; part += 4) add_to_zero<float>(at + part);
      return;
    case Finish::float64: return add_to_zero<double>(at);
    case Finish::float16:
      std::memcpy(&half, at, 2);
      half = float_to_float16(0.0f + float16_to_float(half));
      std::memcpy(at, &half, 2);
      return;
    case Finish::bfloat16:
      std::memcpy(&half, at, 2);
      half = float_to_bfloat16(0.0f + bfloat16_to_float(half));
      std::memcpy(at, &half, 2);
      return;
    case Finish::boolean: *at = static_cast<std::byte>(*at != std::byte{0}); return;
  }
}

void check_join(Dice& dice, std::int64_t unit, std::int64_t ways, Finish finish) {
  const Shape shape = random_shape(dice, unit, ways);
  const Fenced source(static_cast<std::size_t>(shape.apart), dice.chance(80));
  fill_with_numbers(dice, source.bytes(), finish);
  Target target(shape.together, dice.chance(50) ? 0 : dice.between(0, 63));
  for_elements(shape, [&](std::int64_t together, std::int64_t apart) {
    std::memcpy(target.expected() + together, source.data() + apart, static_cast<std::size_t>(unit));
    finish_plainly(target.expected() + together, unit, finish);
  });
  on_every_instruction_set("join", [&](const std::string& set) {
    for (const Store store : stores) {
      target.reset();
      join(target.data(), source.data() + shape.first_stream, unit, shape.streams, store, finish);
      ASSERT_EQ(target.wrong(), "") << set << ", " << name_of(store) << ", finish " << static_cast<int>(finish) << ": "
                                    << text_of(shape);
    }
  });
}

TEST(Join, JoinsMatricesOfEveryShapeAndFinishesElements) {
  struct {
    std::int64_t unit;
    Finish finish;
  } constexpr kinds[] = {{1, Finish::none},     {2, Finish::none},    {4, Finish::none},    {8, Finish::none},
                         {4, Finish::float32},  {8, Finish::float32}, {8, Finish::float64}, {2, Finish::float16},
                         {2, Finish::bfloat16}, {1, Finish::boolean}};
  Dice dice(2);
  for (int round = 0; round < 40; ++round)
    for (const auto& [unit, finish] : kinds)
      for (const std::int64_t ways : all_ways) {
        check_join(dice, unit, ways, finish);
        if (HasFatalFailure()) return;
      }
}

TEST(Join, FinishesEveryPatternOfSixteenBits) {
  std::vector<std::uint16_t> all(1 << 16);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  for (const Finish finish : {Finish::float16, Finish::bfloat16})
    for (const std::int64_t ways : all_ways) {
      const std::int64_t count = static_cast<std::int64_t>(all.size()) / ways;
      const Streams streams{ways, count * 2, count, 1, 0, count * 2, 0};
      on_every_instruction_set("join", [&](const std::string& set) {
        std::vector<std::uint16_t> joined(all.size());
        join(reinterpret_cast<std::byte*>(joined.data()), reinterpret_cast<const std::byte*>(all.data()), 2, streams,
             Store::plain, finish);
        for (std::int64_t i = 0; i < count * ways; ++i) {
          const std::uint16_t half = all[static_cast<std::size_t>(i % ways * count + i / ways)];
          const std::uint16_t expected = finish == Finish::float16 ? float_to_float16(0.0f + float16_to_float(half))
                                                                   : float_to_bfloat16(0.0f + bfloat16_to_float(half));
          ASSERT_EQ(joined[static_cast<std::size_t>(i)], expected) << set << ", " << ways << " ways, bits " << half;
        }
      });
    }
}

TEST(Finish, IsWhatTheSumKernelsDoToOneTerm) {
  Dice dice(3);
  for (const DType dtype : dtypes()) {
    if (!is_summable(dtype)) continue;
    const auto size = static_cast<std::int64_t>(size_of(dtype));
    if (!has_vectors(size, 2)) continue;
    constexpr std::int64_t count = 512;
    std::vector<std::byte> src(static_cast<std::size_t>(2 * count * size));
    fill_with_numbers(dice, src, finish_of(dtype));
    std::vector<std::byte> interleaved(src.size()), joined(src.size()), summed(src.size());
    const Streams streams{2, count * size, count, 1, 0, count * size, 0};
    join(interleaved.data(), src.data(), size, streams, Store::plain, Finish::none);
    join(joined.data(), src.data(), size, streams, Store::plain, finish_of(dtype));
    const SumKernel& kernel = sum_kernel(dtype);
    const Fenced accumulators(static_cast<std::size_t>(2 * count * kernel.accumulator_size), false);
    kernel.add(accumulators.data(), interleaved.data(), size, 2 * count);
    kernel.store(summed.data(), size, accumulators.data(), 2 * count);
    EXPECT_EQ(joined, summed) << name_of(dtype);
  }
}

}  // namespace
}  // namespace patchfold::kernels
