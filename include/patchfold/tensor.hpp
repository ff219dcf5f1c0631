// SPDX-License-Identifier: Apache-2.0
// Values: lists of extents, numbers, and views of tensors in memory that the caller owns.
#pragma once

#include <array>
#include <bit>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "patchfold/dtype.hpp"
#include "patchfold/export.hpp"
#include "patchfold/words.hpp"

namespace patchfold {

/// The largest number of axes of a tensor, and of entries of a list.
inline constexpr int max_rank = 32;

/// A list of at most `max_rank` 64-bit integers: a shape, byte strides or an attribute. Never allocates; a longer list
/// throws Error(limit).
class Dims {
 public:
  using value_type = std::int64_t;

  constexpr Dims() = default;
  constexpr Dims(std::initializer_list<std::int64_t> values) : Dims(std::span(values.begin(), values.size())) {}
  template <class T, std::size_t N>
  requires std::integral<std::remove_const_t<T>>
  constexpr explicit Dims(std::span<T, N> values) {
    for (const auto value : values) push_back(static_cast<std::int64_t>(value));
  }
  /// Returns a list with `count` entries, each equal to `value`.
  static constexpr Dims filled(int count, std::int64_t value) {
    Dims dims;
    for (int i = 0; i < count; ++i) dims.push_back(value);
    return dims;
  }

  constexpr int size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr std::int64_t& operator[](int i) noexcept { return values_[static_cast<std::size_t>(i)]; }
  constexpr std::int64_t operator[](int i) const noexcept { return values_[static_cast<std::size_t>(i)]; }
  constexpr std::int64_t& back() noexcept { return (*this)[size_ - 1]; }
  constexpr std::int64_t back() const noexcept { return (*this)[size_ - 1]; }
  constexpr std::int64_t* begin() noexcept { return values_.data(); }
  constexpr std::int64_t* end() noexcept { return values_.data() + size_; }
  constexpr const std::int64_t* begin() const noexcept { return values_.data(); }
  constexpr const std::int64_t* end() const noexcept { return values_.data() + size_; }
  constexpr void push_back(std::int64_t value) {
    if (size_ == max_rank) too_long();
    values_[static_cast<std::size_t>(size_++)] = value;
  }
  constexpr void append(const Dims& other) {
    for (const auto value : other) push_back(value);
  }
  /// Returns the entries [first, last).
  constexpr Dims slice(int first, int last) const {
    Dims part;
    for (int i = first; i < last; ++i) part.push_back((*this)[i]);
    return part;
  }
  friend constexpr bool operator==(const Dims& a, const Dims& b) noexcept {
    if (a.size_ != b.size_) return false;
    for (int i = 0; i < a.size_; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }

 private:
  [[noreturn]] PATCHFOLD_API static void too_long();

  std::array<std::int64_t, max_rank> values_{};
  int size_ = 0;
};

/// Returns "[2, 3, 5]".
PATCHFOLD_API std::string to_string(const Dims& dims);
/// Returns the byte strides of a row-major tensor. Throws Error(overflow) if the size of the tensor does not fit into 63 bits.
PATCHFOLD_API Dims contiguous_strides(const Dims& shape, std::size_t element_size);
/// Returns the product of the extents. Throws Error(value) for a negative extent, Error(overflow) beyond 63 bits.
PATCHFOLD_API std::int64_t element_count(const Dims& shape);

/// A view of a tensor that is only read; the caller owns the memory. `strides` are in bytes; they may be negative, or 0 (all
/// indices of that axis then mean the same element). `data` points at the element with index 0 on every axis and needs no
/// alignment.
struct ConstTensorView {
  const void* data = nullptr;
  Dims shape{};
  Dims strides{};
  DType dtype = DType::float32;
  std::size_t element_size = 4;  ///< bytes; equals size_of(dtype) unless dtype is opaque
};

/// A view of a tensor that is written; the caller owns the memory. No two elements may share memory.
struct TensorView {
  void* data = nullptr;
  Dims shape{};
  Dims strides{};
  DType dtype = DType::float32;
  std::size_t element_size = 4;

