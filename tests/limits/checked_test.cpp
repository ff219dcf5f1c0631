// SPDX-License-Identifier: Apache-2.0
// Compares checked arithmetic with 128-bit arithmetic, on all pairs of edges.
#include "base/checked.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "edges.hpp"

namespace patchfold::limits {
namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

/// Returns the number as int64, or nothing if it is out of the range of int64.
std::optional<std::int64_t> narrow(Wide value) {
  if (value < lowest || value > highest) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

/// Returns the largest integer not above a / b.
Wide floor_of(Wide a, Wide b) {
  Wide quotient = a / b;
  while (quotient * b > a) --quotient;
  return quotient;
}

TEST(Checked, AddsSubtractsAndMultipliesAsWideNumbersDo) {
  for (const std::int64_t a : edges()) {
    for (const std::int64_t b : edges()) {
      EXPECT_EQ(checked_add(a, b), narrow(Wide{a} + b)) << a << " + " << b;
      EXPECT_EQ(checked_sub(a, b), narrow(Wide{a} - b)) << a << " - " << b;
      EXPECT_EQ(checked_mul(a, b), narrow(Wide{a} * b)) << a << " * " << b;
      EXPECT_EQ((Checked(a) + b).value(), checked_add(a, b)) << a << " + " << b;
      EXPECT_EQ((Checked(a) - b).value(), checked_sub(a, b)) << a << " - " << b;
      EXPECT_EQ((Checked(a) * b).value(), checked_mul(a, b)) << a << " * " << b;
      EXPECT_EQ(saturating_mul(a, b), narrow(Wide{a} * b).value_or((a < 0) == (b < 0) ? highest : lowest))
          << a << " * " << b;
      EXPECT_EQ(wrapping_mul(a, b), static_cast<std::int64_t>(static_cast<std::uint64_t>(Wide{a} * b))) << a << " * " << b;
    }
  }
}

TEST(Checked, StaysWithoutAValue) {
  const Checked none = Checked(highest) + 1;
  for (const std::int64_t a : edges())
    for (const Checked later : {none + a, none - a, none * a, Checked(a) + none, Checked(a) - none, Checked(a) * none}) {
      EXPECT_FALSE(later.value()) << a;
      EXPECT_FALSE(later.is_below(highest)) << a;
    }
}

TEST(Checked, HoldsWhatFitsOfOtherTypes) {
  EXPECT_EQ(Checked(std::uint64_t{1} << 63).value(), std::nullopt);
  EXPECT_EQ(Checked(std::numeric_limits<std::uint64_t>::max()).value(), std::nullopt);
  EXPECT_EQ(Checked((std::uint64_t{1} << 63) - 1).value(), highest);
  EXPECT_EQ(Checked(std::numeric_limits<std::uint32_t>::max()).value(), 4294967295);
  EXPECT_EQ(Checked(std::int8_t{-1}).value(), -1);
}

TEST(Checked, KnowsWhatIsBelowALimit) {
  for (const std::int64_t a : edges()) {
    EXPECT_EQ(Checked(a).is_below(), Wide{a} < limits::size_limit && Wide{a} > -limits::size_limit) << a;
    EXPECT_EQ(Checked(a).is_below(10), a < 10 && a > -10) << a;
  }
}

TEST(Checked, ProductsOfThreeAsWideNumbersDo) {
  for (const std::int64_t a : edges()) {
    for (const std::int64_t b : edges()) {
      for (const std::int64_t c : {std::int64_t{0}, std::int64_t{1}, std::int64_t{7}, highest}) {
        const bool is_empty = a == 0 || b == 0;
        const auto two = narrow(Wide{c} * a);
        const auto expected = is_empty ? std::optional<std::int64_t>(0) : two ? narrow(Wide{*two} * b) : std::nullopt;
        EXPECT_EQ(checked_product({a, b}, c).value(), expected) << c << " * " << a << " * " << b;
      }
    }
  }
  EXPECT_EQ(checked_product({}).value(), 1);
  EXPECT_EQ(checked_product({}, 12).value(), 12);
  EXPECT_EQ(checked_product({highest, highest, 0}).value(), 0);
}

TEST(Division, RoundsAsTheFormulasMeanIt) {
  for (const std::int64_t a : edges()) {
    for (const std::int64_t b : edges()) {
      if (b < 1) continue;
      const Wide floor = floor_of(a, b);
      EXPECT_EQ(floor_div(a, b), floor) << a << " / " << b;
      EXPECT_EQ(ceil_div(a, b), floor + (floor * b == a ? 0 : 1)) << a << " / " << b;
      EXPECT_EQ(floor_mod(a, b), a - floor * b) << a << " / " << b;
    }
  }
}

}  // namespace
}  // namespace patchfold::limits
