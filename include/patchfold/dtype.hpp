// SPDX-License-Identifier: Apache-2.0
// Element types: the one table of their names, sizes and codes, and visit(), the one switch over them.
//
// CONTRIBUTING.md lists the steps for a new element type. Nothing depends on the order of the enumerators.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "patchfold/standard.hpp"

namespace patchfold {

/// Element types. `opaque` stands for any element of a fixed number of bytes: it can be copied but not added. The enumerators have
/// the numbers of pf_dtype in the C ABI, which never change.
enum class DType : std::uint8_t {
  boolean = 0,
  int8 = 1,
  int16 = 2,
  int32 = 3,
  int64 = 4,
  uint8 = 5,
  uint16 = 6,
  uint32 = 7,
  uint64 = 8,
  float16 = 9,
  bfloat16 = 10,
  float32 = 11,
  float64 = 12,
  complex64 = 13,
  complex128 = 14,
  float8_e4m3fn = 15,
  float8_e4m3fnuz = 16,
  float8_e5m2 = 17,
  float8_e5m2fnuz = 18,
  opaque = 19,
};

/// The kind of an element's value.
enum class ElementKind : std::uint8_t { boolean, signed_integer, unsigned_integer, real, complex, opaque };

/// The facts of an element type: its names and codes, in patchfold and in other systems.
struct DTypeInfo {
  DType dtype;
  std::string_view name;        ///< "float32"; NumPy and ml_dtypes have the same names
  std::string_view short_name;  ///< "f32", as problem strings write it
  ElementKind kind;
  std::uint8_t size;    ///< bytes; 0 for opaque
  bool summable;        ///< fold can add elements of this type
  char numpy_kind;      ///< NumPy's dtype.kind; files name a type by kind and size ("f4"); 'V' if NumPy lacks the type
  std::int16_t dlpack;  ///< DLDataTypeCode; DLPack's `bits` is the element's size in bits; -1 if DLPack lacks the type
  std::int16_t onnx;    ///< TensorProto.DataType; 0 (undefined) if ONNX lacks the type
  std::int16_t torch;   ///< ScalarType of torch.export's files; 0 if torch lacks the type
};

/// The table of element types. The index of a row is the number of its enumerator.
inline constexpr auto dtype_table = [] {
  using enum DType;
  using Kind = ElementKind;
  return std::to_array<DTypeInfo>({
      {boolean, "bool", "bool", Kind::boolean, 1, true, 'b', 6, 9, 12},
      {int8, "int8", "i8", Kind::signed_integer, 1, true, 'i', 0, 3, 2},
      {int16, "int16", "i16", Kind::signed_integer, 2, true, 'i', 0, 5, 3},
      {int32, "int32", "i32", Kind::signed_integer, 4, true, 'i', 0, 6, 4},
      {int64, "int64", "i64", Kind::signed_integer, 8, true, 'i', 0, 7, 5},
      {uint8, "uint8", "u8", Kind::unsigned_integer, 1, true, 'u', 1, 2, 1},
      {uint16, "uint16", "u16", Kind::unsigned_integer, 2, true, 'u', 1, 4, 28},
      {uint32, "uint32", "u32", Kind::unsigned_integer, 4, true, 'u', 1, 12, 34},
      {uint64, "uint64", "u64", Kind::unsigned_integer, 8, true, 'u', 1, 13, 35},
      {float16, "float16", "f16", Kind::real, 2, true, 'f', 2, 10, 6},
      {bfloat16, "bfloat16", "bf16", Kind::real, 2, true, 'V', 4, 16, 13},
      {float32, "float32", "f32", Kind::real, 4, true, 'f', 2, 1, 7},
      {float64, "float64", "f64", Kind::real, 8, true, 'f', 2, 11, 8},
      {complex64, "complex64", "c64", Kind::complex, 8, true, 'c', 5, 14, 10},
      {complex128, "complex128", "c128", Kind::complex, 16, true, 'c', 5, 15, 11},
      {float8_e4m3fn, "float8_e4m3fn", "f8e4m3fn", Kind::real, 1, false, 'V', 10, 17, 29},
      {float8_e4m3fnuz, "float8_e4m3fnuz", "f8e4m3fnuz", Kind::real, 1, false, 'V', 11, 18, 31},
      {float8_e5m2, "float8_e5m2", "f8e5m2", Kind::real, 1, false, 'V', 12, 19, 30},
      {float8_e5m2fnuz, "float8_e5m2fnuz", "f8e5m2fnuz", Kind::real, 1, false, 'V', 13, 20, 32},
      {opaque, "opaque", "opaque", Kind::opaque, 0, false, 'V', -1, 0, 0},
  });
}();
static_assert([] {
  for (std::size_t i = 0; i < dtype_table.size(); ++i)
    if (static_cast<std::size_t>(dtype_table[i].dtype) != i) return false;
  return true;
}());

/// Returns whether the value is an element type and not another number.
constexpr bool is_enumerator(DType dtype) noexcept {
  return static_cast<std::size_t>(dtype) < dtype_table.size();
}
/// Returns the row of an element type; opaque's row for a number that is not an enumerator.
constexpr const DTypeInfo& info_of(DType dtype) noexcept {
  return dtype_table[static_cast<std::size_t>(is_enumerator(dtype) ? dtype : DType::opaque)];
}
/// Returns the bytes of one element; 0 for opaque.
constexpr std::size_t size_of(DType dtype) noexcept {
  return info_of(dtype).size;
}
constexpr ElementKind kind_of(DType dtype) noexcept {
  return info_of(dtype).kind;
}
/// Returns the name, such as "float32".
constexpr std::string_view name_of(DType dtype) noexcept {
  return info_of(dtype).name;
}
/// Returns the name in problem strings, such as "f32".
constexpr std::string_view short_name_of(DType dtype) noexcept {
  return info_of(dtype).short_name;
}
/// Returns whether fold can add elements of this type.
constexpr bool is_summable(DType dtype) noexcept {
  return info_of(dtype).summable;
}
/// Returns the type with this name or short name; empty if no type has it.
constexpr std::optional<DType> dtype_of(std::string_view name) noexcept {
  for (const DTypeInfo& each : dtype_table)
    if (each.name == name || each.short_name == name) return each.dtype;
  return std::nullopt;
}

namespace detail {
inline constexpr auto all_dtypes = [] {
  std::array<DType, dtype_table.size()> list{};
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = dtype_table[i].dtype;
  return list;
}();
}  // namespace detail

/// Returns every element type, in the order of the table.
constexpr std::span<const DType> dtypes() noexcept {
  return detail::all_dtypes;
}

/// A binary floating-point type that C++ lacks. A number that becomes an element of such a type is rounded to nearest even. A
/// number that rounds beyond the largest number of the type becomes infinity if the type has infinity. In a type without infinity,
/// a fill beyond the largest number is an error, and conversions and merges give the largest number.
struct SmallFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_infinity;          ///< the largest exponent means infinity and NaN, as in IEEE 754
  bool negative_zero_is_nan;  ///< the only NaN is the pattern of -0
};

