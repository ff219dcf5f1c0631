// SPDX-License-Identifier: Apache-2.0
// Tests the kernels that merge rows of tiles: vector loops and scalar loops must give the bits of expected(), a plain loop.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/small_float.hpp"
#include "every_set.hpp"
#include "fenced.hpp"
#include "kernel_bytes.hpp"
#include "kernels/blend.hpp"
#include "kernels/blend_scalar.hpp"
#include "kernels/stream.hpp"

namespace patchfold::kernels {
namespace {

using enum DType;

template <class T>
double number(T element) {
  if constexpr (std::is_same_v<T, Boolean>)
    return element.byte != 0;
  else if constexpr (SmallFloat<T>)
    return decode(T::format, element.bits);
  else
    return static_cast<double>(element);
}
/// Returns a random element: any bits, a number of usual size, zero of either sign, infinity, NaN, or a limit of the type.
template <class T>
T random_element(Dice& dice) {
  if constexpr (SmallFloat<T>) {  // any bits, or a magnitude from 2^-7 to 2
    const auto bits = static_cast<std::uint16_t>(dice.between(0, 0xffff));
    return {dice.chance(40) ? bits : static_cast<std::uint16_t>((bits & 0x83ff) | 0x3c00)};
  } else if constexpr (std::is_same_v<T, Boolean>) {
    return {static_cast<std::uint8_t>(dice.chance(90) ? dice.between(0, 1) : dice.between(0, 255))};
  } else if constexpr (std::is_floating_point_v<T>) {
    using Limits = std::numeric_limits<T>;
    switch (dice.between(0, 9)) {
      case 0: return dice.chance(50) ? T(0) : -T(0);
      case 1: return dice.chance(50) ? Limits::infinity() : -Limits::infinity();
      case 2: return dice.chance(50) ? Limits::quiet_NaN() : -Limits::signaling_NaN();
      case 3: return dice.chance(50) ? Limits::max() : Limits::denorm_min();
      default: return static_cast<T>(dice.between(-1000, 1000)) / T(7);
    }
  } else {
    using Limits = std::numeric_limits<T>;
    switch (dice.between(0, 3)) {
      case 0: return Limits::max();
      case 1: return Limits::min();
      default: return static_cast<T>(dice.between(Limits::min() < 0 ? -100 : 0, 100));
    }
  }
}

/// Returns element j of row r of the merged terms, by the definition in kernels/blend.hpp.
template <class From, class To>
To expected(const std::vector<BlendTerm>& terms, std::size_t r, std::size_t j, bool keep_equal) {
  double sum = 0;
  bool equal = true;
  const auto element_of = [&](const BlendTerm& term) {
    return term.elements + static_cast<std::int64_t>(r) * term.pitch + j * sizeof(From);
  };
  const std::byte* first = element_of(terms[0]);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::byte* at = element_of(terms[i]);
    equal &= std::memcmp(at, first, sizeof(From)) == 0;
    const double scale = terms[i].scales ? terms[i].scale * terms[i].scales[r] : terms[i].scale;
    const double product =
        number(load<From>(at)) *
        (scale * terms[i].weights[static_cast<std::int64_t>(r) * terms[i].weights_pitch + static_cast<std::int64_t>(j)]);
    sum = i == 0 ? product : sum + product;
  }
  if (std::isnan(sum)) sum = std::numeric_limits<double>::quiet_NaN();
  if constexpr (std::is_same_v<From, To>)
    if (keep_equal && equal) return load<To>(first);
  if (keep_equal && equal) sum = number(load<From>(first));
  if constexpr (std::is_same_v<To, Boolean>) {
    return {sum > 0.5};
  } else if constexpr (SmallFloat<To>) {
    return {static_cast<decltype(To::bits)>(encode(To::format, sum))};
  } else if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(sum);
  } else {
    if (std::isnan(sum)) return 0;
    const double rounded = std::nearbyint(sum);
    if (rounded <= static_cast<double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (rounded >= static_cast<double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(rounded);
  }
}

template <class From, class To>
void check_row(DType from, DType to, const std::string& set, Dice& dice) {
  const auto terms_count = static_cast<std::size_t>(dice.between(1, 9));
  const auto rows = static_cast<std::size_t>(dice.between(1, 3));
  const auto count = static_cast<std::size_t>(dice.chance(20) ? dice.between(100, 300) : dice.between(1, 80));
  const std::size_t pitch = (count + static_cast<std::size_t>(dice.between(0, 3))) * sizeof(From);
  const std::size_t made_pitch = (count + static_cast<std::size_t>(dice.between(0, 3))) * sizeof(To);
  const bool has_scales = dice.chance(50);
  const bool keep_equal = dice.chance(50), all_equal = dice.chance(20);
  std::vector<std::unique_ptr<Fenced>> elements;
  std::vector<std::vector<double>> weights(terms_count), scales(terms_count);
  std::vector<BlendTerm> terms;
  for (std::size_t i = 0; i < terms_count; ++i) {
    elements.push_back(std::make_unique<Fenced>((rows - 1) * pitch + count * sizeof(From), dice.chance(80)));
    for (std::size_t r = 0; r < rows; ++r) scales[i].push_back(static_cast<double>(dice.between(1, 9)) / 7.0);
    for (std::size_t j = 0; j < count * rows; ++j) weights[i].push_back(static_cast<double>(dice.between(1, 1000)) / 999.0);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t j = 0; j < count; ++j) {
        const std::size_t at = r * pitch + j * sizeof(From);
        const From value =
            i > 0 && (all_equal || dice.chance(30)) ? load<From>(elements[0]->data() + at) : random_element<From>(dice);
        std::memcpy(elements[i]->data() + at, &value, sizeof value);
      }
    terms.push_back({elements[i]->data(), weights[i].data(), static_cast<double>(dice.between(1, 8)) / 3.0,
                     static_cast<std::int64_t>(pitch), 64, has_scales ? scales[i].data() : nullptr, nullptr,
                     dice.chance(50) ? static_cast<std::int64_t>(count) : 0});
  }
  for (const Blend row : {weighted_rows(from, to, keep_equal), weighted_rows_scalar(from, to, keep_equal)}) {
    Fenced made((rows - 1) * made_pitch + count * sizeof(To));
    row({made.data(), static_cast<std::int64_t>(made_pitch), terms.data(), static_cast<std::int64_t>(terms_count),
         static_cast<std::int64_t>(rows), static_cast<std::int64_t>(count)});
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t j = 0; j < count; ++j) {
        const To wanted = expected<From, To>(terms, r, j, keep_equal);
        const std::byte* at = made.data() + r * made_pitch + j * sizeof(To);
        ASSERT_EQ(std::memcmp(at, &wanted, sizeof wanted), 0)
            << number(load<To>(at)) << " for " << number(wanted) << ": " << set << ", " << name_of(from) << " to "
            << name_of(to) << ", " << terms_count << " terms, row " << r << ", element " << j << " of " << count
            << (keep_equal ? ", equal ones kept" : "");
      }
  }
}

