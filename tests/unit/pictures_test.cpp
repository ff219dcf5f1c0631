// SPDX-License-Identifier: Apache-2.0
// Tables and resizing, against their formulas.
#include "patchfold/pictures.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "instruction_sets.hpp"
#include "patchfold/error.hpp"

namespace patchfold {
namespace {

using ::testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;

Bytes random_bytes(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  Bytes bytes(static_cast<std::size_t>(count));
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(generator());
  return bytes;
}

/// Calls f with the index of every element of a shape, row-major.
template <class F>
void each_index(const Dims& shape, F&& f) {
  if (element_count(shape) == 0) return;
  Dims index = Dims::filled(shape.size(), 0);
  while (true) {
    f(index);
    int axis = shape.size() - 1;
    for (; axis >= 0 && ++index[axis] == shape[axis]; --axis) index[axis] = 0;
    if (axis < 0) return;
  }
}

std::int64_t offset_of(const Dims& index, const Dims& strides) {
  std::int64_t offset = 0;
  for (int axis = 0; axis < index.size(); ++axis) offset += index[axis] * strides[axis];
  return offset;
}

template <class T>
std::vector<T> random_table(std::int64_t channels) {
  std::vector<T> table(static_cast<std::size_t>(channels * 256));
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<T>(static_cast<double>(i % 251 + 1));
  std::shuffle(table.begin(), table.end(), std::mt19937(7));
  return table;
}

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

template <class T>
void expect_looked_up(const ConstTensorView& bytes, int axis, const Dims& out_order) {
  const std::int64_t channels = bytes.shape[axis];
  const auto table = random_table<T>(channels);
  // The axes of `out` lie in memory in the order of `out_order`.
  Dims strides = bytes.shape;
  std::int64_t stride = sizeof(T);
  for (int i = out_order.size() - 1; i >= 0; --i) {
    strides[static_cast<int>(out_order[i])] = stride;
    stride *= bytes.shape[static_cast<int>(out_order[i])];
  }
  std::vector<T> out(static_cast<std::size_t>(element_count(bytes.shape)));
  const TensorView to{out.data(), bytes.shape, strides, detail::dtype_of_element<T>, sizeof(T)};
  apply_table(bytes, axis, contiguous(table.data(), {channels, 256}, detail::dtype_of_element<T>), to);
  const auto* from = static_cast<const std::uint8_t*>(bytes.data);
  each_index(bytes.shape, [&](const Dims& index) {
    const auto byte = from[offset_of(index, bytes.strides)];
    ASSERT_EQ(out[static_cast<std::size_t>(offset_of(index, strides)) / sizeof(T)],
              table[static_cast<std::size_t>(index[axis] * 256 + byte)])
        << to_string(index);
  });
}

TEST(ApplyTable, WritesTheEntryOfEachByteInAnyLayout) {
  const Bytes bytes = random_bytes(3 * 40 * 50, 1);
  const Dims shape{3, 40, 50};
  const Dims layouts[] = {{2000, 50, 1}, {1, 150, 3}, {1, 3, 120}, {-2000, -50, -1}, {2000, 0, 1}};
  for (const Dims& strides : layouts) {
    const std::int64_t first = strides[0] < 0 ? 3 * 40 * 50 - 1 : 0;
    const ConstTensorView view{bytes.data() + first, shape, strides, DType::uint8, 1};
    for (const Dims& order : {Dims{0, 1, 2}, Dims{1, 2, 0}, Dims{2, 0, 1}, Dims{0, 2, 1}}) {
      expect_looked_up<float>(view, 0, order);
      expect_looked_up<std::uint16_t>(view, 0, order);
      expect_looked_up<std::uint8_t>(view, 0, order);
      expect_looked_up<double>(view, 0, order);
      expect_looked_up<std::complex<double>>(view, 0, order);
    }
  }
}

TEST(ApplyTable, SharesLongRowsAndLongColumnsOutOverThreads) {
  const std::int64_t count = 100'003;
  const Bytes bytes = random_bytes(2 * count, 2);
  expect_looked_up<float>(contiguous(bytes.data(), {2, count}, DType::uint8), 0, {0, 1});
  expect_looked_up<float>(contiguous(bytes.data(), {count, 2}, DType::uint8), 1, {0, 1});
  expect_looked_up<float>(contiguous(bytes.data(), {count, 2}, DType::uint8), 1, {1, 0});
}

TEST(ApplyTable, CutsAPictureIntoTokens) {
  // The order of Qwen's models: (row and column of a merge block, of a patch in it), (channel, frame, row, column).
  constexpr std::int64_t p = 4, m = 2, gh = 3, gw = 2, width = gw * m * p;
  const Bytes bytes = random_bytes(gh * m * p * width * 3, 3);
  const Dims shape{gh, gw, m, m, 3, 2, p, p};
  const ConstTensorView view{
      bytes.data(), shape, {m * p * width * 3, m * p * 3, p * width * 3, p * 3, 1, 0, width * 3, 3}, DType::uint8, 1};
  expect_looked_up<float>(view, 4, {0, 1, 2, 3, 4, 5, 6, 7});
}

TEST(ApplyTable, TakesTablesOfAnyStrides) {
  const Bytes bytes = random_bytes(3 * 5, 4);
  const auto table = random_table<float>(1);
  std::vector<float> out(15), turned(256 * 3);
  const auto view = contiguous(bytes.data(), {3, 5}, DType::uint8);
  apply_table(view, -2, {table.data(), {3, 256}, {0, 4}, DType::float32, 4}, contiguous(out.data(), {3, 5}, DType::float32));
  for (std::size_t i = 0; i < 15; ++i) EXPECT_EQ(out[i], table[bytes[i]]);
  std::iota(turned.begin(), turned.end(), 0.0F);
  apply_table(view, 0, {turned.data(), {3, 256}, {4, 12}, DType::float32, 4},
              contiguous(out.data(), {3, 5}, DType::float32));
  for (std::size_t i = 0; i < 15; ++i) EXPECT_EQ(out[i], static_cast<float>(bytes[i] * 3U + i / 5));
}

TEST(ApplyTable, RefusesWrongArguments) {
  Bytes bytes(12);
  std::vector<float> table(3 * 256), out(12);
  const auto from = contiguous(std::as_const(bytes).data(), {3, 4}, DType::uint8);
  const auto entries = contiguous(std::as_const(table).data(), {3, 256}, DType::float32);
  const auto to = contiguous(out.data(), {3, 4}, DType::float32);
  EXPECT_EQ(error_of([&] { apply_table(from, 0, entries, to); }), "no error");
  EXPECT_THAT(error_of([&] { apply_table(from, 2, entries, to); }), HasSubstr("axis: must be an axis of bytes"));
  EXPECT_THAT(error_of([&] { apply_table(from, 1, entries, to); }), HasSubstr("256 entries for each index"));
  EXPECT_THAT(error_of([&] { apply_table(to, 0, entries, to); }), HasSubstr("must have bytes as elements"));
  EXPECT_THAT(error_of([&] {
                apply_table(from, 0, entries, contiguous(bytes.data(), {3, 4}, DType::uint8));
              }),
              HasSubstr("out: must have the element type"));
  EXPECT_THAT(error_of([&] {
                apply_table(from, 0, entries, contiguous(out.data(), {4, 3}, DType::float32));
              }),
              HasSubstr("out: must have the shape"));
  EXPECT_THAT(error_of([&] {
                apply_table(from, 0, entries, contiguous(table.data(), {3, 4}, DType::float32));
              }),
              HasSubstr("must not share memory"));
  EXPECT_THAT(error_of([&] {
                apply_table(from, 0, entries, {out.data(), {3, 4}, {0, 4}, DType::float32, 4});
              }),
              HasSubstr("elements must not share memory"));
  EXPECT_THAT(error_of([&] {
                apply_table({nullptr, {3, 4}, {4, 1}, DType::uint8, 1}, 0, entries, to);
              }),
              HasSubstr("must have data"));
  EXPECT_THAT(error_of([&] { apply_table(contiguous(bytes.data(), {}, DType::uint8), 0, entries, to); }),
              HasSubstr("must have an axis"));
}

// The definition of a resize, for one axis at a time and without any vectors. The weights are in the order of their pixels.
double filter_at(Filter filter, double x) {
  const double pi = 3.14159265358979323846, size = std::abs(x);
  const auto sinc = [&](double at) { return at == 0 ? 1 : std::sin(at * pi) / (at * pi); };
  switch (filter) {
    case Filter::box: return x > -0.5 && x <= 0.5 ? 1 : 0;
    case Filter::bilinear: return size < 1 ? 1 - size : 0;
    case Filter::hamming: return size < 1 ? sinc(size) * (0.54F + 0.46F * std::cos(size * pi)) : 0;
    case Filter::bicubic:
      if (size < 1) return (1.5 * size - 2.5) * size * size + 1;
      return size < 2 ? (((size - 5) * size + 8) * size - 4) * -0.5 : 0;
    case Filter::lanczos: return size < 3 ? sinc(x) * sinc(x / 3) : 0;
    case Filter::nearest: break;
  }
  return 0;
}

double support_of(Filter filter) {
  return filter == Filter::box ? 0.5 : filter == Filter::bicubic ? 2 : filter == Filter::lanczos ? 3 : 1;
}

Bytes resized_row(const Bytes& row, std::int64_t to, Filter filter, float begin, float end) {
  const double ratio = static_cast<double>(end - begin) / static_cast<double>(to), wide = std::max(ratio, 1.0);
  Bytes result;
  if (filter == Filter::nearest) {
    double place = begin + ratio * 0.5;
    for (std::int64_t i = 0; i < to; ++i, place += ratio) result.push_back(row[static_cast<std::size_t>(place)]);
    return result;
  }
  for (std::int64_t i = 0; i < to; ++i) {
    const double middle = begin + (static_cast<double>(i) + 0.5) * ratio;
    std::vector<double> weights;
    const auto first = std::max(0, static_cast<int>(middle - support_of(filter) * wide + 0.5));
    const auto last = std::min(static_cast<int>(row.size()), static_cast<int>(middle + support_of(filter) * wide + 0.5));
    for (int k = first; k < last; ++k) weights.push_back(filter_at(filter, (k - middle + 0.5) * (1 / wide)));
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::int64_t total = 1 << 21;
    for (int k = first; k < last; ++k)
      total +=
          std::llround(weights[static_cast<std::size_t>(k - first)] / sum * (1 << 22)) * row[static_cast<std::size_t>(k)];
    result.push_back(static_cast<std::uint8_t>(std::clamp<std::int64_t>(total >> 22, 0, 255)));
  }
  return result;
}

/// Returns the transposed picture.
Bytes turned(const Bytes& plane, std::int64_t rows, std::int64_t columns) {
  Bytes result(plane.size());
  for (std::int64_t y = 0; y < rows; ++y)
    for (std::int64_t x = 0; x < columns; ++x)
      result[static_cast<std::size_t>(x * rows + y)] = plane[static_cast<std::size_t>(y * columns + x)];
  return result;
}

/// Returns a resized picture of one channel, row-major. The pass along the rows comes first where the picture loses more
/// than twice as many rows as columns.
Bytes resized_plane(const Bytes& plane, std::int64_t rows, std::int64_t columns, std::int64_t to_rows,
                    std::int64_t to_columns, Filter filter, const std::array<float, 4>& box) {
  if (to_rows < rows && rows - to_rows > 2 * (columns - to_columns)) {
    const Bytes other = resized_plane(turned(plane, rows, columns), columns, rows, to_columns, to_rows, filter,
                                      {box[1], box[0], box[3], box[2]});
    return turned(other, to_columns, to_rows);
  }
  Bytes between(static_cast<std::size_t>(rows * to_columns)), result(static_cast<std::size_t>(to_rows * to_columns));
  for (std::int64_t y = 0; y < rows; ++y) {
    const Bytes row =
        resized_row({plane.begin() + y * columns, plane.begin() + (y + 1) * columns}, to_columns, filter, box[0], box[2]);
    std::ranges::copy(row, between.begin() + y * to_columns);
  }
  for (std::int64_t x = 0; x < to_columns; ++x) {
    Bytes column;
    for (std::int64_t y = 0; y < rows; ++y) column.push_back(between[static_cast<std::size_t>(y * to_columns + x)]);
    const Bytes made = resized_row(column, to_rows, filter, box[1], box[3]);
    for (std::int64_t y = 0; y < to_rows; ++y)
      result[static_cast<std::size_t>(y * to_columns + x)] = made[static_cast<std::size_t>(y)];
  }
  return result;
}

TEST(Resize, IsItsDefinitionForEveryFilterAndLayoutOnEveryInstructionSet) {
  std::mt19937 random(5);
  const auto between = [&](int first, int last) {
    return first + static_cast<int>(random() % static_cast<unsigned>(last - first + 1));
  };
  for (const std::string& set : testing::sets_to_run()) {
    use_instruction_set(set);
    for (int round = 0; round < 60; ++round) {
      const std::int64_t rows = between(1, 90), columns = between(1, 90), to_rows = between(1, 90),
                         to_columns = between(1, 90);
      const std::int64_t channels = between(1, 4), count = between(1, 3);
      Resize op{words<Filter>[static_cast<std::size_t>(round) % 6].value, FixedPoint::pillow, {}};
      std::array<float, 4> box{0, 0, static_cast<float>(columns), static_cast<float>(rows)};
      if (round % 3 == 0 && op.filter != Filter::nearest) {
        box = {static_cast<float>(columns) * 0.125F, 0, static_cast<float>(columns) * 0.75F,
               static_cast<float>(rows) * 0.9F};
        op.box = box;
      }
      const bool first = round % 2 == 0;
      const Bytes bytes = random_bytes(count * channels * rows * columns, static_cast<unsigned>(round));
      Bytes out(static_cast<std::size_t>(count * channels * to_rows * to_columns));
      const auto strides = [&](std::int64_t h, std::int64_t w, bool planes) {
        return planes ? Dims{channels * h * w, h * w, w, 1} : Dims{channels * h * w, 1, channels * w, channels};
      };
      const Dims from = strides(rows, columns, first), to = strides(to_rows, to_columns, round % 5 < 2);
      op.run({bytes.data(), {count, channels, rows, columns}, from, DType::uint8, 1},
             {out.data(), {count, channels, to_rows, to_columns}, to, DType::uint8, 1});
      for (std::int64_t n = 0; n < count; ++n)
        for (std::int64_t c = 0; c < channels; ++c) {
          Bytes plane;
          each_index({rows, columns}, [&](const Dims& index) {
            plane.push_back(bytes[static_cast<std::size_t>(offset_of({n, c, index[0], index[1]}, from))]);
          });
          const Bytes wanted = resized_plane(plane, rows, columns, to_rows, to_columns, op.filter, box);
          each_index({to_rows, to_columns}, [&](const Dims& index) {
            ASSERT_EQ(out[static_cast<std::size_t>(offset_of({n, c, index[0], index[1]}, to))],
                      wanted[static_cast<std::size_t>(index[0] * to_columns + index[1])])
                << set << " round " << round << " at " << to_string(index);
          });
        }
    }
  }
  use_instruction_set("");
}

TEST(Resize, RefusesWrongArguments) {
  Bytes bytes(48), out(12);
  const auto from = contiguous(std::as_const(bytes).data(), {6, 8}, DType::uint8);
  const auto to = contiguous(out.data(), {3, 4}, DType::uint8);
  const auto error = [&](const Resize& op, const ConstTensorView& src, const TensorView& dst) {
    return error_of([&] { op.run(src, dst); });
  };
  EXPECT_EQ(error({}, from, to), "no error");
  EXPECT_THAT(error({}, contiguous(bytes.data(), {48}, DType::uint8), to), HasSubstr("must have rows and columns"));
  EXPECT_THAT(error({}, contiguous(bytes.data(), {0, 8}, DType::uint8), to), HasSubstr("at most 2^20 of each"));
  EXPECT_THAT(error({}, from, contiguous(out.data(), {3, 0}, DType::uint8)), HasSubstr("at most 2^20 of each"));
  EXPECT_THAT(error({}, from, contiguous(out.data(), {1, 3, 4}, DType::uint8)), HasSubstr("must have the shape"));
  EXPECT_THAT(error({}, contiguous(bytes.data(), {6, 4}, DType::uint16), to), HasSubstr("must have bytes as elements"));
  EXPECT_THAT(error({}, from, contiguous(bytes.data(), {3, 4}, DType::uint8)), HasSubstr("must not share memory"));
  EXPECT_THAT(error({}, {bytes.data(), {(1 << 20) + 1, 8}, {0, 1}, DType::uint8, 1}, to), HasSubstr("at most 2^20 of each"));
  EXPECT_THAT(error({static_cast<Filter>(9)}, from, to), HasSubstr("must be a filter"));
  EXPECT_THAT(error({Filter::box, FixedPoint::torch}, from, to), HasSubstr("torch has only bilinear and bicubic"));
  EXPECT_THAT(error({Filter::bicubic, static_cast<FixedPoint>(9)}, from, to), HasSubstr("fixed_point"));
  using Box = std::array<float, 4>;
  EXPECT_THAT(error({Filter::bicubic, FixedPoint::torch, Box{0, 0, 8, 6}}, from, to), HasSubstr("whole pictures only"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Box& box : {Box{0, 0, 9, 6}, Box{-1, 0, 8, 6}, Box{4, 0, 4, 6}, Box{0, 0, 8, nan}, Box{nan, 0, 8, 6}})
    EXPECT_THAT(error({Filter::bicubic, FixedPoint::pillow, box}, from, to), HasSubstr("inside the picture"));
}

}  // namespace
}  // namespace patchfold
