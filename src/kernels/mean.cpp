// SPDX-License-Identifier: Apache-2.0
// Compiled once for each instruction set. Contiguous rows go through vectors, other ones through a scalar loop.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/mean.cpp"
#include "kernels/mean.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/blend_elements-inl.hpp"
#include "kernels/mean_scalar.hpp"
#include "kernels/targets-inl.hpp"
#include "kernels/targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
T load_mean(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}
template <class T>
void save_mean(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

// Emulated vectors clip infinities when they narrow.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

template <class T>
struct MeanLanes {
  static constexpr std::int64_t lanes = 0;
};

#else

/// Vectors of `lanes` elements, all of them as MeanOf says it for one.
template <class T>
struct MeanLanes {
  using D = hn::ScalableTag<double>;
  using V = hn::Vec<D>;
  // Bytes are numbers here: those above 1 are NaN, and 255 when they are narrowed.
  using Type = Elements<std::conditional_t<std::is_same_v<T, Boolean>, std::uint8_t, T>, D>;
  using Raw = typename Type::Raw;
  static constexpr std::int64_t lanes = hn::MaxLanes(D());

  using Sums = V;
  static HWY_INLINE Sums added(const std::byte* sums, const std::byte* src) {
    const D d;
    auto value = Type::widen(hn::LoadU(hn::Rebind<Raw, D>(), reinterpret_cast<const Raw*>(src)));
    if constexpr (std::is_same_v<T, Boolean>)
      value = hn::IfThenElse(hn::Gt(value, hn::Set(d, 1)), hn::Set(d, std::numeric_limits<double>::quiet_NaN()), value);
    return hn::Add(hn::LoadU(d, reinterpret_cast<const double*>(sums)), value);
  }
  static HWY_INLINE void save(Sums sums, std::byte* to) { hn::StoreU(sums, D(), reinterpret_cast<double*>(to)); }
  /// The quotients, and whether all of them are certain.
  static HWY_INLINE auto over(const std::byte* sums, V count, bool& certain) {
    const D d;
    auto quotient = hn::Div(hn::LoadU(d, reinterpret_cast<const double*>(sums)), count);
    if constexpr (!std::is_integral_v<T>) {
      const auto finite = hn::Lt(hn::Abs(quotient), hn::Set(d, std::numeric_limits<double>::infinity()));
      certain = certain && hn::AllTrue(d, finite);
      if constexpr (std::is_same_v<T, Boolean>) quotient = hn::IfThenElse(finite, quotient, hn::Set(d, 255));
    }
    return Type::narrow(quotient);
  }
};

template <>
struct MeanLanes<double> {
  using D = hn::ScalableTag<double>;
  using V = hn::Vec<D>;
  using Raw = double;
  static constexpr std::int64_t lanes = hn::MaxLanes(D());

  static HWY_INLINE V sum_of(V a, V b, V& error) {
    const V sum = hn::Add(a, b);
    const V rest = hn::Sub(sum, a);
    error = hn::Add(hn::Sub(a, hn::Sub(sum, rest)), hn::Sub(b, rest));
    return sum;
  }
  struct Sums {
    V high, low;
  };
  static HWY_INLINE Sums added(const std::byte* sums, const std::byte* src) {
    const D d;
    V high, low, error;
    hn::LoadInterleaved2(d, reinterpret_cast<const double*>(sums), high, low);
    high = sum_of(high, hn::LoadU(d, reinterpret_cast<const double*>(src)), error);
    return {high, hn::Add(low, error)};
  }
  static HWY_INLINE void save(Sums sums, std::byte* to) {
    hn::StoreInterleaved2(sums.high, sums.low, D(), reinterpret_cast<double*>(to));
  }
  static HWY_INLINE V over(const std::byte* sums, V count, bool& certain) {
    const D d;
    const hn::RebindToUnsigned<D> bits;
    const V zero = hn::Zero(d);
    V high, low, rest;
    hn::LoadInterleaved2(d, reinterpret_cast<const double*>(sums), high, low);
    const V whole = sum_of(high, low, rest);
    high = hn::IfThenElse(hn::Eq(low, zero), high, whole);
    low = hn::IfThenZeroElse(hn::Eq(low, zero), rest);
    const V quotient = hn::Div(high, count);
    const V upper = hn::BitCast(d, hn::And(hn::BitCast(bits, quotient), hn::Set(bits, ~std::uint64_t{0x7ffffff})));
    const V left = hn::Sub(hn::Sub(high, hn::Mul(upper, count)), hn::Mul(hn::Sub(quotient, upper), count));
    const V correction = hn::Div(hn::Add(left, low), count);
    const V mean = hn::IfThenElse(hn::Eq(correction, zero), quotient, hn::Add(quotient, correction));
    certain = certain && hn::AllTrue(d, hn::Lt(hn::Abs(mean), hn::Set(d, std::numeric_limits<double>::infinity())));
    return mean;
  }
};

#endif

template <class T>
concept Vectorized = !(std::is_integral_v<T> && sizeof(T) == 8) && (MeanLanes<T>::lanes > 1);

/// `parts` is 2 for complex numbers.
template <class T, int parts>
struct Mean {
  using One = MeanOf<T>;
  using Accumulator = typename One::Accumulator;
  static constexpr std::int64_t element_size = parts * sizeof(T);
  static constexpr std::int64_t accumulator_size = parts * sizeof(Accumulator);

  static void clear(std::byte* accumulators, std::int64_t count) noexcept {
    for (std::int64_t i = 0; i < count * parts; ++i)
      save_mean(accumulators + i * static_cast<std::int64_t>(sizeof(Accumulator)), Accumulator(One::nothing));
  }

  static void add_one(std::byte* accumulator, const std::byte* src) {
    auto sum = load_mean<Accumulator>(accumulator);
    One::add(sum, load_mean<T>(src));
    save_mean(accumulator, sum);
  }
  static void add(std::byte* accumulators, const std::byte* src, std::int64_t src_stride, std::int64_t count) noexcept {
    constexpr auto part_size = static_cast<std::int64_t>(sizeof(T)),
                   sum_size = static_cast<std::int64_t>(sizeof(Accumulator));
    if (src_stride != element_size) {
      for (std::int64_t i = 0; i < count; ++i, src += src_stride, accumulators += accumulator_size)
        for (int part = 0; part < parts; ++part) add_one(accumulators + part * sum_size, src + part * part_size);
      return;
    }
    count *= parts;
    if constexpr (Vectorized<T>) {
      using L = MeanLanes<T>;
      const std::int64_t last = count - L::lanes;
      if (last >= 0) {
        // The last vector is loaded before others change what it shares with them.
        const auto end = L::added(accumulators + last * sum_size, src + last * part_size);
        for (std::int64_t i = 0; i < last; i += L::lanes)
          L::save(L::added(accumulators + i * sum_size, src + i * part_size), accumulators + i * sum_size);
        return L::save(end, accumulators + last * sum_size);
      }
    }
    for (std::int64_t i = 0; i < count; ++i) add_one(accumulators + i * sum_size, src + i * part_size);
  }

  static T mean_of(const std::byte* accumulators, std::int64_t i, const MeanRow& row, bool& certain) {
    constexpr auto part_size = static_cast<std::int64_t>(sizeof(T)),
                   sum_size = static_cast<std::int64_t>(sizeof(Accumulator));
    const double count = row.met[i] * row.others;
    auto mean = load_mean<T>(row.fill->data() + i % parts * part_size);
    if (count != 0) certain &= One::store(load_mean<Accumulator>(accumulators + i * sum_size), count, mean);
    return mean;
  }

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  /// A vector of means, from element i on.
  static HWY_INLINE auto means_of(const std::byte* accumulators, std::int64_t i, const MeanRow& row, bool& certain) {
    using L = MeanLanes<T>;
    const typename L::D d;
    const hn::Rebind<typename L::Raw, typename L::D> raw;
    const auto met = hn::Mul(hn::LoadU(d, row.met + i), hn::Set(d, row.others));
    const auto none = hn::Eq(met, hn::Zero(d));
    if (HWY_LIKELY(hn::AllFalse(d, none)))
      return L::over(accumulators + i * static_cast<std::int64_t>(sizeof(Accumulator)), met, certain);
    if (hn::AllTrue(d, none)) return hn::LoadU(raw, reinterpret_cast<const typename L::Raw*>(row.fill->data()));
    alignas(64) T means[L::lanes];
    for (std::int64_t k = 0; k < L::lanes; ++k) means[k] = mean_of(accumulators, i + k, row, certain);
    return hn::LoadU(raw, reinterpret_cast<const typename L::Raw*>(means));
  }
#endif

  static bool store(std::byte* dst, std::int64_t dst_stride, const std::byte* accumulators, std::int64_t count,
                    const MeanRow& row) noexcept {
    constexpr auto part_size = static_cast<std::int64_t>(sizeof(T));
    bool certain = true;
    count *= parts;
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
    if constexpr (Vectorized<T>) {
      using L = MeanLanes<T>;
      const hn::Rebind<typename L::Raw, typename L::D> raw;
      const std::int64_t last = count - L::lanes;
      const auto at = [&](std::int64_t i) { return reinterpret_cast<typename L::Raw*>(dst + i * part_size); };
      if (dst_stride == element_size && last >= 0) {
        const auto end = means_of(accumulators, last, row, certain);
        for (std::int64_t i = 0; i < last; i += L::lanes) hn::StoreU(means_of(accumulators, i, row, certain), raw, at(i));
        hn::StoreU(end, raw, at(last));
        return certain;
      }
    }
#endif
    for (std::int64_t i = 0; i < count; ++i)
      save_mean(dst + i / parts * dst_stride + i % parts * part_size, mean_of(accumulators, i, row, certain));
    return certain;
  }

  static constexpr MeanKernel kernel{accumulator_size, clear, add, store};
};

const MeanKernel* mean_kernel_of(DType dtype) {
  return visit(dtype, []<class T>(std::type_identity<T>) -> const MeanKernel* {
    if constexpr (std::is_void_v<AveragedAs<T>>)
      return nullptr;
    else
      return &Mean < AveragedAs<T>, ComplexNumber<T> ? 2 : 1 > ::kernel;
  });
}

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace patchfold::kernels {

static_assert(std::ranges::all_of(dtypes(), [](DType dtype) {
  return visit(dtype, []<class T>(std::type_identity<T>) { return !std::is_void_v<AveragedAs<T>>; }) == is_summable(dtype);
}));

HWY_EXPORT(mean_kernel_of);

const MeanKernel& mean_kernel(DType dtype) noexcept {
  return *HWY_DYNAMIC_DISPATCH(mean_kernel_of)(dtype);
}

HWY_EXPORT(target);

const char* mean_target() noexcept {
  return HWY_DYNAMIC_DISPATCH(target)();
}

}  // namespace patchfold::kernels
#endif
