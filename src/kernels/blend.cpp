// SPDX-License-Identifier: Apache-2.0
// Weighted sums of rows, a vector of float64 at a time; plain loops take the elements that do not fill a vector.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/blend.cpp"
#include "kernels/blend.hpp"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/blend_scalar.hpp"
#include "kernels/targets-inl.hpp"
#include "kernels/targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Emulated vectors clip infinities when they narrow, and are not worth it.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

BlendRow RowOf(DType, DType, bool) {
  return nullptr;
}
BlendRow LinesOf(DType, bool) {
  return nullptr;
}

#else

template <class T, class D>
using Lanes = hn::Vec<hn::Rebind<T, D> >;

/// Elements as float64; exact.
template <class D>
HWY_INLINE hn::Vec<D> widen(D, Lanes<double, D> v) {
  return v;
}
template <class D>
HWY_INLINE hn::Vec<D> widen(D d, Lanes<float, D> v) {
  return hn::PromoteTo(d, v);
}
template <class D>
HWY_INLINE hn::Vec<D> widen(D d, Lanes<std::int32_t, D> v) {
  return hn::PromoteTo(d, v);
}
template <class D>
HWY_INLINE hn::Vec<D> widen(D d, Lanes<std::uint32_t, D> v) {
  const hn::Rebind<std::uint32_t, D> du;
  const hn::Rebind<std::int32_t, D> di;
  const auto centred = hn::BitCast(di, hn::Xor(v, hn::Set(du, 0x80000000u)));
  return hn::Add(hn::PromoteTo(d, centred), hn::Set(d, 2147483648.0));
}
template <class D>
HWY_INLINE hn::Vec<D> widen(D d, Lanes<std::int16_t, D> v) {
  return hn::PromoteTo(d, hn::PromoteTo(hn::Rebind<std::int32_t, D>(), v));
}
template <class D>
HWY_INLINE hn::Vec<D> widen(D d, Lanes<std::uint16_t, D> v) {
  return hn::PromoteTo(d, hn::PromoteTo(hn::Rebind<std::int32_t, D>(), v));
}
template <class D>
HWY_INLINE hn::Vec<D> widen(D d, Lanes<std::int8_t, D> v) {
  return hn::PromoteTo(d, hn::PromoteTo(hn::Rebind<std::int32_t, D>(), v));
}
template <class D>
HWY_INLINE hn::Vec<D> widen(D d, Lanes<std::uint8_t, D> v) {
  return hn::PromoteTo(d, hn::PromoteTo(hn::Rebind<std::int32_t, D>(), v));
}

/// Rounded to nearest even; integers saturate and make 0 of NaN.
template <class T, class D>
HWY_INLINE Lanes<T, D> narrow(D d, hn::Vec<D> v) {
  const hn::Rebind<T, D> to;
  if constexpr (std::is_same_v<T, double>) {
    return v;
  } else if constexpr (std::is_same_v<T, float>) {
    return hn::DemoteTo(to, v);
  } else {
    constexpr double low = std::numeric_limits<T>::min();
    constexpr double high = std::numeric_limits<T>::max();
    v = hn::IfThenElseZero(hn::Eq(v, v), v);
    v = hn::Round(hn::Min(hn::Max(v, hn::Set(d, low)), hn::Set(d, high)));
    const hn::Rebind<std::int32_t, D> di;
    if constexpr (std::is_same_v<T, std::int32_t>) {
      return hn::DemoteTo(di, v);
    } else if constexpr (std::is_same_v<T, std::uint32_t>) {
      const auto centred = hn::DemoteTo(di, hn::Sub(v, hn::Set(d, 2147483648.0)));
      return hn::Xor(hn::BitCast(to, centred), hn::Set(to, 0x80000000u));
    } else {
      return hn::DemoteTo(to, hn::DemoteTo(di, v));
    }
  }
}

