// SPDX-License-Identifier: Apache-2.0
// Vectors of the accumulators of means; mean_scalar.hpp has the same accumulators for one element. mean.cpp uses these vectors for
// rows, mean_map.cpp for programs.
#include <hwy/highway.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/blend_elements-inl.hpp"
#include "kernels/mean_scalar.hpp"

#if defined(PATCHFOLD_KERNELS_MEAN_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PATCHFOLD_KERNELS_MEAN_LANES_INL
#undef PATCHFOLD_KERNELS_MEAN_LANES_INL
#else
#define PATCHFOLD_KERNELS_MEAN_LANES_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// A vector of sums in float64, one for each of `lanes` elements.
template <class T>
struct MeanLanes {
  using D = hn::ScalableTag<double>;
  using V = hn::Vec<D>;
  // A byte above 1 of a boolean is added as NaN, and stored as 255.
  using Type = Elements<std::conditional_t<std::is_same_v<T, Boolean>, std::uint8_t, T>, D>;
  using Raw = typename Type::Raw;
  using Sums = V;
  static constexpr std::int64_t lanes = hn::MaxLanes(D());

  static HWY_INLINE Sums nothing() { return hn::Set(D(), -0.0); }
  static HWY_INLINE V load(const std::byte* src) {
    const D d;
    auto value = Type::widen(hn::LoadU(hn::Rebind<Raw, D>(), reinterpret_cast<const Raw*>(src)));
    if constexpr (std::is_same_v<T, Boolean>)
      value = hn::IfThenElse(hn::Gt(value, hn::Set(d, 1)), hn::Set(d, std::numeric_limits<double>::quiet_NaN()), value);
    return value;
  }
  /// Adds with a multiplication by 1, whose product is exact. Processors that add and convert in one unit multiply in another unit,
  /// so both units work.
  static HWY_INLINE Sums add(Sums sums, V value) { return hn::MulAdd(value, hn::Set(D(), 1), sums); }
  /// Returns the value with -0 in all lanes that the mask does not set, since adding -0 changes no sum.
  static HWY_INLINE V masked(hn::Mask<D> mask, V value) { return hn::IfThenElse(mask, value, nothing()); }
  static HWY_INLINE Sums load_sums(const std::byte* from) { return hn::LoadU(D(), reinterpret_cast<const double*>(from)); }
  static HWY_INLINE void save_sums(Sums sums, std::byte* to) { hn::StoreU(sums, D(), reinterpret_cast<double*>(to)); }

  /// Returns the quotients as elements; sets `certain` to false if careful_mean() must make one of them.
  static HWY_INLINE auto over(Sums sums, V count, bool& certain) {
    const D d;
    auto quotient = hn::Div(sums, count);
    if constexpr (!std::is_integral_v<T>) {
      const auto finite = hn::Lt(hn::Abs(quotient), hn::Set(d, std::numeric_limits<double>::infinity()));
      certain = certain && hn::AllTrue(d, finite);
      if constexpr (std::is_same_v<T, Boolean>) quotient = hn::IfThenElse(finite, quotient, hn::Set(d, 255));
    }
    return Type::narrow(quotient);
  }
  /// Divides `lanes` sums by their counts, and stores the quotients.
  static HWY_INLINE void store(Sums sums, const double* counts, std::byte* to, bool& certain) {
    hn::StoreU(over(sums, hn::LoadU(D(), counts), certain), hn::Rebind<Raw, D>(), reinterpret_cast<Raw*>(to));
  }
};

/// Sums of float64 as pairs of float64 (mean_scalar.hpp).
template <>
struct MeanLanes<double> {
  using D = hn::ScalableTag<double>;
  using V = hn::Vec<D>;
  using Raw = double;
  struct Sums {
    // On aarch64, g++ compiles implicit constructors without the vectors' instruction set, and Highway 1.2's constructors
    // then do not compile.
    HWY_INLINE Sums() {}
    HWY_INLINE Sums(V high_sums, V low_sums) : high(high_sums), low(low_sums) {}
    V high, low;
  };
  static constexpr std::int64_t lanes = hn::MaxLanes(D());

  static HWY_INLINE V sum_of(V a, V b, V& error) {
    const V sum = hn::Add(a, b);
    const V rest = hn::Sub(sum, a);
    error = hn::Add(hn::Sub(a, hn::Sub(sum, rest)), hn::Sub(b, rest));
    return sum;
  }
  static HWY_INLINE Sums nothing() { return {hn::Set(D(), -0.0), hn::Zero(D())}; }
  static HWY_INLINE V load(const std::byte* src) { return hn::LoadU(D(), reinterpret_cast<const double*>(src)); }
  static HWY_INLINE Sums add(Sums sums, V value) {
    V error;
    const V high = sum_of(sums.high, value, error);
    return {high, hn::Add(sums.low, error)};
  }
  static HWY_INLINE V masked(hn::Mask<D> mask, V value) { return hn::IfThenElse(mask, value, hn::Set(D(), -0.0)); }
  static HWY_INLINE Sums load_sums(const std::byte* from) {
    Sums sums;
    hn::LoadInterleaved2(D(), reinterpret_cast<const double*>(from), sums.high, sums.low);
    return sums;
  }
  static HWY_INLINE void save_sums(Sums sums, std::byte* to) {
    hn::StoreInterleaved2(sums.high, sums.low, D(), reinterpret_cast<double*>(to));
  }

