// SPDX-License-Identifier: Apache-2.0
#include "tensor/encode.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "tensor/fail.hpp"

namespace patchfold {
namespace {

/// The bits of `value` in `format`, or nothing if the format has no such value.
std::optional<std::uint16_t> round_to(double value, const SmallFormat& format) {
  const int sign_shift = format.exponent_bits + format.mantissa_bits;
  const unsigned sign = std::signbit(value) ? 1u << sign_shift : 0;
  const unsigned all_ones = (1u << sign_shift) - 1;
  const unsigned infinity = ((1u << format.exponent_bits) - 1) << format.mantissa_bits;
  const bool ieee = format.has_infinity;
  const bool unsigned_zero = format.negative_zero_is_nan;
  if (std::isnan(value)) {
    if (unsigned_zero) return static_cast<std::uint16_t>(1u << sign_shift);
    return static_cast<std::uint16_t>(sign | (ieee ? infinity | (1u << (format.mantissa_bits - 1)) : all_ones));
  }
  if (std::isinf(value)) return ieee ? std::optional(static_cast<std::uint16_t>(sign | infinity)) : std::nullopt;

  if (value == 0) return static_cast<std::uint16_t>(unsigned_zero ? 0 : sign);

  // In units of the last place of its binade, below the smallest normal number in units of the smallest subnormal one.
  int exponent = 0;
  std::frexp(value, &exponent);
  const int binade = std::max(exponent - 1, 1 - format.bias);
  const double units = std::nearbyint(std::ldexp(std::fabs(value), format.mantissa_bits - binade));
  // Counting units from zero runs through all finite values in order, so a carry into the next binade needs no case.
  const auto bits =
      static_cast<std::uint64_t>(units) + (static_cast<std::uint64_t>(binade - (1 - format.bias)) << format.mantissa_bits);
  const std::uint64_t largest = ieee ? infinity - 1 : unsigned_zero ? all_ones : all_ones - 1;
  if (bits > largest) return ieee ? std::optional(static_cast<std::uint16_t>(sign | infinity)) : std::nullopt;
  if (bits == 0 && unsigned_zero) return std::uint16_t{0};
  return static_cast<std::uint16_t>(sign | bits);
}

class Encoder {
 public:
  Encoder(const Scalar& scalar, DType dtype, std::string_view op, std::string_view argument)
      : scalar_(scalar), dtype_(dtype), op_(op), argument_(argument) {}

  std::array<std::byte, 16> run() {
    visit(dtype_, [this]<class T>(std::type_identity<T>) { put_as<T>(); });
    return bytes_;
  }

 private:
  [[noreturn]] void refuse(std::string_view rule) const {
    const std::string expected = dtype_ == DType::opaque ? "0" : text("a value of ") + text(dtype_);
    fail(ErrorCode::value, op_, argument_, rule, to_string(scalar_), expected);
  }

  template <class T>
  void put(T value) {
    std::memcpy(bytes_.data() + used_, &value, sizeof(T));
    used_ += sizeof(T);
  }

  template <class T>
  void put_as() {
    if constexpr (std::is_same_v<T, Opaque>) {
      if (truth()) refuse("elements without a numeric type are filled with zero bytes");
    } else if constexpr (std::is_same_v<T, Boolean>) {
      put(Boolean{truth()});
    } else if constexpr (std::is_integral_v<T>) {
      put_integer<T>();
    } else if constexpr (SmallFloat<T>) {
      put(T{static_cast<decltype(T::bits)>(small_float(T::format))});
    } else if constexpr (ComplexNumber<T>) {
      put(static_cast<typename T::value_type>(real_part()));
      put(static_cast<typename T::value_type>(scalar_.imaginary()));
    } else {
      put(static_cast<T>(real()));
    }
  }

  bool is_integer() const {
    return scalar_.kind() == Scalar::Kind::signed_integer || scalar_.kind() == Scalar::Kind::unsigned_integer;
  }
  double real_part() const {
    if (scalar_.kind() == Scalar::Kind::signed_integer) return static_cast<double>(scalar_.as_signed());
    if (scalar_.kind() == Scalar::Kind::unsigned_integer) return static_cast<double>(scalar_.as_unsigned());
    return scalar_.real();
  }
  double real() const {
    if (scalar_.imaginary() != 0) refuse("a real type holds no imaginary part");
    return real_part();
  }
  bool truth() const { return is_integer() ? scalar_.as_unsigned() != 0 : real_part() != 0 || scalar_.imaginary() != 0; }

  std::uint16_t small_float(const SmallFormat& format) const {
    const auto bits = round_to(real(), format);
    if (!bits) refuse("the type has no infinity, and the number lies beyond its largest value");
    return *bits;
  }

  template <class T>
  void put_integer() {
    constexpr std::string_view rule = "must be an integer in the range of the element type";
    if (scalar_.kind() == Scalar::Kind::unsigned_integer) {
      if (scalar_.as_unsigned() > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) refuse(rule);
      return put(static_cast<T>(scalar_.as_unsigned()));
    }
    if (scalar_.kind() == Scalar::Kind::signed_integer) {
      const std::int64_t value = scalar_.as_signed();
      if (!std::in_range<T>(value)) refuse(rule);
      return put(static_cast<T>(value));
    }
    const double value = real();
    // 2^digits is the first number above the range; it is exact in float64, the largest integer may not be.
    const double above = std::ldexp(1.0, std::numeric_limits<T>::digits);
    const double below = std::is_signed_v<T> ? -above : 0;
    if (!(value >= below && value < above) || value != std::floor(value)) refuse(rule);
    put(static_cast<T>(value));
  }

  const Scalar& scalar_;
  DType dtype_;
  std::string_view op_;
  std::string_view argument_;
  std::array<std::byte, 16> bytes_{};
  std::size_t used_ = 0;
};

}  // namespace

std::array<std::byte, 16> encode(const Scalar& scalar, DType dtype, std::string_view op, std::string_view argument) {
  return Encoder(scalar, dtype, op, argument).run();
}

}  // namespace patchfold