template <class From, class To, bool keep_equal>
struct Weighted {
  using Bits = hwy::MakeUnsigned<From>;
  using D = hn::ScalableTag<double>;

  /// Terms whose number the compiler knows, so that it unrolls loops over them and keeps them in registers.
  template <int number>
  struct Fixed {
    explicit Fixed(const BlendTerm* terms) {
      for (int i = 0; i < number; ++i) {
        elements_[i] = reinterpret_cast<const From*>(terms[i].elements);
        weights_[i] = terms[i].weights;
        scales_[i] = terms[i].scale;
        aheads_[i] = terms[i].ahead;
      }
    }
    static constexpr std::int64_t count() { return number; }
    HWY_INLINE const From* elements(std::int64_t i) const { return elements_[i]; }
    HWY_INLINE const double* weights(std::int64_t i) const { return weights_[i]; }
    HWY_INLINE double scale(std::int64_t i) const { return scales_[i]; }
    HWY_INLINE std::int64_t ahead(std::int64_t i) const { return aheads_[i]; }

   private:
    const From* elements_[number];
    const double* weights_[number];
    double scales_[number];
    std::int64_t aheads_[number];
  };
  struct Any {
    const BlendTerm* terms;
    std::int64_t number;
    std::int64_t count() const { return number; }
    HWY_INLINE const From* elements(std::int64_t i) const { return reinterpret_cast<const From*>(terms[i].elements); }
    HWY_INLINE const double* weights(std::int64_t i) const { return terms[i].weights; }
    HWY_INLINE double scale(std::int64_t i) const { return terms[i].scale; }
    HWY_INLINE std::int64_t ahead(std::int64_t i) const { return terms[i].ahead; }
  };

  template <bool past_cache, class Terms>
  static HWY_INLINE void vector(std::byte* dst, const Terms& terms, std::int64_t j) {
    const D d;
    const hn::Rebind<From, D> from;
    const hn::Rebind<To, D> to;
    const hn::Rebind<Bits, D> bits;
    const hn::Rebind<std::uint64_t, D> wide_bits;
    for (std::int64_t i = 0; i < terms.count(); ++i)
      hwy::Prefetch(reinterpret_cast<const std::byte*>(terms.elements(i) + j) + terms.ahead(i));
    const auto first = hn::LoadU(from, terms.elements(0) + j);
    const auto first_wide = widen(d, first);
    auto sum = hn::Mul(first_wide, hn::Mul(hn::Set(d, terms.scale(0)), hn::LoadU(d, terms.weights(0) + j)));
    auto difference = hn::Zero(bits);
    auto wide_difference = hn::Zero(wide_bits);
    for (std::int64_t i = 1; i < terms.count(); ++i) {
      const auto value = hn::LoadU(from, terms.elements(i) + j);
      const auto value_wide = widen(d, value);
      const auto weight = hn::Mul(hn::Set(d, terms.scale(i)), hn::LoadU(d, terms.weights(i) + j));
      sum = hn::Add(sum, hn::Mul(value_wide, weight));
      if constexpr (keep_equal && std::is_same_v<From, To>)
        difference = hn::Or(difference, hn::Xor(hn::BitCast(bits, value), hn::BitCast(bits, first)));
      else if constexpr (keep_equal)
        wide_difference =
            hn::Or(wide_difference, hn::Xor(hn::BitCast(wide_bits, value_wide), hn::BitCast(wide_bits, first_wide)));
    }
    // The sign and the payload of a computed NaN depend on the order of operands, which is the compiler's.
    sum = hn::IfThenElse(hn::Eq(sum, sum), sum, hn::Set(d, std::numeric_limits<double>::quiet_NaN()));
    if constexpr (keep_equal && !std::is_same_v<From, To>)
      sum = hn::IfThenElse(hn::RebindMask(d, hn::Eq(wide_difference, hn::Zero(wide_bits))), first_wide, sum);
    auto result = narrow<To>(d, sum);
    if constexpr (keep_equal && std::is_same_v<From, To>)
      result = hn::IfThenElse(hn::RebindMask(from, hn::Eq(difference, hn::Zero(bits))), first, result);
    if constexpr (past_cache)
      hn::Stream(result, to, reinterpret_cast<To*>(dst) + j);
    else
      hn::StoreU(result, to, reinterpret_cast<To*>(dst) + j);
  }