  static HWY_INLINE V over(Sums sums, V count, bool& certain) {
    const D d;
    const hn::RebindToUnsigned<D> bits;
    const V zero = hn::Zero(d);
    V rest;
    const V whole = sum_of(sums.high, sums.low, rest);
    const V high = hn::IfThenElse(hn::Eq(sums.low, zero), sums.high, whole);
    const V low = hn::IfThenZeroElse(hn::Eq(sums.low, zero), rest);
    const V quotient = hn::Div(high, count);
    const V upper = hn::BitCast(d, hn::And(hn::BitCast(bits, quotient), hn::Set(bits, ~std::uint64_t{0x7ffffff})));
    const V left = hn::Sub(hn::Sub(high, hn::Mul(upper, count)), hn::Mul(hn::Sub(quotient, upper), count));
    const V correction = hn::Div(hn::Add(left, low), count);
    const V mean = hn::IfThenElse(hn::Eq(correction, zero), quotient, hn::Add(quotient, correction));
    certain = certain && hn::AllTrue(d, hn::Lt(hn::Abs(mean), hn::Set(d, std::numeric_limits<double>::infinity())));
    return mean;
  }
  static HWY_INLINE void store(Sums sums, const double* counts, std::byte* to, bool& certain) {
    hn::StoreU(over(sums, hn::LoadU(D(), counts), certain), D(), reinterpret_cast<double*>(to));
  }
};

/// Integers of 8 and 16 bits, at most 2^15 of them: sums in int32 are as exact as in float64.
template <class T>
struct ShortLanes {
  using D = hn::ScalableTag<std::int32_t>;
  using V = hn::Vec<D>;
  using Sums = V;
  using Raw = T;
  static constexpr std::int64_t lanes = hn::MaxLanes(D());

  static HWY_INLINE Sums nothing() { return hn::Zero(D()); }
  static HWY_INLINE V load(const std::byte* src) {
    return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<T, D>(), reinterpret_cast<const T*>(src)));
  }
  static HWY_INLINE Sums add(Sums sums, V value) { return hn::Add(sums, value); }
  static HWY_INLINE V masked(hn::Mask<D> mask, V value) { return hn::IfThenElseZero(mask, value); }
  static HWY_INLINE Sums load_sums(const std::byte* from) {
    return hn::LoadU(D(), reinterpret_cast<const std::int32_t*>(from));
  }
  static HWY_INLINE void save_sums(Sums sums, std::byte* to) { hn::StoreU(sums, D(), reinterpret_cast<std::int32_t*>(to)); }
  static HWY_INLINE void store(Sums sums, const double* counts, std::byte* to, bool& certain) {
    using Wide = MeanLanes<T>;
    const hn::Half<D> half;
    const hn::Rebind<T, typename Wide::D> raw;
    const auto save = [&](auto part, std::int64_t first) HWY_ATTR {
      const auto sum = hn::PromoteTo(typename Wide::D(), part);
      const auto count = hn::LoadU(typename Wide::D(), counts + first);
      hn::StoreU(Wide::over(sum, count, certain), raw, reinterpret_cast<T*>(to) + first);
    };
    save(hn::LowerHalf(half, sums), 0);
    save(hn::UpperHalf(half, sums), lanes / 2);
  }
};

/// 64-bit integers: sums of 128 bits, divided one by one.
template <class T>
struct LongLanes {
  using D = hn::ScalableTag<std::uint64_t>;
  using V = hn::Vec<D>;
  using Raw = T;
  struct Sums {
    HWY_INLINE Sums() {}  // as in MeanLanes<double>
    HWY_INLINE Sums(V low_sums, V high_sums) : low(low_sums), high(high_sums) {}
    V low, high;
  };
  static constexpr std::int64_t lanes = hn::MaxLanes(D());

  static HWY_INLINE Sums nothing() { return {hn::Zero(D()), hn::Zero(D())}; }
  static HWY_INLINE V load(const std::byte* src) { return hn::LoadU(D(), reinterpret_cast<const std::uint64_t*>(src)); }
  static HWY_INLINE Sums add(Sums sums, V value) {
    const D d;
    const V low = hn::Add(sums.low, value);
    // A lane of the mask is -1 if its sum has wrapped, so subtracting the mask adds the carry.
    V high = hn::Sub(sums.high, hn::VecFromMask(d, hn::Lt(low, value)));
    if constexpr (std::is_signed_v<T>)
      high = hn::Add(high, hn::BitCast(d, hn::BroadcastSignBit(hn::BitCast(hn::RebindToSigned<D>(), value))));
    return {low, high};
  }
  static HWY_INLINE V masked(hn::Mask<D> mask, V value) { return hn::IfThenElseZero(mask, value); }
  static HWY_INLINE Sums load_sums(const std::byte* from) {
    Sums sums;
    hn::LoadInterleaved2(D(), reinterpret_cast<const std::uint64_t*>(from), sums.low, sums.high);
    return sums;
  }
  static HWY_INLINE void save_sums(Sums sums, std::byte* to) {
    hn::StoreInterleaved2(sums.low, sums.high, D(), reinterpret_cast<std::uint64_t*>(to));
  }
  static HWY_INLINE void store(Sums sums, const double* counts, std::byte* to, bool&) {
    alignas(64) std::uint64_t low[lanes], high[lanes];
    hn::Store(sums.low, D(), low);
    hn::Store(sums.high, D(), high);
    for (std::int64_t i = 0; i < lanes; ++i) {
      const auto sum = static_cast<Integer128>(static_cast<UnsignedInteger128>(high[i]) << 64 | low[i]);
      T mean;
      MeanOf<T>::store(sum, counts[i], mean);
      std::memcpy(to + i * static_cast<std::int64_t>(sizeof(T)), &mean, sizeof(T));
    }
  }
};

#endif

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