TEST(KernelBlend, EveryInstructionSetMakesTheBitsOfAPlainLoop) {
  on_every_instruction_set("blend", [](const std::string& set) {
    Dice dice(7);
    for (int round = 0; round < 300; ++round) {
      check_row<std::int8_t, std::int8_t>(int8, int8, set, dice);
      check_row<std::uint8_t, std::uint8_t>(uint8, uint8, set, dice);
      check_row<std::int16_t, std::int16_t>(int16, int16, set, dice);
      check_row<std::uint16_t, std::uint16_t>(uint16, uint16, set, dice);
      check_row<std::int32_t, std::int32_t>(int32, int32, set, dice);
      check_row<std::uint32_t, std::uint32_t>(uint32, uint32, set, dice);
      check_row<float, float>(float32, float32, set, dice);
      check_row<double, double>(float64, float64, set, dice);
      check_row<std::uint8_t, float>(uint8, float32, set, dice);
      check_row<std::uint16_t, double>(uint16, float64, set, dice);
      check_row<std::int32_t, float>(int32, float32, set, dice);
      check_row<float, double>(float32, float64, set, dice);
      check_row<Float16, Float16>(float16, float16, set, dice);
      check_row<Bfloat16, Bfloat16>(bfloat16, bfloat16, set, dice);
      check_row<Boolean, Boolean>(boolean, boolean, set, dice);
      check_row<Float16, float>(float16, float32, set, dice);
      check_row<Bfloat16, double>(bfloat16, float64, set, dice);
      check_row<Boolean, float>(boolean, float32, set, dice);
      check_row<std::int8_t, double>(int8, float64, set, dice);
      check_row<double, float>(float64, float32, set, dice);
    }
  });
}

