// SPDX-License-Identifier: Apache-2.0
// Compares every kernel on every instruction set of this machine with plain loops, with guards around written memory.
// Tests that every instruction set from AVX3 on has the fast paths, even sets that this Highway does not have yet.
// Compares the vector loops of means with the loop over single elements; tests/rulings and tests/random compare that loop
// with the definition. Tests that needs_care() finds the elements that careful_mean() must compute.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "every_set.hpp"
#include "fenced.hpp"
#include "kernel_bytes.hpp"
#include "kernels/features.hpp"
#include "kernels/mean.hpp"
#include "kernels/move.hpp"
#include "kernels/processor.hpp"
#include "kernels/sum.hpp"
#include "patchfold/plan.hpp"

namespace patchfold::kernels {
namespace {

constexpr auto guard = std::byte{0xa5};

std::vector<std::byte> random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<std::byte> bytes(count);
  for (auto& byte : bytes) byte = static_cast<std::byte>(generator());
  return bytes;
}

/// Writes a small integer in the element type. Sums of such numbers are exact in every type.
template <class T>
void put_number(std::byte* at, DType dtype, int number) {
  T value{};
  if (dtype == DType::float16 || dtype == DType::bfloat16) {
    static constexpr std::uint16_t halves[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400};
    static constexpr std::uint16_t bfloats[] = {0, 0x3f80, 0x4000, 0x4040, 0x4080};
    const std::uint16_t* table = dtype == DType::float16 ? halves : bfloats;
    const std::uint16_t bits = table[number % 5];
    std::memcpy(at, &bits, 2);
    return;
  }
  value = static_cast<T>(number);
  std::memcpy(at, &value, sizeof value);
}

void put(std::byte* at, DType dtype, int number) {
  switch (dtype) {
    case DType::float32: return put_number<float>(at, dtype, number);
    case DType::float64: return put_number<double>(at, dtype, number);
    case DType::complex64: return put_number<float>(at, dtype, number), put_number<float>(at + 4, dtype, -number);
    case DType::complex128: return put_number<double>(at, dtype, number), put_number<double>(at + 8, dtype, -number);
    case DType::boolean: return put_number<std::uint8_t>(at, dtype, number % 3);
    case DType::int8:
    case DType::uint8: return put_number<std::uint8_t>(at, dtype, number);
    case DType::int16:
    case DType::uint16: return put_number<std::uint16_t>(at, dtype, number);
    case DType::int32:
    case DType::uint32: return put_number<std::uint32_t>(at, dtype, number);
    case DType::int64:
    case DType::uint64: return put_number<std::uint64_t>(at, dtype, number);
    default: return put_number<std::uint16_t>(at, dtype, number);
  }
}

/// Returns the sum of `rounds` elements that put_number() writes for `number`. 16-bit floats represent these sums exactly.
int total(DType dtype, int number, int rounds) {
  if (dtype == DType::boolean) return number % 3 != 0;
  if (dtype == DType::float16 || dtype == DType::bfloat16) return number % 5 * rounds;
  return number * rounds;
}

void check_sum(DType dtype) {
  const SumKernel& kernel = sum_kernel(dtype);
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  for (const std::int64_t count : {1, 2, 3, 7, 8, 15, 16, 17, 31, 64, 65, 100})
    for (const std::int64_t src_stride : {size, 2 * size, -size, std::int64_t{0}, 3 * size + 1})
      for (const std::int64_t dst_stride : {size, 2 * size + 1})
        for (const std::int64_t misalignment : {0, 1}) {
          constexpr int rounds = 2;
          std::vector<std::byte> src(static_cast<std::size_t>((count + 1) * (3 * size + 1) + 64));
          const std::int64_t origin = misalignment + (src_stride < 0 ? (count - 1) * size : 0);
          for (std::int64_t i = 0; i < count; ++i)
            put(src.data() + origin + i * src_stride, dtype, src_stride == 0 ? 3 : static_cast<int>(i));
          const auto used = static_cast<std::size_t>(count * kernel.accumulator_size);
          std::vector<std::byte> accumulators(used, std::byte{0});
          accumulators.resize(used + 16, guard);
          for (int round = 0; round < rounds; ++round)
            kernel.add(accumulators.data(), src.data() + origin, src_stride, count);
          for (std::size_t i = used; i < accumulators.size(); ++i) ASSERT_EQ(accumulators[i], guard);

          std::vector<std::byte> dst(static_cast<std::size_t>(count * dst_stride) + 32, guard);
          kernel.store(dst.data() + 16 + misalignment, dst_stride, accumulators.data(), count);
          std::vector<std::byte> expected(dst.size(), guard);
          for (std::int64_t i = 0; i < count; ++i) {
            const int number = total(dtype, src_stride == 0 ? 3 : static_cast<int>(i), rounds);
            std::byte* at = expected.data() + 16 + misalignment + i * dst_stride;
            if (dtype == DType::float16 || dtype == DType::bfloat16) {
              static constexpr std::uint16_t halves[] = {0, 0, 0x4000, 0, 0x4400, 0, 0x4600, 0, 0x4800};
              static constexpr std::uint16_t bfloats[] = {0, 0, 0x4000, 0, 0x4080, 0, 0x40c0, 0, 0x4100};
              const std::uint16_t bits = (dtype == DType::float16 ? halves : bfloats)[number];
              std::memcpy(at, &bits, 2);
            } else {
              put(at, dtype, number);
            }
          }
          ASSERT_EQ(dst, expected) << name_of(dtype) << " count " << count << " src stride " << src_stride << " dst stride "
                                   << dst_stride;
        }
}

TEST(SumKernels, AddAndStoreOnEveryInstructionSet) {
  on_every_instruction_set("sum", [](const std::string& set) {
    SCOPED_TRACE(set);
    for (const DType dtype : dtypes())
      if (is_summable(dtype)) check_sum(dtype);
  });
}

TEST(InstructionSets, AreThoseThatTheProcessorHas) {
  const auto offered = instruction_sets(), required = patchfold::testing::required_sets();
  for (const std::string& set : required)
    EXPECT_NE(std::find(offered.begin(), offered.end(), set), offered.end()) << set << " is missing";
  for (const auto& known : patchfold::testing::known_sets()) {
    const bool is_offered = std::find(offered.begin(), offered.end(), known.name) != offered.end();
    EXPECT_TRUE(known.available || !is_offered) << "this processor lacks " << known.name;
  }
}

TEST(InstructionSets, WhatIsChosenIsWhatEveryKernelRunsOn) {
  const auto sets = patchfold::testing::sets_to_run();
  for (const std::string& set : sets) {
    use_instruction_set(set);
    for (const auto& [name, target] : vector_kernels) EXPECT_EQ(target(), set) << name;
  }
  use_instruction_set("");
  for (const auto& [name, target] : vector_kernels) EXPECT_EQ(target(), instruction_sets().front()) << name;
}

TEST(InstructionSets, AreDistinctFunctions) {
  std::set<const SumKernel*> kernels;
  const auto sets = instruction_sets();
  for (const std::string& set : sets) {
    ASSERT_TRUE(use_instruction_set(set));
    kernels.insert(&sum_kernel(DType::float32));
  }
  EXPECT_EQ(kernels.size(), sets.size());
  ASSERT_TRUE(use_instruction_set(sets.back()));
  const SumKernel* chosen = &sum_kernel(DType::float32);
  patchfold::instruction_sets();  // this call must not change the chosen set
  EXPECT_EQ(&sum_kernel(DType::float32), chosen);
  ASSERT_TRUE(use_instruction_set(""));
  EXPECT_FALSE(use_instruction_set("no such set"));
}

TEST(CopyRow, MovesUnitsOfEverySizeAndStride) {
  for (std::int64_t unit = 1; unit <= 70; ++unit)
    for (const std::int64_t count : {1, 2, 5, 33})
      for (const std::int64_t src_stride : {unit, unit + 3, -unit - 1, std::int64_t{0}})
        for (const std::int64_t dst_stride : {unit, unit + 5, -unit}) {
          const auto src = random_bytes(static_cast<std::size_t>(count * (unit + 4) + 8), static_cast<unsigned>(unit));
          const std::int64_t from = src_stride < 0 ? (count - 1) * (unit + 1) : 1;
          const std::int64_t to = 8 + (dst_stride < 0 ? (count - 1) * unit : 0);
          std::vector<std::byte> dst(static_cast<std::size_t>(count * (unit + 6) + 16), guard);
          std::vector<std::byte> expected = dst;
          for (std::int64_t i = 0; i < count; ++i)
            std::memcpy(expected.data() + to + i * dst_stride, src.data() + from + i * src_stride,
                        static_cast<std::size_t>(unit));
          copy_row(dst.data() + to, dst_stride, src.data() + from, src_stride, count, unit);
          ASSERT_EQ(dst, expected) << "unit " << unit << " count " << count << " strides " << src_stride << " "
                                   << dst_stride;
        }
}

TEST(FillRow, RepeatsAnElementAndFillsLongOnesWithZeros) {
  const std::byte pattern[16] = {std::byte{1},  std::byte{2},  std::byte{3},  std::byte{4},  std::byte{5},  std::byte{6},
                                 std::byte{7},  std::byte{8},  std::byte{9},  std::byte{10}, std::byte{11}, std::byte{12},
                                 std::byte{13}, std::byte{14}, std::byte{15}, std::byte{16}};
  const std::byte zeros[16] = {};
  for (const std::int64_t element : {1, 2, 3, 4, 8, 16, 24})
    for (const std::int64_t elements : {1, 3})
      for (const std::int64_t count : {1, 2, 9})
        for (const std::int64_t gap : {0, 5})
          for (const bool zero : {false, true}) {
            const std::int64_t unit = element * elements;
            const std::byte* value = zero ? zeros : pattern;
            std::vector<std::byte> dst(static_cast<std::size_t>(count * (unit + gap) + 16), guard);
            std::vector<std::byte> expected = dst;
            for (std::int64_t i = 0; i < count; ++i)
              for (std::int64_t b = 0; b < unit; ++b)
                expected[static_cast<std::size_t>(8 + i * (unit + gap) + b)] =
                    element > 16 ? std::byte{0} : value[b % element];
            fill_row(dst.data() + 8, unit + gap, value, element, count, unit);
            ASSERT_EQ(dst, expected) << element << " x " << elements << " count " << count << " gap " << gap;
          }
}

/// A test that runs last, and fails for a kernel that never ran on one of the instruction sets.
class Coverage : public ::testing::Test {
 public:
  void TestBody() override {
    std::set<std::string> sets;
    for (const auto& [kernel, set] : runs_of_kernels()) sets.insert(set);
    std::printf("instruction sets:");
    for (const std::string& set : sets) std::printf(" %s", set.c_str());
    std::printf("\n");
    for (const std::string& set : patchfold::testing::sets_to_run()) {
      std::string line = set + ":";
      for (const auto& kernel : vector_kernels) {
        const bool ran = runs_of_kernels().contains({kernel.name, set});
        if (ran) line += " " + std::string(kernel.name) + ";";
        EXPECT_TRUE(ran) << kernel.name << " never ran on " << set;
      }
      std::printf("%s\n", line.c_str());
    }
  }
};

}  // namespace
}  // namespace patchfold::kernels

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  ::testing::RegisterTest("Kernels", "EachRanOnEveryInstructionSet", nullptr, nullptr, __FILE__, __LINE__,
                          []() -> ::testing::Test* { return new patchfold::kernels::Coverage; });
  return RUN_ALL_TESTS();
}

