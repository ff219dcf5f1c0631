// SPDX-License-Identifier: Apache-2.0
#include "elements.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "reference/numbers.hpp"

namespace patchfold::testing {
namespace {

/// A floating-point format with infinities; complex types have two parts of this format.
struct Ieee {
  int exponent_bits;
  int mantissa_bits;
  int parts = 1;

  std::size_t bytes() const { return static_cast<std::size_t>(1 + exponent_bits + mantissa_bits) / 8; }
  std::uint64_t sign() const { return std::uint64_t{1} << (exponent_bits + mantissa_bits); }
  std::uint64_t mantissa() const { return (std::uint64_t{1} << mantissa_bits) - 1; }
  std::uint64_t infinity() const { return sign() - mantissa() - 1; }
  std::uint64_t all() const { return sign() | (sign() - 1); }
};

std::optional<Ieee> ieee(DType dtype) {
  switch (dtype) {
    case DType::float16: return Ieee{5, 10};
    case DType::bfloat16: return Ieee{8, 7};
    case DType::float32: return Ieee{8, 23};
    case DType::float64: return Ieee{11, 52};
    case DType::complex64: return Ieee{8, 23, 2};
    case DType::complex128: return Ieee{11, 52, 2};
    case DType::float8_e5m2: return Ieee{5, 2};
    default: return std::nullopt;
  }
}

bool is_signed(DType dtype) {
  return kind_of(dtype) == ElementKind::signed_integer;
}
bool is_integer(DType dtype) {
  return is_signed(dtype) || kind_of(dtype) == ElementKind::unsigned_integer;
}

std::uint64_t bits_of(const Ieee& format, double value) {
  std::uint64_t bits = 0;
  if (format.mantissa_bits == 52) {
    std::memcpy(&bits, &value, 8);
  } else if (format.mantissa_bits == 23) {
    const auto single = static_cast<float>(value);
    std::memcpy(&bits, &single, 4);
  } else {
    const int bias = (1 << (format.exponent_bits - 1)) - 1;
    bits = reference::encode({format.exponent_bits, format.mantissa_bits, bias, reference::Format::Special::ieee}, value);
  }
  return bits;
}

std::uint64_t special(Random& random, const Ieee& format) {
  const std::uint64_t sign = random.chance(50) ? format.sign() : 0;
  const std::uint64_t payload = random.next() & format.mantissa();
  switch (random.between(0, 6)) {
    case 0: return format.sign();  // -0
    case 1: return sign | format.infinity();
    case 2: return sign | format.infinity() | payload | 1;  // NaN, quiet or signalling
    case 3: return sign | payload;                          // subnormal
    case 4: return sign | (format.infinity() - 1);          // largest
    case 5: return sign | (format.mantissa() + 1);          // smallest normal
    default: return 0;
  }
}

std::vector<std::byte> floats(Random& random, const Ieee& format, std::int64_t count, Features& features) {
  const auto mood = random.between(0, 9);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count * format.parts) * format.bytes());
  for (std::size_t at = 0; at < bytes.size(); at += format.bytes()) {
    std::uint64_t bits = 0;
    if (mood < 3) {
      bits = bits_of(format, static_cast<double>(random.between(-8, 8)));
    } else if (mood < 6) {
      const double mantissa = static_cast<double>(random.between(-(1 << 30), 1 << 30)) / (1 << 30);
      bits = bits_of(format, std::ldexp(mantissa, static_cast<int>(random.between(-10, 10))));
    } else if (mood < 8) {
      bits =
          random.chance(20) ? special(random, format) : bits_of(format, static_cast<double>(random.between(-99, 99)) / 16);
    } else if (mood == 8) {
      bits = random.next() & format.all();
    } else {
      bits = format.sign();
    }
    if (bits == format.sign()) features.insert("-0.0");
    if ((bits & format.infinity()) == format.infinity()) features.insert((bits & format.mantissa()) != 0 ? "NaN" : "Inf");
    std::memcpy(bytes.data() + at, &bits, format.bytes());
  }
  return bytes;
}

}  // namespace

std::vector<ElementType> all_types() {
  std::vector<ElementType> types;
  for (const auto dtype : dtypes())
    if (dtype != DType::opaque) types.push_back({dtype, size_of(dtype)});
  for (const std::size_t size : {3u, 5u, 16u, 24u}) types.push_back({DType::opaque, size});
  return types;
}