/// Merges terms in several calls, and expects the bits that one call with keep_equal gives. The weights add up to 1. With
/// `in_place`, dst holds the elements of the first term before the first call.
void check_folding(bool is_scalar, bool in_place, const std::string& set, Dice& dice) {
  const auto terms_count = static_cast<std::size_t>(dice.between(1, 9));
  const auto rows = static_cast<std::size_t>(dice.between(1, 3)), count = static_cast<std::size_t>(dice.between(1, 80));
  const bool all_equal = dice.chance(20);
  std::vector<std::vector<float>> elements(terms_count);
  std::vector<std::vector<double>> weights(terms_count);
  std::vector<double> whole(count);
  for (auto& of_term : weights)
    for (std::size_t j = 0; j < count; ++j) whole[j] += of_term.emplace_back(static_cast<double>(dice.between(1, 1000)));
  std::vector<BlendTerm> terms;
  for (std::size_t i = 0; i < terms_count; ++i) {
    for (std::size_t j = 0; j < count; ++j) weights[i][j] /= whole[j];
    for (std::size_t j = 0; j < rows * count; ++j)
      elements[i].push_back(i > 0 && (all_equal || dice.chance(60)) ? elements[0][j] : random_element<float>(dice));
    terms.push_back({reinterpret_cast<const std::byte*>(elements[i].data()), weights[i].data(), 1,
                     static_cast<std::int64_t>(count * sizeof(float))});
  }
  std::vector<float> made = in_place ? elements[0] : std::vector<float>(rows * count);
  std::vector<std::byte> low(rows * count * sizeof(std::uint32_t), std::byte{0xab});
  std::vector<BlendTerm> given = terms;
  if (in_place) given[0].elements = reinterpret_cast<const std::byte*>(made.data());
  BlendRows block{.dst = reinterpret_cast<std::byte*>(made.data()),
                  .pitch = static_cast<std::int64_t>(count * sizeof(float)),
                  .rows = static_cast<std::int64_t>(rows),
                  .count = static_cast<std::int64_t>(count),
                  .low = low.data(),
                  .low_pitch = static_cast<std::int64_t>(count * sizeof(std::uint32_t))};
  for (std::size_t begin = 0, end = 0; begin < terms_count; begin = end) {
    end = begin + static_cast<std::size_t>(dice.between(1, static_cast<std::int64_t>(terms_count - begin)));
    block.terms = given.data() + begin;
    block.terms_count = static_cast<std::int64_t>(end - begin);
    const bool is_last = end == terms_count;
    const Fold step = begin == 0 ? (is_last ? Fold::whole : Fold::begin) : (is_last ? Fold::finish : Fold::add);
    (is_scalar ? folding_rows_scalar(step) : folding_rows(step))(block);
  }
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t j = 0; j < count; ++j) {
      const auto wanted = expected<float, float>(terms, r, j, true);
      ASSERT_EQ(std::memcmp(&made[r * count + j], &wanted, sizeof wanted), 0)
          << made[r * count + j] << " for " << wanted << ": " << set << ", " << terms_count << " terms, row " << r
          << ", element " << j << " of " << count << (is_scalar ? ", plain loop" : "") << (in_place ? ", in place" : "");
    }
}

TEST(KernelBlend, TermsInSeveralCallsGiveTheBitsOfOneCall) {
  on_every_instruction_set("blend", [](const std::string& set) {
    Dice dice(5);
    for (int round = 0; round < 1000; ++round) check_folding(round % 2 == 0, round % 4 < 2, set, dice);
  });
}

