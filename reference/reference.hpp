// SPDX-License-Identifier: Apache-2.0
// The reference: every operator, written index by index from its definition. The reference serves comparison and reading. It is
// slow, checks nothing beyond assertions, and shares no code with the library. Arrays are contiguous and row-major.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace reference {

enum class DType {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
  complex64,
  complex128,
  float8_e4m3fn,
  float8_e4m3fnuz,
  float8_e5m2,
  float8_e5m2fnuz,
  opaque,
};

/// The kinds of elements. C++ has no type for the small floats.
enum class Kind { boolean, signed_integer, unsigned_integer, small_float, real, complex, opaque };

/// A floating-point format of at most 16 bits.
struct Format {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  enum class Special {
    ieee,           ///< the highest exponent holds infinities and NaN
    one_nan,        ///< no infinities; the code of all ones is NaN
    unsigned_zero,  ///< no infinities; the code that would be -0 is NaN
  } special;
};

/// The facts of an element type.
struct Type {
  DType dtype;
  Kind kind;
  std::size_t size = 0;  ///< bytes; 0 for opaque elements
  Format format{};       ///< of small floats
};

/// One row for each element type, in the order of the enumerators.
inline constexpr Type types[] = {
    {DType::boolean, Kind::boolean, 1},
    {DType::int8, Kind::signed_integer, 1},
    {DType::int16, Kind::signed_integer, 2},
    {DType::int32, Kind::signed_integer, 4},
    {DType::int64, Kind::signed_integer, 8},
    {DType::uint8, Kind::unsigned_integer, 1},
    {DType::uint16, Kind::unsigned_integer, 2},
    {DType::uint32, Kind::unsigned_integer, 4},
    {DType::uint64, Kind::unsigned_integer, 8},
    {DType::float16, Kind::small_float, 2, {5, 10, 15, Format::Special::ieee}},
    {DType::bfloat16, Kind::small_float, 2, {8, 7, 127, Format::Special::ieee}},
    {DType::float32, Kind::real, 4},
    {DType::float64, Kind::real, 8},
    {DType::complex64, Kind::complex, 8},
    {DType::complex128, Kind::complex, 16},
    {DType::float8_e4m3fn, Kind::small_float, 1, {4, 3, 7, Format::Special::one_nan}},
    {DType::float8_e4m3fnuz, Kind::small_float, 1, {4, 3, 8, Format::Special::unsigned_zero}},
    {DType::float8_e5m2, Kind::small_float, 1, {5, 2, 15, Format::Special::ieee}},
    {DType::float8_e5m2fnuz, Kind::small_float, 1, {5, 2, 16, Format::Special::unsigned_zero}},
    {DType::opaque, Kind::opaque},
};
constexpr const Type& type_of(DType dtype) {
  return types[static_cast<std::size_t>(dtype)];
}

using List = std::vector<std::int64_t>;
/// A pair (begin, end) for each axis.
using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
using Number = std::variant<std::int64_t, std::uint64_t, double, std::complex<double>>;

struct Array {
  List shape{};
  DType dtype = DType::float32;
  std::size_t element_size = 4;
  std::vector<std::byte> bytes{};
};

/// The value of an argument: an integer or boolean, a list, a list of pairs, a word, or the fill value of unfold.
using Value = std::variant<std::int64_t, List, Pairs, std::string, Number>;
using Arguments = std::map<std::string, Value>;

/// Returns the names of all operators.
std::vector<std::string> operators();

/// Applies an operator. `coverage` takes only the element type from `data`. `held` is the content of the output before a fold that
/// accumulates.
Array run(const std::string& op, const Array& data, const Arguments& arguments, const Array* held = nullptr);

}  // namespace reference