  operator ConstTensorView() const { return {data, shape, strides, dtype, element_size}; }
};

/// Returns a row-major tensor over `data`.
PATCHFOLD_API TensorView contiguous(void* data, const Dims& shape, DType dtype);
PATCHFOLD_API ConstTensorView contiguous(const void* data, const Dims& shape, DType dtype);
/// Returns a row-major tensor of elements of any size over `data`.
PATCHFOLD_API TensorView contiguous_opaque(void* data, const Dims& shape, std::size_t element_size);
PATCHFOLD_API ConstTensorView contiguous_opaque(const void* data, const Dims& shape, std::size_t element_size);

/// Returns a tensor from strides that count elements, as those of torch, Eigen and DLPack do. Throws Error(length) unless there is
/// a stride for each axis, and Error(overflow) if a stride in bytes does not fit into 63 bits.
PATCHFOLD_API TensorView strided(void* data, const Dims& shape, const Dims& element_strides, DType dtype);
PATCHFOLD_API ConstTensorView strided(const void* data, const Dims& shape, const Dims& element_strides, DType dtype);

namespace detail {

template <class T>
inline constexpr DType dtype_of_element = *dtype_for<std::remove_const_t<T>>;

/// A type with the members of std::mdspan.
template <class T>
concept MultiSpan = requires(const T& span, std::size_t axis) {
  requires Element<std::remove_pointer_t<decltype(span.data_handle())>>;
  span.rank();
  span.extent(axis);
  span.is_strided();
  span.mapping().stride(axis);
};

/// A type with the members of DLTensor.
template <class T>
concept Dlpack = requires(const T& tensor) {
  tensor.data;
  tensor.device.device_type;
  tensor.ndim;
  tensor.dtype.lanes;
  tensor.shape;
  tensor.strides;
  tensor.byte_offset;
};

/// Throws Error(shape) unless a tensor of the shape has `elements` elements.
PATCHFOLD_API void check_count(std::size_t elements, const Dims& shape);
/// Throws Error(strides) for a layout without strides.
[[noreturn]] PATCHFOLD_API void fail_not_strided();
/// Returns the element type. Throws Error(value) for a device other than the CPU, Error(rank) and Error(dtype) for a rank or type
/// that the library does not have.
PATCHFOLD_API DType check_dlpack(int device, int rank, int code, int bits, int lanes);

}  // namespace detail

// view(..) describes elements in memory that the caller owns. Nothing is copied, and the view is valid as long as the elements
// exist. The view of const elements is a ConstTensorView.

/// Returns a row-major tensor of elements of the pointer's type.
template <Element T>
auto view(T* data, const Dims& shape) {
  return contiguous(data, shape, detail::dtype_of_element<T>);
}
/// Returns a tensor of elements of the pointer's type; strides count elements.
template <Element T>
auto view(T* data, const Dims& shape, const Dims& element_strides) {
  return strided(data, shape, element_strides, detail::dtype_of_element<T>);
}
/// Returns a row-major tensor of all elements of a std::vector, a std::span or another contiguous range. Throws
/// Error(shape) for a shape with another number of elements.
template <class Range>
requires requires(Range&& range) { std::span(std::forward<Range>(range)); }
auto view(Range&& range, const Dims& shape) {
  const std::span elements(std::forward<Range>(range));
  detail::check_count(elements.size(), shape);
  return view(elements.data(), shape);
}
/// Returns the tensor of a std::mdspan, or of a type with the members of std::mdspan. Throws Error(strides) for a layout without
/// strides.
template <detail::MultiSpan Span>
auto view(const Span& span) {
  if (!span.is_strided()) detail::fail_not_strided();
  Dims shape, strides;
  for (std::size_t axis = 0; axis < span.rank(); ++axis) {
    shape.push_back(static_cast<std::int64_t>(span.extent(axis)));
    strides.push_back(static_cast<std::int64_t>(span.mapping().stride(axis)));
  }
  return view(span.data_handle(), shape, strides);
}
/// Returns the tensor of DLPack's DLTensor, on the CPU. If DLPack marks the memory as read-only, use the view only as an input.
template <detail::Dlpack Tensor>
TensorView view(const Tensor& tensor) {
  const DType dtype = detail::check_dlpack(static_cast<int>(tensor.device.device_type), tensor.ndim, tensor.dtype.code,
                                           tensor.dtype.bits, tensor.dtype.lanes);
  const auto dims = [&](const auto* list) { return Dims(std::span(list, static_cast<std::size_t>(tensor.ndim))); };
  void* const data = tensor.data == nullptr ? nullptr : static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  const Dims shape = dims(tensor.shape);
  return tensor.strides == nullptr ? contiguous(data, shape, dtype) : strided(data, shape, dims(tensor.strides), dtype);
}

/// One number for all spatial axes, or a list with one number for each axis. The length of a list is the number of spatial
/// axes.
class Axes {
 public:
  constexpr Axes() = default;
  constexpr Axes(std::int64_t every_axis) : values_{every_axis}, scalar_(true) {}
  constexpr Axes(std::initializer_list<std::int64_t> values) : values_(values) {}
  constexpr Axes(const Dims& values) : values_(values) {}