/// Tests short sums: plain loops and vectors give the same bits, however the terms are divided among calls, and equal elements give
/// these elements. `inverse` is 1 / the sum of the weights.
void check_short_sums(const std::string& set, Dice& dice) {
  const auto terms_count = static_cast<std::size_t>(dice.between(2, 9)), count = static_cast<std::size_t>(dice.between(1, 70));
  const bool are_equal = dice.chance(30);
  std::vector<std::vector<float>> elements(terms_count);
  std::vector<std::vector<double>> weights(terms_count);
  std::vector<double> inverse(count);
  std::vector<BlendTerm> terms;
  for (std::size_t i = 0; i < terms_count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      elements[i].push_back(i > 0 && are_equal ? elements[0][j] : random_element<float>(dice));
      inverse[j] += weights[i].emplace_back(static_cast<double>(dice.between(1, 1000)) / 7);
    }
    terms.push_back({reinterpret_cast<const std::byte*>(elements[i].data()), weights[i].data()});
  }
  for (double& each : inverse) each = 1 / each;
  const auto made = [&](bool is_scalar, bool is_split) {
    std::vector<float> row(count);
    std::vector<std::byte> low(count * sizeof(std::uint16_t));
    BlendRows block{.dst = reinterpret_cast<std::byte*>(row.data()), .count = static_cast<std::int64_t>(count)};
    block.low = low.data();
    block.inverse = inverse.data();
    for (std::size_t begin = 0, end = 0; begin < terms_count; begin = end) {
      const std::int64_t rest = static_cast<std::int64_t>(terms_count - begin);
      end = is_split ? begin + static_cast<std::size_t>(dice.between(begin == 0 ? 2 : 1, rest)) : terms_count;
      block.terms = terms.data() + begin;
      block.terms_count = static_cast<std::int64_t>(end - begin);
      const bool is_last = end == terms_count;
      const Fold step = begin == 0 ? (is_last ? Fold::whole : Fold::begin) : (is_last ? Fold::finish : Fold::add);
      (is_scalar ? folding_rows_scalar(step, true) : folding_rows(step, true))(block);
    }
    return row;
  };
  const std::vector<float> expected = are_equal ? elements[0] : made(true, false);
  for (const bool is_scalar : {true, false})
    for (const bool is_split : {true, false}) {
      const std::vector<float> given = made(is_scalar, is_split);
      ASSERT_EQ(std::memcmp(given.data(), expected.data(), count * sizeof(float)), 0) << set << (is_split ? ", split" : "");
    }
}

TEST(KernelBlend, ShortSumsHaveTheSameBitsHoweverTermsComeIn) {
  on_every_instruction_set("blend", [](const std::string& set) {
    Dice dice(6);
    for (int round = 0; round < 500; ++round) check_short_sums(set, dice);
  });
}

TEST(KernelBlend, NormalisedWeightsAreThoseOfAPlainLoop) {
  on_every_instruction_set("normalise", [](const std::string& set) {
    Dice dice(11);
    for (int round = 0; round < 400; ++round) {
      const std::int64_t count = dice.between(1, 40), rows = dice.between(1, 3), terms_count = dice.between(1, 9);
      std::vector<std::vector<double>> given(static_cast<std::size_t>(terms_count));
      std::vector<RawWeights::Term> terms;
      for (auto& weights : given) {
        for (std::int64_t j = 0; j < rows * count; ++j)
          weights.push_back(dice.chance(30) ? 0 : static_cast<double>(dice.between(1, 1000)) / 37);
        terms.push_back({weights.data(), dice.chance(50) ? count : 0});
      }
      const std::int64_t term_pitch = rows * count + dice.between(0, 3);
      std::vector<double> made(static_cast<std::size_t>(terms_count * term_pitch), -1);
      normalise({terms.data(), terms_count, rows, count, made.data(), term_pitch});
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t j = 0; j < count; ++j) {
          double sum = 0;
          for (const auto& term : terms) sum += term.from[r * term.pitch + j];
          for (std::int64_t i = 0; i < terms_count; ++i) {
            const auto& term = terms[static_cast<std::size_t>(i)];
            const double weight = sum == 0 ? 0 : term.from[r * term.pitch + j] * (1 / sum);
            ASSERT_EQ(made[static_cast<std::size_t>(i * term_pitch + r * count + j)], weight) << set << ", " << j;
          }
        }
    }
  });
}

