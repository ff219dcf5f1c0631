// SPDX-License-Identifier: Apache-2.0
// Tests that the public Geometry of a problem agrees with the operator: each output element is the data element, fill, sum or mean
// that the Geometry gives.
#include <gtest/gtest.h>

#include "patchfold/plan.hpp"
#include "problem.hpp"

namespace patchfold::testing {
namespace {

using Numbers = std::vector<std::uint64_t>;
__extension__ using Wide = unsigned __int128;

std::int64_t flat_index(const Dims& index, const Dims& shape) {
  std::int64_t flat = 0;
  for (int axis = 0; axis < shape.size(); ++axis) {
    EXPECT_TRUE(index[axis] >= 0 && index[axis] < shape[axis]) << to_string(index) << " in " << to_string(shape);
    flat = flat * shape[axis] + index[axis];
  }
  return flat;
}

/// Calls f for every tap of every patch, with an index into the columns and an index into the image, which is -1 outside the
/// image.
template <class F>
void for_each_tap(const Geometry& geometry, F f) {
  Dims extents;
  for (const SharedIndex& shared : geometry.shared) extents.push_back(shared.extent);
  for (const SpatialAxis& axis : geometry.axes) extents.append({axis.positions, axis.kernel});
  Dims step = Dims::filled(extents.size(), 0);
  for (std::int64_t left = element_count(extents); left > 0; --left) {
    Dims image = Dims::filled(geometry.image().size(), 0), columns = Dims::filled(geometry.columns().size(), 0);
    bool is_inside = true;
    int i = 0;
    for (const SharedIndex& shared : geometry.shared) {
      if (shared.image.step != 0) image[shared.image.axis] += step[i] * shared.image.step;
      if (shared.columns.step != 0) columns[shared.columns.axis] += step[i] * shared.columns.step;
      ++i;
    }
    for (const SpatialAxis& axis : geometry.axes) {
      const std::int64_t position = step[i++], tap = step[i++];
      const std::int64_t coordinate = position * axis.stride + tap * axis.dilation - axis.pad_begin;
      is_inside = is_inside && coordinate >= 0 && coordinate < axis.extent;
      image[axis.image_axis] += coordinate;
      if (axis.tap.step != 0) columns[axis.tap.axis] += tap * axis.tap.step;
      if (axis.position.step != 0) columns[axis.position.axis] += position * axis.position.step;
    }
    f(geometry.has_data ? flat_index(columns, geometry.columns()) : 0, is_inside ? flat_index(image, geometry.image()) : -1);
    for (int axis = extents.size() - 1; axis >= 0 && ++step[axis] == extents[axis]; --axis) step[axis] = 0;
  }
}

/// Returns sum / count, rounded to nearest even.
std::uint64_t mean_of(Wide sum, int count) {
  const auto n = static_cast<unsigned>(count);
  const auto quotient = static_cast<std::uint64_t>(sum / n);
  const auto twice = static_cast<unsigned>(sum % n) * 2;
  return quotient + (twice > n || (twice == n && quotient % 2 == 1) ? 1 : 0);
}

void check(const ProblemText& text, Random& random) {
  SCOPED_TRACE(to_string(text));
  const Lowering lowering = find_operator(text.op).bind(text.arguments).lower(text.shape);
  const Geometry& geometry = lowering.geometry;
  Numbers data(static_cast<std::size_t>(geometry.has_data ? element_count(geometry.data) : 0));
  for (std::uint64_t& number : data) number = random.next();
  Numbers output(static_cast<std::size_t>(element_count(geometry.output)));
  for (std::uint64_t& number : output) number = random.next();

  Numbers expected = geometry.accumulate ? output : Numbers(output.size());
  std::vector<int> written(output.size());
  std::vector<Wide> sums(geometry.means ? output.size() : 0);
  std::vector<std::size_t> elsewhere;  // elements from a padding mode; only the reference knows their sources
  for_each_tap(geometry, [&](std::int64_t columns, std::int64_t image) {
    const auto column = static_cast<std::size_t>(columns), pixel = static_cast<std::size_t>(image);
    if (geometry.extracts()) {
      ++written[column];
      expected[column] = image < 0 ? geometry.value.as_unsigned() : data[pixel];
      if (image < 0 && geometry.padding_mode != PaddingMode::constant) elsewhere.push_back(column);
    } else if (image >= 0) {
      ++written[pixel];
      if (geometry.means) sums[pixel] += data[column];
      expected[pixel] = (geometry.sums ? expected[pixel] : 0) + (geometry.has_data ? data[column] : 1);
    }
  });
  for (std::size_t pixel = 0; pixel < sums.size(); ++pixel)
    expected[pixel] = written[pixel] == 0 ? geometry.value.as_unsigned() : mean_of(sums[pixel], written[pixel]);
  if (!geometry.sums) {
    EXPECT_EQ(written, std::vector<int>(output.size(), 1));
  }

  const auto view = [](Numbers& numbers, const Dims& shape) {
    return TensorView{numbers.data(), shape, contiguous_strides(shape, 8), DType::uint64, 8};
  };
  Numbers result = output;
  const TensorView src = geometry.has_data ? view(data, geometry.data) : TensorView{};
  const TensorView dst = view(result, geometry.output);
  throw_if_failed(lowering.plan(src, dst).run(src.data, dst.data, serial_executor()), text.op);
  for (const std::size_t column : elsewhere) expected[column] = result[column];
  EXPECT_EQ(result, expected);
}

TEST(Geometry, SaysWhatEveryOperatorDoes) {
  const int cases = std::max(1, static_cast<int>(60 * scale_of_run()));
  for (const Subject& subject : subjects()) {
    for (int number = 0; number < cases && !HasFailure(); ++number) {
      Random random(seed_of_case(seed_of_run(), subject.op, number));
      check(subject.make(random, {.type = {DType::uint64, 8}}).text, random);
    }
  }
}

}  // namespace
}  // namespace patchfold::testing