  constexpr bool empty() const noexcept { return values_.empty(); }
  constexpr bool is_scalar() const noexcept { return scalar_; }
  constexpr const Dims& values() const noexcept { return values_; }
  friend bool operator==(const Axes&, const Axes&) = default;

 private:
  Dims values_{};
  bool scalar_ = false;
};

/// Returns "3" or "[3, 5]".
PATCHFOLD_API std::string to_string(const Axes& axes);

/// Elements added before and after one axis; negative numbers remove elements (crop).
struct Pads {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  friend bool operator==(const Pads&, const Pads&) = default;
};

/// A list of pads, one pair for each axis.
class PadsList {
 public:
  constexpr PadsList() = default;
  constexpr PadsList(std::initializer_list<Pads> pairs) {
    for (const auto& pair : pairs) push_back(pair);
  }
  constexpr int size() const noexcept { return begins_.size(); }
  constexpr bool empty() const noexcept { return begins_.empty(); }
  constexpr Pads operator[](int i) const noexcept { return {begins_[i], ends_[i]}; }
  constexpr void push_back(Pads pair) {
    begins_.push_back(pair.begin);
    ends_.push_back(pair.end);
  }
  friend bool operator==(const PadsList&, const PadsList&) = default;

 private:
  Dims begins_{};
  Dims ends_{};
};

/// The amount of padding: a rule, one number, one number for each axis, or a pair (begin, end) for each axis.
///   valid       no padding
///   same_upper  the padding that ceil(extent / stride) positions need; an odd element goes to the end
///   same_lower  the padding that ceil(extent / stride) positions need; an odd element goes to the beginning
class Padding {
 public:
  enum class Rule : std::uint8_t { given, valid, same_upper, same_lower };
  static constexpr Rule valid = Rule::valid;
  static constexpr Rule same_upper = Rule::same_upper;
  static constexpr Rule same_lower = Rule::same_lower;

  constexpr Padding() : Padding(std::int64_t{0}) {}
  constexpr Padding(Rule rule) : rule_(rule) {}
  constexpr Padding(std::int64_t both_ends_of_every_axis) : scalar_(true) {
    pads_.push_back({both_ends_of_every_axis, both_ends_of_every_axis});
  }
  constexpr Padding(int both_ends_of_every_axis) : Padding(std::int64_t{both_ends_of_every_axis}) {}
  constexpr Padding(std::initializer_list<std::int64_t> both_ends_of_each_axis) {
    for (const auto value : both_ends_of_each_axis) pads_.push_back({value, value});
  }
  constexpr Padding(std::initializer_list<Pads> pairs) : pads_(pairs) {}
  constexpr Padding(const PadsList& pairs) : pads_(pairs) {}