/// Tests means of 8-bit elements with weights that add up to 1. The kernel adds in float32 if float32 is exact enough.
template <class T>
void check_mean(DType dtype, const std::string& set, Dice& dice) {
  const auto terms_count = static_cast<std::size_t>(dice.chance(2) ? dice.between(250, 260) : dice.between(1, 9));
  const auto count = static_cast<std::size_t>(dice.between(1, 150));
  // With equal weights, such as eighths, many means lie halfway between two integers.
  const bool is_coarse = dice.chance(50);
  std::vector<std::vector<double>> weights(terms_count);
  std::vector<std::vector<float>> rough(terms_count);
  for (std::size_t j = 0; j < count; ++j) {
    double sum = 0;
    std::vector<double> shares;
    for (std::size_t i = 0; i < terms_count; ++i)
      sum += shares.emplace_back(is_coarse ? 1.0 : static_cast<double>(dice.between(1, 1000000)));
    for (std::size_t i = 0; i < terms_count; ++i) {
      weights[i].push_back(shares[i] / sum);
      rough[i].push_back(static_cast<float>(weights[i].back()));
    }
  }
  std::vector<std::vector<T>> elements(terms_count);
  std::vector<BlendTerm> terms;
  for (std::size_t i = 0; i < terms_count; ++i) {
    for (std::size_t j = 0; j < count; ++j)
      elements[i].push_back(i > 0 && dice.chance(50) ? elements[0][j] : random_element<T>(dice));
    BlendTerm term{reinterpret_cast<const std::byte*>(elements[i].data()), weights[i].data()};
    term.rough = rough[i].data();
    terms.push_back(term);
  }
  Fenced made(count * sizeof(T));
  weighted_rows(dtype, dtype, true)(
      {made.data(), 0, terms.data(), static_cast<std::int64_t>(terms_count), 1, static_cast<std::int64_t>(count)});
  for (std::size_t j = 0; j < count; ++j) {
    const T wanted = expected<T, T>(terms, 0, j, true);
    ASSERT_EQ(std::memcmp(made.data() + j * sizeof(T), &wanted, sizeof wanted), 0)
        << number(load<T>(made.data() + j * sizeof(T))) << " for " << number(wanted) << ": " << set << ", " << name_of(dtype)
        << ", " << terms_count << " terms, element " << j << " of " << count;
  }
}

TEST(KernelBlend, MeansOf8BitElementsAreThoseOfFloat64) {
  on_every_instruction_set("blend means", [](const std::string& set) {
    Dice dice(8);
    for (int round = 0; round < 500; ++round) {
      check_mean<std::uint8_t>(uint8, set, dice);
      check_mean<std::int8_t>(int8, set, dice);
      check_mean<Boolean>(boolean, set, dice);
    }
  });
}

TEST(KernelBlend, WholeLinesPastTheCacheHoldTheSameBits) {
  on_every_instruction_set("blend lines", [](const std::string& set) {
    Dice dice(9);
    for (const DType dtype : {float32, float64})
      for (std::int64_t terms_count = 1; terms_count <= 9; ++terms_count)
        for (const bool keep_equal : {false, true}) {
          const Blend lines = weighted_lines(dtype, keep_equal);
          if (lines == nullptr) {
            const bool wide = set.starts_with("AVX");  // vectors of more than 16 bytes
            EXPECT_TRUE(set == "SCALAR" || (!wide && dtype == float32)) << set;
            continue;
          }
          const std::int64_t bytes = 64 * dice.between(1, 5);
          const auto count = bytes / static_cast<std::int64_t>(size_of(dtype));
          std::vector<std::vector<std::byte>> elements(static_cast<std::size_t>(terms_count));
          std::vector<double> weights;
          for (std::int64_t j = 0; j < count; ++j) weights.push_back(static_cast<double>(dice.between(1, 99)) / 7);
          std::vector<BlendTerm> terms;
          for (auto& part : elements) {
            part.resize(static_cast<std::size_t>(bytes) + 3);
            dice.fill(part);
            terms.push_back({part.data() + 3, weights.data(), 0.5});
          }
          Target target(bytes, 0);
          weighted_rows(dtype, dtype, keep_equal)({target.expected(), 0, terms.data(), terms_count, 1, count});
          lines({target.data(), 0, terms.data(), terms_count, 1, count});
          finish_stores();
          EXPECT_EQ(target.wrong(), "") << set << ", " << name_of(dtype) << ", " << terms_count << " terms";
        }
  });
}