  template <bool past_cache, class Terms>
  static void run(std::byte* dst, const Terms& terms, std::int64_t begin, std::int64_t end) {
    for (std::int64_t j = begin; j < end; j += static_cast<std::int64_t>(hn::Lanes(D()))) vector<past_cache>(dst, terms, j);
  }

  template <bool past_cache>
  static void row(std::byte* dst, const BlendTerm* terms, std::int64_t terms_count, std::int64_t begin, std::int64_t end) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(D()));
    const std::int64_t whole = end - (end - begin) % lanes;
    switch (terms_count) {
      case 2: run<past_cache>(dst, Fixed<2>(terms), begin, whole); break;
      case 4: run<past_cache>(dst, Fixed<4>(terms), begin, whole); break;
      case 8: run<past_cache>(dst, Fixed<8>(terms), begin, whole); break;
      default: run<past_cache>(dst, Any{terms, terms_count}, begin, whole); break;
    }
    if (!past_cache && whole < end)
      weighted_row_scalar(*detail::dtype_of_type<From>(), *detail::dtype_of_type<To>(), keep_equal)(dst, terms, terms_count,
                                                                                                    whole, end);
  }
};

template <class From, bool keep_equal>
BlendRow row_to(DType to, bool same) {
  if (same) return &Weighted<From, From, keep_equal>::template row<false>;
  if (to == DType::float32) return &Weighted<From, float, keep_equal>::template row<false>;
  if (to == DType::float64) return &Weighted<From, double, keep_equal>::template row<false>;
  return nullptr;
}

template <bool keep_equal>
BlendRow row_of(DType from, DType to) {
  return visit(from, [&]<class T>(std::type_identity<T>) -> BlendRow {
    if constexpr (std::is_floating_point_v<T> || (std::is_integral_v<T> && sizeof(T) <= 4))
      return row_to<T, keep_equal>(to, from == to);
    else
      return nullptr;
  });
}

BlendRow RowOf(DType from, DType to, bool keep_equal) {
  return keep_equal ? row_of<true>(from, to) : row_of<false>(from, to);
}

template <class T>
BlendRow lines_of(bool keep_equal) {
  // A store past the cache writes 16 bytes at least.
  constexpr std::size_t lanes = hn::MaxLanes(hn::ScalableTag<double>());
  if constexpr (lanes * sizeof(T) < 16)
    return nullptr;
  else
    return keep_equal ? &Weighted<T, T, true>::template row<true> : &Weighted<T, T, false>::template row<true>;
}

BlendRow LinesOf(DType dtype, bool keep_equal) {
  return dtype == DType::float32   ? lines_of<float>(keep_equal)
         : dtype == DType::float64 ? lines_of<double>(keep_equal)
                                   : nullptr;
}

#endif

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace patchfold::kernels {

HWY_EXPORT(RowOf);
HWY_EXPORT(LinesOf);

BlendRow weighted_lines(DType dtype, bool keep_equal) noexcept {
  return HWY_DYNAMIC_DISPATCH(LinesOf)(dtype, keep_equal);
}

BlendRow weighted_row(DType from, DType to, bool keep_equal) noexcept {
  const BlendRow row = HWY_DYNAMIC_DISPATCH(RowOf)(from, to, keep_equal);
  return row ? row : weighted_row_scalar(from, to, keep_equal);
}

HWY_EXPORT(target);

const char* blend_target() noexcept {
  return HWY_DYNAMIC_DISPATCH(target)();
}

}  // namespace patchfold::kernels
#endif