std::vector<ElementType> summable_types() {
  std::vector<ElementType> types;
  for (const auto& type : all_types())
    if (is_summable(type.dtype)) types.push_back(type);
  return types;
}

std::string name_of(const ElementType& type) {
  const std::string name(patchfold::name_of(type.dtype));
  return type.dtype == DType::opaque ? name + std::to_string(type.size) : name;
}

reference::DType reference_type(DType dtype) {
  static_assert(static_cast<int>(DType::uint64) == static_cast<int>(reference::DType::uint64));
  static_assert(static_cast<int>(DType::complex128) == static_cast<int>(reference::DType::complex128));
  static_assert(static_cast<int>(DType::opaque) == static_cast<int>(reference::DType::opaque));
  return static_cast<reference::DType>(dtype);
}

std::vector<std::byte> random_elements(Random& random, const ElementType& type, std::int64_t count, Features& features) {
  if (const auto format = ieee(type.dtype)) return floats(random, *format, count, features);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * type.size);
  const auto mood = random.between(0, 2);
  for (std::size_t at = 0; at < bytes.size(); at += type.size) {
    if (type.dtype == DType::boolean && mood != 0) {
      bytes[at] = static_cast<std::byte>(random.between(0, 1));
    } else if (is_integer(type.dtype) && mood == 1) {
      const std::int64_t value = random.between(-5, 5);
      std::memcpy(bytes.data() + at, &value, type.size);
    } else if (is_integer(type.dtype) && mood == 2) {
      const std::uint64_t highest = std::uint64_t{1} << (8 * type.size - 1);
      const std::uint64_t value = random.pick(std::vector<std::uint64_t>{0, 1, ~std::uint64_t{0}, highest, highest - 1});
      std::memcpy(bytes.data() + at, &value, type.size);
    } else {
      for (std::size_t i = 0; i < type.size; ++i) bytes[at + i] = static_cast<std::byte>(random.next());
    }
  }
  return bytes;
}

Scalar random_scalar(Random& random, DType dtype) {
  if (dtype == DType::boolean) return random.between(0, 1);
  if (is_integer(dtype)) {
    const int bits = static_cast<int>(8 * size_of(dtype));
    const std::uint64_t highest = ~std::uint64_t{0} >> (64 - bits + (is_signed(dtype) ? 1 : 0));
    const auto top = static_cast<std::int64_t>(std::min(highest, std::uint64_t{1} << 61));
    if (!is_signed(dtype)) return random.chance(30) ? Scalar(highest) : Scalar(random.between(0, top));
    return random.chance(30) ? -static_cast<std::int64_t>(highest) - 1 : random.between(-top, top);
  }
  const bool small = size_of(dtype) == 1;
  if (dtype == DType::complex64 || dtype == DType::complex128) {
    if (random.chance(70))
      // Braces fix the order of evaluation, so that a seed gives the same numbers with every compiler.
      return std::complex<double>{random.pick(std::vector{0.1, -2.0, -0.0}), random.pick(std::vector{7.5, -0.0})};
  }
  switch (random.between(0, small ? 1 : 3)) {
    case 0: return random.pick(std::vector{1.5, -2.0, 0.25});
    case 1: return random.between(-4, 4);
    case 2: return random.pick(std::vector{0.1, -1.0 / 3, 2049.5, -0.0});
    default: return std::numeric_limits<double>::infinity();
  }
}

reference::Number reference_number(const Scalar& scalar) {
  switch (scalar.kind()) {
    case Scalar::Kind::signed_integer: return scalar.as_signed();
    case Scalar::Kind::unsigned_integer: return scalar.as_unsigned();
    case Scalar::Kind::real: return scalar.real();
    default: return std::complex<double>(scalar.real(), scalar.imaginary());
  }
}

void make_nans_alike(DType dtype, std::span<std::byte> elements) {
  const auto format = ieee(dtype);
  for (std::size_t at = 0; format && at < elements.size(); at += format->bytes()) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &elements[at], format->bytes());
    if ((bits & ~format->sign()) <= format->infinity()) continue;
    bits = format->infinity() | 1;
    std::memcpy(&elements[at], &bits, format->bytes());
  }
}

bool equal_up_to_nan(DType dtype, const std::byte* a, const std::byte* b) {
  std::vector<std::byte> x(a, a + size_of(dtype)), y(b, b + size_of(dtype));
  make_nans_alike(dtype, x);
  make_nans_alike(dtype, y);
  return x == y;
}

}  // namespace patchfold::testing
