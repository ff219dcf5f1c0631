// SPDX-License-Identifier: Apache-2.0
// Compares vectors that make rows of means with the loop over single elements, which tests/rulings and tests/random compare with
// the definition. Tests that needs_care() finds the elements that careful_mean() must make.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "every_set.hpp"
#include "fenced.hpp"
#include "kernel_bytes.hpp"
#include "kernels/mean.hpp"

namespace patchfold::kernels {
namespace {

struct Means {
  std::vector<std::byte> elements{};
  bool certain = true;
};

/// Returns the means of some rows of elements, side by side or two elements apart.
Means means_of(DType dtype, const std::vector<std::vector<std::byte>>& rows, const std::vector<double>& met, double others,
               const FillLine& fill, bool apart) {
  const MeanKernel& kernel = mean_kernel(dtype);
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  const auto count = static_cast<std::int64_t>(rows.front().size()) / size;
  const std::int64_t step = apart ? 2 * size : size;
  std::vector<std::byte> accumulators(static_cast<std::size_t>(count * kernel.accumulator_size) + 64);
  std::byte* at = accumulators.data() + 64 - reinterpret_cast<std::uintptr_t>(accumulators.data()) % 64;
  kernel.clear(at, count);
  for (const auto& row : rows) {
    std::vector<std::byte> spread(static_cast<std::size_t>(count * step));
    for (std::int64_t i = 0; i < count; ++i) std::memcpy(&spread[i * step], &row[i * size], size_of(dtype));
    kernel.add(at, spread.data(), step, count);
  }
  std::vector<std::byte> result(static_cast<std::size_t>(count * step));
  Means means;
  // Means side by side are written to the memory of their sums, which is allowed if elements are no wider than sums.
  std::byte* to = apart ? result.data() : at;
  means.certain = kernel.store(to, step, at, count, {met.data(), others, &fill});
  means.elements.resize(static_cast<std::size_t>(count * size));
  for (std::int64_t i = 0; i < count; ++i) std::memcpy(&means.elements[i * size], to + i * step, size_of(dtype));
  return means;
}

TEST(Means, OfVectorsAreThoseOfSingleElements) {
  Dice dice(7);
  on_every_instruction_set("mean", [&](const std::string& set) {
    for (const DType dtype : dtypes())
      for (int round = 0; round < 40 && is_summable(dtype); ++round) {
        const std::size_t size = size_of(dtype);
        const auto count = static_cast<std::size_t>(dice.between(1, 70));
        std::vector<std::vector<std::byte>> rows(static_cast<std::size_t>(dice.between(1, 9)));
        for (auto& row : rows) {
          row.resize(count * size);
          dice.fill(row);
          if (dtype == DType::boolean && round % 2 == 0)
            for (std::byte& byte : row) byte &= std::byte{1};
        }
        const std::size_t parts = dtype == DType::complex64 || dtype == DType::complex128 ? 2 : 1;
        std::vector<double> met;
        for (std::size_t i = 0; i < count; ++i) {
          // With a smaller count, means could exceed the largest element.
          const auto number =
              static_cast<double>(rows.size()) + (dice.chance(80) ? 0 : static_cast<double>(dice.between(0, 2)));
          met.insert(met.end(), parts, dice.chance(10) ? 0 : number);
        }
        const double others = dice.chance(90) ? 1 : dice.chance(80) ? 3 : 0;
        FillLine fill;
        for (std::size_t i = 0; i < fill.size(); ++i) fill[i] = static_cast<std::byte>(i % size + 1);
        const Means side_by_side = means_of(dtype, rows, met, others, fill, false);
        const Means apart = means_of(dtype, rows, met, others, fill, true);
        // Elements for which needs_care() is true may differ, since careful_mean() computes them again.
        for (std::size_t at = 0; at < count * size; at += size) {
          const std::byte *one = &side_by_side.elements[at], *other = &apart.elements[at];
          ASSERT_TRUE(std::equal(one, one + size, other) || (needs_care(dtype, one) && needs_care(dtype, other)))
              << set << ", " << name_of(dtype) << ", element " << at / size << " of " << count;
        }
        ASSERT_EQ(side_by_side.certain, apart.certain) << set << ", " << name_of(dtype);
        // If the kernel reports no such element, needs_care() is false for all elements except filled ones.
        for (std::size_t i = 0; i < count && apart.certain; ++i)
          ASSERT_TRUE(met[i * parts] * others == 0 || !needs_care(dtype, &apart.elements[i * size]))
              << set << name_of(dtype);
      }
  });
}

TEST(Means, OfNanAndInfinityNeedCare) {
  on_every_instruction_set("mean", [&](const std::string& set) {
    for (const float value : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
      for (std::size_t at = 0; at < 37; ++at) {
        std::vector<float> row(37, 1);
        row[at] = value;
        std::vector<std::byte> bytes(37 * sizeof(float));
        std::memcpy(bytes.data(), row.data(), bytes.size());
        const Means means = means_of(DType::float32, {bytes, bytes}, std::vector<double>(37, 2), 1, {}, false);
        EXPECT_FALSE(means.certain) << set;
        for (std::size_t i = 0; i < 37; ++i)
          EXPECT_EQ(needs_care(DType::float32, &means.elements[4 * i]), i == at) << set << ", " << i;
      }
    // A byte of 2 is not a boolean, so its mean is not certain.
    std::vector<std::byte> bytes(40, std::byte{1});
    EXPECT_TRUE(means_of(DType::boolean, {bytes}, std::vector<double>(40, 1), 1, {}, false).certain) << set;
    bytes[3] = std::byte{2};
    const Means means = means_of(DType::boolean, {bytes}, std::vector<double>(40, 1), 1, {}, false);
    EXPECT_FALSE(means.certain) << set;
    EXPECT_TRUE(needs_care(DType::boolean, &means.elements[3])) << set;
  });
}

}  // namespace
}  // namespace patchfold::kernels
