// SPDX-License-Identifier: Apache-2.0
#include "reference/numbers.hpp"

#include <cmath>
#include <limits>

namespace reference {

double decode(const Format& format, unsigned code) {
  const unsigned mantissa_mask = (1u << format.mantissa_bits) - 1;
  const unsigned exponent_mask = (1u << format.exponent_bits) - 1;
  const unsigned mantissa = code & mantissa_mask;
  const unsigned exponent = (code >> format.mantissa_bits) & exponent_mask;
  const bool negative = (code >> (format.mantissa_bits + format.exponent_bits)) != 0;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double sign = negative ? -1.0 : 1.0;
  switch (format.special) {
    case Format::Special::ieee:
      if (exponent == exponent_mask) return mantissa != 0 ? nan : sign * std::numeric_limits<double>::infinity();
      break;
    case Format::Special::one_nan:
      if (exponent == exponent_mask && mantissa == mantissa_mask) return nan;
      break;
    case Format::Special::unsigned_zero:
      if (negative && exponent == 0 && mantissa == 0) return nan;
      break;
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - format.bias - format.mantissa_bits);
  return sign * std::ldexp(mantissa + (1u << format.mantissa_bits),
                           static_cast<int>(exponent) - format.bias - format.mantissa_bits);
}

unsigned encode(const Format& format, double value) {
  const unsigned exponent_mask = (1u << format.exponent_bits) - 1;
  const unsigned sign = (std::signbit(value) ? 1u : 0u) << (format.mantissa_bits + format.exponent_bits);
  const unsigned infinity = exponent_mask << format.mantissa_bits;
  const bool ieee = format.special == Format::Special::ieee;
  if (std::isnan(value)) {
    if (ieee) return sign | infinity | (1u << (format.mantissa_bits - 1));
    if (format.special == Format::Special::one_nan) return sign | infinity | ((1u << format.mantissa_bits) - 1);
    return 1u << (format.mantissa_bits + format.exponent_bits);
  }
  if (value == 0) return format.special == Format::Special::unsigned_zero ? 0 : sign;
  if (std::isinf(value)) {
    assert(ieee);
    return sign | infinity;
  }
  // Rounds the value to a whole number of units in the last place; nearbyint rounds ties to even.
  const double magnitude = std::fabs(value);
  int exponent = std::ilogb(magnitude);
  if (exponent < 1 - format.bias) exponent = 1 - format.bias;
  const double units = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
  // Below 2^mantissa_bits units the number is subnormal and its exponent field is 0. For other numbers the leading bit adds 1 to
  // the field of the exponent, and a carry out of the mantissa adds 1 too.
  const auto field = static_cast<unsigned>(exponent + format.bias - 1);
  const unsigned code = (field << format.mantissa_bits) + static_cast<unsigned>(units);
  if (ieee && code >= infinity) return sign | infinity;
  if (code == 0 && format.special == Format::Special::unsigned_zero) return 0;
  assert(code <= infinity + (1u << format.mantissa_bits) - 1);
  return sign | code;
}

double load_small(const Type& type, const std::byte* element) {
  return decode(type.format, type.size == 1 ? load<std::uint8_t>(element) : load<std::uint16_t>(element));
}

void save_small(const Type& type, std::byte* element, double value) {
  const unsigned code = encode(type.format, value);
  if (type.size == 1)
    save(element, static_cast<std::uint8_t>(code));
  else
    save(element, static_cast<std::uint16_t>(code));
}

namespace {

template <class T>
T convert(const Number& number) {
  return std::visit(
      [](auto value) {
        if constexpr (std::is_same_v<decltype(value), std::complex<double>>)
          return static_cast<T>(value.real());
        else
          return static_cast<T>(value);
      },
      number);
}

double imaginary(const Number& number) {
  const auto* value = std::get_if<std::complex<double>>(&number);
  return value == nullptr ? 0 : value->imag();
}

}  // namespace

std::vector<std::byte> element_of(const Number& number, DType dtype, std::size_t element_size) {
  std::vector<std::byte> bytes(element_size);
  const Type& type = type_of(dtype);
  assert(type.size <= element_size);
  std::byte* const to = bytes.data();
  switch (type.kind) {
    case Kind::boolean: save(to, static_cast<std::uint8_t>(convert<double>(number) != 0 || imaginary(number) != 0)); break;
    case Kind::signed_integer:
    case Kind::unsigned_integer: with_integer(type, [&](auto zero) { save(to, convert<decltype(zero)>(number)); }); break;
    case Kind::small_float: save_small(type, to, convert<double>(number)); break;
    case Kind::real:
      if (type.size == 4)
        save(to, convert<float>(number));
      else
        save(to, convert<double>(number));
      break;
    case Kind::complex:
      if (type.size == 8) {
        save(to, convert<float>(number));
        save(to + 4, static_cast<float>(imaginary(number)));
      } else {
        save(to, convert<double>(number));
        save(to + 8, imaginary(number));
      }
      break;
    case Kind::opaque: break;
  }
  return bytes;
}

}  // namespace reference