// Types for elements that C++ has no type for: each holds the bytes of one element.
struct Boolean {
  std::uint8_t byte;  ///< any number but 0 is true
};
struct Float16 {
  std::uint16_t bits;
  static constexpr SmallFormat format{5, 10, 15, true, false};
};
struct Bfloat16 {
  std::uint16_t bits;
  static constexpr SmallFormat format{8, 7, 127, true, false};
};
struct Float8E4M3FN {
  std::uint8_t bits;
  static constexpr SmallFormat format{4, 3, 7, false, false};
};
struct Float8E4M3FNUZ {
  std::uint8_t bits;
  static constexpr SmallFormat format{4, 3, 8, false, true};
};
struct Float8E5M2 {
  std::uint8_t bits;
  static constexpr SmallFormat format{5, 2, 15, true, false};
};
struct Float8E5M2FNUZ {
  std::uint8_t bits;
  static constexpr SmallFormat format{5, 2, 16, false, true};
};
/// The C++ type that stands for elements of any size.
struct Opaque {};

template <class T>
concept SmallFloat = requires {
  T::format;
};
template <class T>
concept ComplexNumber = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

/// Calls f(std::type_identity<T>()) with the C++ type of the elements and returns the result of f, whose type must be the same for
/// all T:
///   visit(dtype, []<class T>(std::type_identity<T>) { return sizeof(T); })
template <class F>
constexpr decltype(auto) visit(DType dtype, F&& f) {
  switch (dtype) {
    case DType::boolean: return f(std::type_identity<Boolean>());
    case DType::int8: return f(std::type_identity<std::int8_t>());
    case DType::int16: return f(std::type_identity<std::int16_t>());
    case DType::int32: return f(std::type_identity<std::int32_t>());
    case DType::int64: return f(std::type_identity<std::int64_t>());
    case DType::uint8: return f(std::type_identity<std::uint8_t>());
    case DType::uint16: return f(std::type_identity<std::uint16_t>());
    case DType::uint32: return f(std::type_identity<std::uint32_t>());
    case DType::uint64: return f(std::type_identity<std::uint64_t>());
    case DType::float16: return f(std::type_identity<Float16>());
    case DType::bfloat16: return f(std::type_identity<Bfloat16>());
    case DType::float32: return f(std::type_identity<float>());
    case DType::float64: return f(std::type_identity<double>());
    case DType::complex64: return f(std::type_identity<std::complex<float>>());
    case DType::complex128: return f(std::type_identity<std::complex<double>>());
    case DType::float8_e4m3fn: return f(std::type_identity<Float8E4M3FN>());
    case DType::float8_e4m3fnuz: return f(std::type_identity<Float8E4M3FNUZ>());
    case DType::float8_e5m2: return f(std::type_identity<Float8E5M2>());
    case DType::float8_e5m2fnuz: return f(std::type_identity<Float8E5M2FNUZ>());
    case DType::opaque: break;
  }
  return f(std::type_identity<Opaque>());
}

namespace detail {
/// Returns the element type for which visit() passes T. C++ has several integer types of one size: an integer type that
/// visit() never passes gets the element type of its size and sign.
template <class T>
consteval std::optional<DType> dtype_of_type() {
  if (std::is_same_v<T, bool>) return DType::boolean;
  const auto kind = std::is_signed_v<T> ? ElementKind::signed_integer : ElementKind::unsigned_integer;
  for (const DTypeInfo& each : dtype_table) {
    if (each.dtype == DType::opaque) continue;
    if (std::is_integral_v<T> && each.kind == kind && each.size == sizeof(T)) return each.dtype;
    if (visit(each.dtype, []<class E>(std::type_identity<E>) { return std::is_same_v<E, T>; })) return each.dtype;
  }
  return std::nullopt;
}
}  // namespace detail

/// The element type of a C++ type; empty if it has none. Specialise this variable for your own types:
///   template <>
///   inline constexpr std::optional<patchfold::DType> patchfold::dtype_for<my::Half> = patchfold::DType::float16;
template <class T>
inline constexpr std::optional<DType> dtype_for = detail::dtype_of_type<T>();

/// A type, const or not, that has an element type of its own size.
template <class T>
concept Element = dtype_for<std::remove_const_t<T>>.has_value() &&
                  size_of(*dtype_for<std::remove_const_t<T>>) == sizeof(T);

}  // namespace patchfold
