// SPDX-License-Identifier: Apache-2.0
#include "tensor/encode.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/fail.hpp"
#include "base/small_float.hpp"

namespace patchfold {
namespace {

// The functions of this file round by integer arithmetic, since the caller may have set another rounding mode, or may flush tiny
// numbers to zero.

bool is_zero(double value) {
  // Without volatile, clang 20 would compare numbers, not bits, and tiny numbers would count as zero if the caller flushes them.
  const volatile std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  return bits << 1 == 0;
}

bool is_whole(double value) {
  if (is_zero(value)) return true;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  if (exponent < 0 || exponent == 1024) return false;
  return exponent >= 52 || (bits & ((std::uint64_t{1} << (52 - exponent)) - 1)) == 0;
}

/// Returns the nearest float64, ties to even.
double nearest_float64(std::uint64_t value) {
  const int excess = std::max(0, 11 - std::countl_zero(value));  // bits beyond the 53 of float64
  std::uint64_t units = value >> excess;
  if (excess > 0) {
    const std::uint64_t rest = value & ((std::uint64_t{1} << excess) - 1);
    const std::uint64_t half = std::uint64_t{1} << (excess - 1);
    if (rest > half || (rest == half && units % 2 == 1)) ++units;
  }
  return static_cast<double>(units) * static_cast<double>(std::uint64_t{1} << excess);  // both steps are exact
}

/// Returns the nearest float32, ties to even; a NaN keeps its sign and the beginning of its payload.
float nearest_float32(double value) {
  constexpr SmallFormat float32{8, 23, 127, true, false};
  constexpr std::uint64_t payload = (std::uint64_t{1} << 51) - 1;
  const std::uint32_t rounded = round_to(float32, value).bits;
  const bool is_nan = (rounded & 0x7fffffffu) > 0x7f800000u;
  const auto kept = is_nan ? static_cast<std::uint32_t>((std::bit_cast<std::uint64_t>(value) & payload) >> 29) : 0;
  return std::bit_cast<float>(rounded | kept);
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
    std::string expected = dtype_ == DType::opaque ? "0" : text("a value of ") + text(dtype_);
    visit(dtype_, [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_integral_v<T>)
        expected = std::to_string(std::numeric_limits<T>::min()) + " to " + std::to_string(std::numeric_limits<T>::max());
    });
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
      put_small_float<T>();
    } else if constexpr (ComplexNumber<T>) {
      put_float<typename T::value_type>(real_part());
      put_float<typename T::value_type>(scalar_.imaginary());
    } else {
      put_float<T>(real());
    }
  }

  bool is_integer() const {
    return scalar_.kind() == Scalar::Kind::signed_integer || scalar_.kind() == Scalar::Kind::unsigned_integer;
  }
  double real_part() const {
    const bool is_negative = scalar_.kind() == Scalar::Kind::signed_integer && scalar_.as_signed() < 0;
    if (is_negative) return -nearest_float64(0 - scalar_.as_unsigned());
    return is_integer() ? nearest_float64(scalar_.as_unsigned()) : scalar_.real();
  }
  double real() const {
    if (!is_zero(scalar_.imaginary())) refuse("a real type holds no imaginary part");
    return real_part();
  }
  bool truth() const {
    return is_integer() ? scalar_.as_unsigned() != 0 : !is_zero(scalar_.real()) || !is_zero(scalar_.imaginary());
  }

  template <class T>
  void put_float(double value) {
    if constexpr (std::is_same_v<T, float>)
      put(nearest_float32(value));
    else
      put(value);
  }

  template <class T>
  void put_small_float() {
    const Rounded rounded = round_to(T::format, real());
    if (rounded.is_beyond && !T::format.has_infinity)
      refuse("the type has no infinity, and the number lies beyond its largest value");
    put(T{static_cast<decltype(T::bits)>(rounded.bits)});
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
    // 2^digits is the first number above the range; float64 holds 2^digits exactly, but may round the largest integer.
    const double above = std::ldexp(1.0, std::numeric_limits<T>::digits);
    const double below = std::is_signed_v<T> ? -above : 0;
    if (!is_whole(value) || !(value >= below && value < above)) refuse(rule);
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