TEST(KernelBlend, EveryTypeOfNumbersHasARow) {
  for (const DType dtype : dtypes()) {
    const bool is_real = dtype != opaque && dtype != complex64 && dtype != complex128;
    EXPECT_EQ(weighted_rows(dtype, dtype, true) != nullptr, is_real) << name_of(dtype);
    EXPECT_EQ(extreme_rows(dtype, true) != nullptr, is_real) << name_of(dtype);
    EXPECT_EQ(integer64_rows(dtype, Integers64::mean) != nullptr, dtype == int64 || dtype == uint64) << name_of(dtype);
  }
  EXPECT_EQ(weighted_rows(float64, int32, true), nullptr);
}

TEST(KernelBlend, SumsBeyondTheLargestSmallFloatAreInfinityOrTheLargest) {
  const struct {
    DType dtype;
    std::uint8_t largest, minus_largest, sum, minus_sum;
  } types[] = {{float8_e5m2, 0x7b, 0xfb, 0x7c, 0xfc},
               {float8_e4m3fn, 0x7e, 0xfe, 0x7e, 0xfe},
               {float8_e4m3fnuz, 0x7f, 0xff, 0x7f, 0xff},
               {float8_e5m2fnuz, 0x7f, 0xff, 0x7f, 0xff}};
  const double ones[] = {1, 1};
  for (const auto& type : types) {
    const std::uint8_t a[] = {type.largest, type.minus_largest};
    const BlendTerm terms[] = {{reinterpret_cast<const std::byte*>(a), ones}, {reinterpret_cast<const std::byte*>(a), ones}};
    std::uint8_t made[2];
    weighted_rows(type.dtype, type.dtype, false)({reinterpret_cast<std::byte*>(made), 0, terms, 2, 1, 2});
    EXPECT_EQ(std::vector(made, made + 2), (std::vector<std::uint8_t>{type.sum, type.minus_sum})) << name_of(type.dtype);
  }
}

TEST(KernelBlend, A64BitMeanRoundsToNearestEvenBeyondWhatFloat64Holds) {
  const std::int64_t large = std::numeric_limits<std::int64_t>::max();
  const std::int64_t a[] = {large, -3, 1, large, -large - 1}, b[] = {large - 1, -2, 2, large, -large - 1};
  const BlendTerm terms[] = {{reinterpret_cast<const std::byte*>(a), nullptr},
                             {reinterpret_cast<const std::byte*>(b), nullptr}};
  std::int64_t made[5];
  integer64_rows(int64, Integers64::mean)({reinterpret_cast<std::byte*>(made), 0, terms, 2, 1, 5});
  EXPECT_EQ(std::vector(made, made + 5), (std::vector<std::int64_t>{large - 1, -2, 2, large, -large - 1}));
  integer64_rows(int64, Integers64::sum)({reinterpret_cast<std::byte*>(made), 0, terms, 2, 1, 5});
  EXPECT_EQ(std::vector(made, made + 5), (std::vector<std::int64_t>{large, -5, 3, large, -large - 1}));
}

TEST(KernelBlend, ExtremesKeepTheFirstNaNAndTheFirstOfEqualOnes) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float a[] = {1, nan, 3, -0.0F}, b[] = {2, 5, nan, 0.0F}, c[] = {0, 9, 4, 0.0F};
  const BlendTerm terms[] = {{reinterpret_cast<const std::byte*>(a), nullptr},
                             {reinterpret_cast<const std::byte*>(b), nullptr},
                             {reinterpret_cast<const std::byte*>(c), nullptr}};
  float made[4];
  extreme_rows(float32, true)({reinterpret_cast<std::byte*>(made), 0, terms, 3, 1, 4});
  EXPECT_EQ(made[0], 2);
  EXPECT_TRUE(std::isnan(made[1]));
  EXPECT_TRUE(std::isnan(made[2]));
  EXPECT_TRUE(std::signbit(made[3]));
  extreme_rows(float32, false)({reinterpret_cast<std::byte*>(made), 0, terms, 3, 1, 4});
  EXPECT_EQ(made[0], 0);
  EXPECT_TRUE(std::isnan(made[2]));
}

}  // namespace
}  // namespace patchfold::kernels