namespace patchfold::kernels {
namespace {

TEST(Features, EverySetFromAvx3OnHasTheFastPaths) {
  std::vector<std::int64_t> targets{HWY_AVX3, HWY_AVX3_DL};
#ifdef HWY_AVX3_ZEN4
  targets.push_back(HWY_AVX3_ZEN4);
#endif
#ifdef HWY_AVX3_SPR
  targets.push_back(HWY_AVX3_SPR);
#endif
#ifdef HWY_AVX10_2
  targets.push_back(HWY_AVX10_2);
#endif
  for (std::int64_t later = 1; later < HWY_AVX3; later *= 2) targets.push_back(later);
  for (const std::int64_t target : targets) {
    EXPECT_TRUE(has_avx512(target)) << target;
    EXPECT_TRUE(has_float16_conversions(target)) << target;
    EXPECT_EQ(vector_registers(target), 32) << target;
  }
}

TEST(Features, OlderAndOtherSetsDoNotHaveThem) {
  for (const std::int64_t target : {HWY_AVX2, HWY_SSE4, HWY_SSSE3, HWY_NEON, HWY_SCALAR})
    EXPECT_FALSE(has_avx512(target)) << target;
  for (const std::int64_t target : {HWY_SSE4, HWY_SSSE3, HWY_NEON, HWY_SCALAR})
    EXPECT_FALSE(has_float16_conversions(target)) << target;
  EXPECT_EQ(vector_registers(HWY_AVX2), HWY_ARCH_X86 ? 16 : 32);
}

TEST(Features, NoKernelAsksForASetByName) {
  const std::regex by_name("HWY_TARGET\\s*[=!<>]+\\s*HWY_(?!SCALAR)");
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(PATCHFOLD_KERNELS)) {
    std::ifstream in(file.path());
    std::string line;
    for (int number = 1; std::getline(in, line); ++number)
      EXPECT_FALSE(std::regex_search(line, by_name)) << file.path() << ":" << number << ": " << line;
    ++files;
  }
  EXPECT_GT(files, 10);
}

struct Means {
  std::vector<std::byte> elements{};
  bool certain = true;
};

/// Returns the mean of the rows for each element. With `apart`, the kernel reads and writes every second element.
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
          // A count below the number of rows could give means above the largest element.
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
        // If the kernel reports that all means are certain, needs_care() is false for all elements except filled ones.
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
