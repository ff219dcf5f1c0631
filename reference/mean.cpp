// SPDX-License-Identifier: Apache-2.0
#include "reference/mean.hpp"

#include <algorithm>
#include <cassert>
#include <cfloat>
#include <cmath>
#include <limits>

#include "reference/numbers.hpp"

namespace reference {
namespace {

__extension__ using Wide = __int128;

#if LDBL_MANT_DIG == 113 || defined(__SIZEOF_FLOAT128__)
#if LDBL_MANT_DIG == 113
using Quad = long double;
#else
__extension__ using Quad = __float128;
#endif

/// Returns (sum + error) / count, rounded to a double at the end.
double quotient(double sum, double error, double count) {
  const Quad exact = error == 0 ? static_cast<Quad>(sum) : static_cast<Quad>(sum) + error;
  return static_cast<double>(exact / static_cast<Quad>(count));
}
#else
/// Returns (sum + error) / count without a 128-bit type: the nearest double of sum / count, plus the remainder divided by count.
double quotient(double sum, double error, double count) {
  const double nearest = sum / count;
  return nearest + (std::fma(-nearest, count, sum) + error) / count;
}
#endif

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Addresses of one part (real or imaginary) of all elements.
using Parts = std::vector<const std::byte*>;

template <class T>
void integer_mean(const Parts& parts, std::byte* to) {
  const Wide count = static_cast<Wide>(parts.size());
  Wide sum = 0;
  for (const std::byte* part : parts) sum += load<T>(part);
  // Rounds to nearest and halves upwards, and then corrects a half that became an odd number.
  const Wide twice = 2 * sum + count;
  Wide rest = twice % (2 * count);
  if (rest < 0) rest += 2 * count;
  Wide nearest = (twice - rest) / (2 * count);
  if (rest == 0 && nearest % 2 != 0) --nearest;
  save(to, static_cast<T>(nearest));
}

double mean_in_double(const std::vector<double>& values) {
  double sum = values.front();
  for (std::size_t i = 1; i < values.size(); ++i) sum += values[i];
  return std::isnan(sum) ? nan : sum / static_cast<double>(values.size());
}

/// Returns the mean. Adds up the errors of all additions too, by Dekker's formula, which needs the larger number first.
double mean_in_pairs(const std::vector<double>& values) {
  double sum = values.front(), errors = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double next = sum + values[i];
    const double larger = std::max(sum, values[i], [](double a, double b) { return std::fabs(a) < std::fabs(b); });
    const double smaller = larger == sum ? values[i] : sum;
    errors += smaller - (next - larger);
    sum = next;
  }
  return quotient(sum, errors, static_cast<double>(values.size()));
}

double mean_of_doubles(const std::vector<double>& values) {
  const auto has = [&](double wanted) { return std::ranges::find(values, wanted) != values.end(); };
  if (std::ranges::any_of(values, [](double value) { return std::isnan(value); })) return nan;
  if (has(infinity) && has(-infinity)) return nan;
  if (has(infinity)) return infinity;
  if (has(-infinity)) return -infinity;
  const double mean = mean_in_pairs(values);
  if (std::isfinite(mean)) return mean;
  std::vector<double> scaled;
  for (const double value : values) scaled.push_back(std::ldexp(value, -64));
  return std::ldexp(mean_in_pairs(scaled), 64);
}

template <class F>
std::vector<double> doubles(const Parts& parts, F number) {
  std::vector<double> values;
  for (const std::byte* part : parts) values.push_back(number(part));
  return values;
}

void mean_of_parts(const Type& type, const Parts& parts, std::byte* to) {
  switch (type.kind) {
    case Kind::boolean: {
      const auto yes = std::ranges::count_if(parts, [](const std::byte* part) { return load<std::uint8_t>(part) != 0; });
      return save(to, static_cast<std::uint8_t>(2 * yes > std::ssize(parts)));
    }
    case Kind::signed_integer:
    case Kind::unsigned_integer: return with_integer(type, [&](auto zero) { integer_mean<decltype(zero)>(parts, to); });
    case Kind::small_float: {
      const auto number = [&](const std::byte* part) { return load_small(type, part); };
      return save_small(type, to, mean_in_double(doubles(parts, number)));
    }
    case Kind::real:
      if (type.size == 4) return save(to, static_cast<float>(mean_in_double(doubles(parts, load<float>))));
      return save(to, mean_of_doubles(doubles(parts, load<double>)));
    default: assert(false);
  }
}

}  // namespace

void Mean::store(std::byte* element) const {
  const Type& type = type_of(dtype_);
  const bool is_complex = type.kind == Kind::complex;
  const std::size_t part_size = is_complex ? size_ / 2 : size_;
  const Type part_type = is_complex ? Type{dtype_, Kind::real, part_size} : type;
  for (std::size_t part = 0; part < size_; part += part_size) {
    Parts parts;
    for (std::size_t at = 0; at < bytes_.size(); at += size_) parts.push_back(bytes_.data() + at + part);
    const auto same = [&](const std::byte* other) { return std::equal(other, other + part_size, parts.front()); };
    if (std::ranges::all_of(parts, same))
      std::copy_n(parts.front(), part_size, element + part);
    else
      mean_of_parts(part_type, parts, element + part);
  }
}

}  // namespace reference
