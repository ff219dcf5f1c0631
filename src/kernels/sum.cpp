// SPDX-License-Identifier: Apache-2.0
// Sums of rows, compiled once for each instruction set. Contiguous rows use vectors, strided rows use a scalar loop.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sum.cpp"
#include "kernels/sum.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/elements.hpp"
#include "kernels/lanes-inl.hpp"
#include "kernels/targets-inl.hpp"
#include "kernels/targets.hpp"
#include "tensor/held.hpp"

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}
template <class T>
void save(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

/// Sums of elements of type T; `parts` is 2 for complex numbers, whose real and imaginary parts are summed alike.
template <class T, int parts>
struct Sum {
  using Type = Summand<T>;
  using Element = typename Type::Element;
  using Accumulator = typename Type::Accumulator;
  static constexpr std::int64_t element_size = parts * sizeof(Element);
  static constexpr std::int64_t accumulator_size = parts * sizeof(Accumulator);

#if HWY_TARGET != HWY_SCALAR
  static constexpr hn::ScalableTag<Accumulator> whole{};

  /// Calls store(d, load(d, i), i) for vectors that begin at element i and together cover `count` elements. The last vector
  /// begins early enough to be whole; it is loaded before earlier stores change the elements that it shares with them. Rows
  /// shorter than a vector use halves or smaller parts of a vector. Returns false, and calls nothing, for a row of at most
  /// one element: a vector of one lane must be aligned.
  template <class D, class Load, class Store>
  static HWY_INLINE bool each_vector(D d, std::int64_t count, const Load& load, const Store& store) {
    constexpr std::int64_t lanes = hn::MaxLanes(d);
    if (count < lanes) {
      if constexpr (lanes > 2)
        return each_vector(hn::Half<D>(), count, load, store);
      else
        return false;
    }
    const std::int64_t last = count - lanes;
    const auto end = load(d, last);
    for (std::int64_t i = 0; i < last; i += lanes) store(d, load(d, i), i);
    store(d, end, last);
    return true;
  }
#endif

  static void add_contiguous(std::byte* accumulators, const std::byte* src, std::int64_t count) {
#if HWY_TARGET != HWY_SCALAR
    auto* sums = reinterpret_cast<Accumulator*>(accumulators);
    const auto sum_at = [=](auto d, std::int64_t i) {
      using L = Lanes<T, decltype(d)>;
      return L::add(hn::LoadU(d, sums + i), L::load(src + i * sizeof(Element)));
    };
    if (each_vector(whole, count, sum_at, [=](auto d, auto value, std::int64_t i) { hn::StoreU(value, d, sums + i); })) return;
#endif
    for (std::int64_t i = 0; i < count; ++i) add_one(accumulators + i * sizeof(Accumulator), src + i * sizeof(Element));
  }

  /// Stores rounded sums; with `onto` adds them to the elements of dst.
  template <bool onto>
  static void store_contiguous(std::byte* dst, const std::byte* accumulators, std::int64_t count) {
#if HWY_TARGET != HWY_SCALAR
    const auto* sums = reinterpret_cast<const Accumulator*>(accumulators);
    const auto value_at = [=](auto d, std::int64_t i) {
      using L = Lanes<T, decltype(d)>;
      const auto sum = hn::LoadU(d, sums + i);
      if constexpr (onto) {
        alignas(64) std::byte rounded[hn::MaxLanes(d) * sizeof(Element)];
        L::store(sum, rounded);
        return L::add(L::load(dst + i * sizeof(Element)), L::load(rounded));
      } else {
        return sum;
      }
    };
    const auto store_at = [=](auto d, auto value, std::int64_t i) {
      Lanes<T, decltype(d)>::store(value, dst + i * sizeof(Element));
    };
    if (each_vector(whole, count, value_at, store_at)) return;
#endif
    for (std::int64_t i = 0; i < count; ++i)
      store_one<onto>(dst + i * sizeof(Element), accumulators + i * sizeof(Accumulator));
  }

  static void add_one(std::byte* accumulator, const std::byte* src) {
    save(accumulator, Type::plus(load<Accumulator>(accumulator), Type::widen(load<Element>(src))));
  }

  static void add(std::byte* accumulators, const std::byte* src, std::int64_t src_stride, std::int64_t count) noexcept {
    if (src_stride == element_size) return add_contiguous(accumulators, src, count * parts);
    for (std::int64_t i = 0; i < count; ++i, src += src_stride, accumulators += accumulator_size)
      for (int part = 0; part < parts; ++part)
        add_one(accumulators + part * sizeof(Accumulator), src + part * sizeof(Element));
  }

  static Accumulator ones(std::int64_t count) {
    // Adding 1 to a float of 2^digits or more changes nothing, so more ones than this add up to 2^digits.
    if constexpr (std::is_floating_point_v<Accumulator>)
      return static_cast<Accumulator>(std::min(count, std::int64_t{1} << std::numeric_limits<Accumulator>::digits));
    else if constexpr (std::is_same_v<T, Boolean>)
      return count != 0;
    else
      return static_cast<Accumulator>(count);
  }

  static void count(std::byte* accumulators, const std::int64_t* counts, std::int64_t factor, std::int64_t count) noexcept {
    for (std::int64_t i = 0; i < count; ++i, accumulators += accumulator_size) {
      save(accumulators, ones(counts[i] * factor));
      if (parts == 2) save(accumulators + sizeof(Accumulator), Accumulator{});
    }
  }

  template <bool onto>
  static void store_one(std::byte* dst, const std::byte* accumulator) {
    Element element = Type::narrow(load<Accumulator>(accumulator));
    if constexpr (onto) element = Type::narrow(Type::plus(Type::widen(load<Element>(dst)), Type::widen(element)));
    save(dst, element);
  }

  template <bool onto>
  static void store_row(std::byte* dst, std::int64_t dst_stride, const std::byte* accumulators, std::int64_t count) noexcept {
    if (dst_stride == element_size) return store_contiguous<onto>(dst, accumulators, count * parts);
    for (std::int64_t i = 0; i < count; ++i, dst += dst_stride, accumulators += accumulator_size)
      for (int part = 0; part < parts; ++part)
        store_one<onto>(dst + part * sizeof(Element), accumulators + part * sizeof(Accumulator));
  }

  static constexpr SumKernel kernel{accumulator_size, add, count, store_row<false>, store_row<true>};
};

const SumKernel* kernel_of(DType dtype) {
  return visit_held(dtype, []<class T>(std::type_identity<T>) -> const SumKernel* {
    if constexpr (std::is_void_v<SummedAs<T>>)
      return nullptr;
    else
      return &Sum < SummedAs<T>, ComplexNumber<T> ? 2 : 1 > ::kernel;
  });
}

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace patchfold::kernels {

HWY_EXPORT(kernel_of);

const SumKernel& sum_kernel(DType dtype) noexcept {
  return *HWY_DYNAMIC_DISPATCH(kernel_of)(dtype);
}

HWY_EXPORT(target);

const char* sum_target() noexcept {
  return HWY_DYNAMIC_DISPATCH(target)();
}

}  // namespace patchfold::kernels
#endif