  constexpr Rule rule() const noexcept { return rule_; }
  constexpr bool is_scalar() const noexcept { return scalar_; }
  constexpr const PadsList& pads() const noexcept { return pads_; }
  friend bool operator==(const Padding&, const Padding&) = default;

 private:
  PadsList pads_{};
  Rule rule_ = Rule::given;
  bool scalar_ = false;
};
template <>
inline constexpr auto words<Padding::Rule> = std::to_array<Word<Padding::Rule>>({{Padding::valid, "valid"},
                                                                                 {Padding::same_upper, "same_upper"},
                                                                                 {Padding::same_lower, "same_lower"}});

/// The rule for values outside the image; numpy.pad defines these modes.
enum class PaddingMode : std::uint8_t { constant, edge, reflect, symmetric, wrap };

/// The element of the image that a padding mode puts at a coordinate outside the image.
enum class PaddingSource : std::uint8_t {
  none,      ///< no element: a value fills the padding
  nearest,   ///< the element at the border
  mirrored,  ///< an element that lies about as far inside as the coordinate lies outside
  opposite,  ///< an element at the other end
};
/// A padding mode, its word, and its source.
struct PaddingModeInfo : Word<PaddingMode> {
  PaddingSource source;
};
template <>
inline constexpr auto words<PaddingMode> =
    std::to_array<PaddingModeInfo>({{{PaddingMode::constant, "constant"}, PaddingSource::none},
                                    {{PaddingMode::edge, "edge"}, PaddingSource::nearest},
                                    {{PaddingMode::reflect, "reflect"}, PaddingSource::mirrored},
                                    {{PaddingMode::symmetric, "symmetric"}, PaddingSource::mirrored},
                                    {{PaddingMode::wrap, "wrap"}, PaddingSource::opposite}});

/// Returns the source of a mode; no source for a number that is not an enumerator.
constexpr PaddingSource source_of(PaddingMode mode) noexcept {
  for (const PaddingModeInfo& each : words<PaddingMode>)
    if (each.value == mode) return each.source;
  return PaddingSource::none;
}

/// A number of any type. An operator converts a Scalar to the element type. A number that the element type cannot hold is an error.
/// Floating-point element types round to nearest even.
class Scalar {
 public:
  enum class Kind : std::uint8_t { signed_integer, unsigned_integer, real, complex };

  constexpr Scalar() = default;
  template <std::integral T>
  constexpr Scalar(T value)
      : kind_(std::is_signed_v<T> ? Kind::signed_integer : Kind::unsigned_integer),
        integer_(static_cast<std::uint64_t>(value)) {}
  template <std::floating_point T>
  constexpr Scalar(T value) : kind_(Kind::real), real_(static_cast<double>(value)) {}
  constexpr Scalar(std::complex<double> value) : kind_(Kind::complex), real_(value.real()), imaginary_(value.imag()) {}

  constexpr Kind kind() const noexcept { return kind_; }
  constexpr std::int64_t as_signed() const noexcept { return static_cast<std::int64_t>(integer_); }
  constexpr std::uint64_t as_unsigned() const noexcept { return integer_; }
  constexpr double real() const noexcept { return real_; }
  constexpr double imaginary() const noexcept { return imaginary_; }
  /// Returns whether kinds and bits are equal: 0.0 differs from -0.0, and a NaN equals itself. Operators with equal scalars write
  /// the same fill, so they can share a plan.
  friend constexpr bool operator==(const Scalar& a, const Scalar& b) noexcept {
    const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
    return a.kind_ == b.kind_ && a.integer_ == b.integer_ && bits(a.real_) == bits(b.real_) &&
           bits(a.imaginary_) == bits(b.imaginary_);
  }

 private:
  Kind kind_ = Kind::signed_integer;
  std::uint64_t integer_ = 0;
  double real_ = 0;
  double imaginary_ = 0;
};

PATCHFOLD_API std::string to_string(const Scalar& scalar);

}  // namespace patchfold
