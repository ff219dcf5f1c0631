// SPDX-License-Identifier: Apache-2.0
// Elements are converted in blocks by way of one of four carriers: std::int64_t, std::uint64_t, double, std::complex<double>. So
// there is one loader for each type and one storer for each type and carrier, instead of a loop for each pair of types.
#include "cli/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "patchfold/plan.hpp"
#include "src/base/small_float.hpp"

namespace patchfold::cli {
namespace {

template <class T>
auto carried(T value) {
  if constexpr (std::same_as<T, Boolean>)
    return std::int64_t{value.byte != 0};
  else if constexpr (SmallFloat<T>)
    return decode(T::format, value.bits);
  else if constexpr (ComplexNumber<T>)
    return std::complex<double>(value);
  else if constexpr (std::same_as<T, std::uint64_t>)
    return value;
  else if constexpr (std::integral<T>)
    return static_cast<std::int64_t>(value);
  else
    return static_cast<double>(value);
}

template <std::integral T, class C>
T clipped(C value) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::integral<C>) {
    if (std::cmp_less(value, Limits::min())) return Limits::min();
    return std::cmp_greater(value, Limits::max()) ? Limits::max() : static_cast<T>(value);
  } else {
    if (std::isnan(value)) return 0;
    const double rounded = std::nearbyint(value);
    if (rounded <= static_cast<double>(Limits::min())) return Limits::min();
    return rounded >= std::ldexp(1.0, Limits::digits) ? Limits::max() : static_cast<T>(rounded);
  }
}

template <class T, class C>
T stored(C value) {
  if constexpr (std::same_as<C, std::complex<double>>) {
    if constexpr (ComplexNumber<T>)
      return T(static_cast<typename T::value_type>(value.real()), static_cast<typename T::value_type>(value.imag()));
    else
      return stored<T>(value.real());
  } else if constexpr (std::same_as<T, Boolean>)
    return {value != C{}};
  else if constexpr (SmallFloat<T>)
    return {static_cast<decltype(T::bits)>(encode(T::format, static_cast<double>(value)))};
  else if constexpr (ComplexNumber<T>)
    return T(static_cast<typename T::value_type>(value));
  else if constexpr (std::integral<T>)
    return clipped<T>(value);
  else
    return static_cast<T>(value);
}

constexpr std::size_t block = 1024;

template <class C>
using Store = void (*)(const C* carriers, std::byte* dst, std::size_t count);

template <class C>
Store<C> storer(DType dtype) {
  return visit(dtype, []<class T>(std::type_identity<T>) -> Store<C> {
    if constexpr (std::same_as<T, Opaque>)
      return nullptr;
    else
      return [](const C* carriers, std::byte* dst, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
          const T value = stored<T>(carriers[i]);
          std::memcpy(dst + i * sizeof(T), &value, sizeof(T));
        }
      };
  });
}

/// A conversion of elements to another type, which the executor runs in pieces.
struct Job {
  const std::byte* src;
  std::byte* dst;
  DType from, to;
  std::size_t count;
  static constexpr std::size_t piece = block * 256;

  template <class T>
  void run_typed(std::size_t begin, std::size_t end) const noexcept {
    using C = decltype(carried(T{}));
    const Store<C> store = storer<C>(to);
    C carriers[block];
    for (; begin < end; begin += block) {
      const std::size_t part = std::min(block, end - begin);
      for (std::size_t i = 0; i < part; ++i) {
        T value;
        std::memcpy(&value, src + (begin + i) * sizeof(T), sizeof(T));
        carriers[i] = carried(value);
      }
      store(carriers, dst + begin * size_of(to), part);
    }
  }

  void run(std::int64_t index) const noexcept {
    const auto begin = static_cast<std::size_t>(index) * piece;
    visit(from, [&]<class T>(std::type_identity<T>) {
      if constexpr (!std::same_as<T, Opaque>) run_typed<T>(begin, std::min(count, begin + piece));
    });
  }
};

}  // namespace

formats::LoadedTensor convert(const formats::LoadedTensor& tensor, DType dtype, const formats::Subject& subject) {
  const DType from = tensor.type.dtype;
  const auto is_complex = [](DType type) { return kind_of(type) == ElementKind::complex; };
  if (from == dtype) return tensor;
  if (from == DType::opaque || (is_complex(from) && !is_complex(dtype)))
    subject.fail(ErrorCode::dtype, "cannot be converted to " + std::string(name_of(dtype)),
                 from == DType::opaque ? tensor.type.descr : std::string(name_of(from)));

  const auto bytes = formats::byte_count(tensor.view.shape, size_of(dtype));
  if (!bytes) subject.fail(ErrorCode::overflow, "has a size that does not fit into 63 bits", to_string(tensor.view.shape));
  const auto memory = formats::allocate(*bytes, subject);
  const std::size_t count = static_cast<std::size_t>(*bytes) / size_of(dtype);
  const Job job{static_cast<const std::byte*>(tensor.view.data), memory.get(), from, dtype, count};
  const auto pieces = static_cast<std::int64_t>((count + Job::piece - 1) / Job::piece);
  const auto body = [](void* context, std::int64_t piece) noexcept { static_cast<const Job*>(context)->run(piece); };
  if (pieces > 0 && !default_executor().run(pieces, body, const_cast<Job*>(&job)))
    throw_if_failed(Status::executor_failed, "run");

  // A loaded tensor has no gaps, whatever the order of its axes, so its strides only have to be scaled.
  formats::LoadedTensor result{
      {memory.get(), tensor.view.shape, tensor.view.strides, dtype, size_of(dtype)}, formats::element_type(dtype), memory};
  for (auto& stride : result.view.strides)
    stride = stride / static_cast<std::int64_t>(size_of(from)) * static_cast<std::int64_t>(size_of(dtype));
  return result;
}

}  // namespace patchfold::cli
