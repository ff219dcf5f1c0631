// SPDX-License-Identifier: Apache-2.0
// Converts vectors of elements for blend.cpp: elements to float64 (8-bit types to float32 too), and sums to elements, rounded once.
#include <hwy/highway.h>

#include <concepts>
#include <limits>
#include <type_traits>

#include "kernels/elements.hpp"
#include "kernels/features.hpp"
#include "patchfold/dtype.hpp"

#if defined(PATCHFOLD_KERNELS_BLEND_ELEMENTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PATCHFOLD_KERNELS_BLEND_ELEMENTS_INL
#undef PATCHFOLD_KERNELS_BLEND_ELEMENTS_INL
#else
#define PATCHFOLD_KERNELS_BLEND_ELEMENTS_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// Returns the bits of each lane as a 64-bit integer.
template <class D, class V>
HWY_INLINE auto widen_bits(D d, V bits) {
  using U = hn::TFromV<V>;
  const hn::Rebind<std::uint32_t, D> words;
  if constexpr (sizeof(U) == 8)
    return bits;
  else if constexpr (sizeof(U) == 4)
    return hn::PromoteTo(d, bits);
  else
    return hn::PromoteTo(d, hn::PromoteTo(words, bits));
}

/// The conversions between elements of type T and lanes of D, which are float64, or float32 for 8-bit types.
template <class T, class D>
struct Elements {
  using Raw = T;
  using V = hn::Vec<D>;
  static constexpr bool is_float = std::is_floating_point_v<T>;
  static constexpr DType dtype = *patchfold::detail::dtype_of_type<T>();
  using Words = hn::Rebind<std::int32_t, D>;

  /// Returns the elements as numbers, exactly.
  template <class RawV>
  static HWY_INLINE V widen(RawV v) {
    const D d;
    if constexpr (std::is_same_v<T, double>) {
      return v;
    } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::int32_t>) {
      return hn::PromoteTo(d, v);
    } else if constexpr (std::is_same_v<T, std::uint32_t>) {
      const hn::Rebind<T, D> raw;
      const auto centred = hn::BitCast(Words(), hn::Xor(v, hn::Set(raw, 0x80000000u)));
      return hn::Add(hn::PromoteTo(d, centred), hn::Set(d, 2147483648.0));
    } else if constexpr (std::is_same_v<hn::TFromD<D>, float>) {
      return hn::ConvertTo(d, hn::PromoteTo(Words(), v));
    } else {
      return hn::PromoteTo(d, hn::PromoteTo(Words(), v));
    }
  }
  /// Returns the numbers as elements, rounded to nearest even; integers saturate.
  static HWY_INLINE auto narrow(V v) {
    const D d;
    const hn::Rebind<T, D> raw;
    if constexpr (std::is_same_v<T, double>) {
      return v;
    } else if constexpr (std::is_same_v<T, float>) {
      return hn::DemoteTo(raw, v);
    } else {
      constexpr double low = std::numeric_limits<T>::min();
      constexpr double high = std::numeric_limits<T>::max();
      v = hn::Round(hn::Min(hn::Max(v, hn::Set(d, low)), hn::Set(d, high)));
      if constexpr (std::is_same_v<T, std::int32_t>) {
        return hn::DemoteTo(raw, v);
      } else if constexpr (std::is_same_v<T, std::uint32_t>) {
        const auto centred = hn::DemoteTo(Words(), hn::Sub(v, hn::Set(d, 2147483648.0)));
        return hn::Xor(hn::BitCast(raw, centred), hn::Set(raw, 0x80000000u));
      } else {
        return hn::DemoteTo(raw, hn::DemoteTo(Words(), v));
      }
    }
  }
};

/// The conversions of booleans: any byte other than 0 counts as 1.
template <class D>
struct Elements<Boolean, D> {
  using Raw = std::uint8_t;
  using Bytes = Elements<std::uint8_t, D>;
  static constexpr bool is_float = false;
  static constexpr DType dtype = DType::boolean;

  template <class RawV>
  static HWY_INLINE auto widen(RawV v) {
    return Bytes::widen(hn::Min(v, hn::Set(hn::Rebind<Raw, D>(), 1)));
  }
  static HWY_INLINE auto narrow(hn::Vec<D> v) { return hn::Min(Bytes::narrow(v), hn::Set(hn::Rebind<Raw, D>(), 1)); }
};

/// Returns numbers in float64, rounded to nearest even to a format with the given bits of mantissa and the given smallest normal
/// number.
template <class D>
HWY_INLINE hn::Vec<D> round_to_bits(D d, hn::Vec<D> v, int mantissa_bits, double smallest) {
  const auto magnitude = hn::Abs(v);
  const hn::RebindToUnsigned<D> bits;
  const auto power = hn::BitCast(d, hn::And(hn::BitCast(bits, magnitude), hn::Set(bits, 0x7ff0000000000000u)));
  // The unit of the last place is never smaller than that of the smallest normal number. Numbers beyond 2^200 become infinity
  // later.
  const auto bounded = hn::Min(hn::Max(power, hn::Set(d, smallest)), hn::Set(d, 0x1p200));
  const auto centre = hn::Mul(bounded, hn::Set(d, static_cast<double>(std::uint64_t{1} << (52 - mantissa_bits))));
  return hn::CopySign(hn::Sub(hn::Add(magnitude, centre), centre), v);
}

template <class D>
struct Elements<Bfloat16, D> {
  using Raw = std::uint16_t;
  using Floats = hn::Rebind<float, D>;
  using Words = hn::Rebind<std::uint32_t, D>;
  static constexpr bool is_float = true;
  static constexpr DType dtype = DType::bfloat16;

  template <class RawV>
  static HWY_INLINE auto widen(RawV v) {
    return hn::PromoteTo(D(), hn::BitCast(Floats(), hn::ShiftLeft<16>(hn::PromoteTo(Words(), v))));
  }
  static HWY_INLINE auto narrow(hn::Vec<D> v) {
    const auto rounded = hn::DemoteTo(Floats(), round_to_bits(D(), v, 7, 0x1p-126));
    const auto upper = hn::ShiftRight<16>(hn::BitCast(Words(), rounded));
    return hn::DemoteTo(hn::Rebind<Raw, D>(), hn::BitCast(hn::RebindToSigned<Words>(), upper));
  }
};

template <class D>
struct Elements<Float16, D> {
  using Raw = std::uint16_t;
  using Floats = hn::Rebind<float, D>;
  using Words = hn::Rebind<std::uint32_t, D>;
  static constexpr bool is_float = true;
  static constexpr DType dtype = DType::float16;

  template <class RawV>
  static HWY_INLINE auto widen(RawV v) {
    const Floats floats;
    if constexpr (has_float16_conversions(HWY_TARGET)) {
      return hn::PromoteTo(D(), hn::PromoteTo(floats, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), v)));
    } else {
      const Words words;
      const auto bits = hn::PromoteTo(words, v);
      const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(words, 0x8000)));
      const auto moved = hn::ShiftLeft<13>(hn::And(bits, hn::Set(words, 0x7fff)));
      // Read as float32, the shifted bits are the number times 2^-112, unless the number is infinity or NaN.
      const auto finite = hn::Mul(hn::BitCast(floats, moved), hn::Set(floats, 0x1p112F));
      const auto special = hn::BitCast(floats, hn::Or(moved, hn::Set(words, 0x7f800000)));
      const auto is_special = hn::Ge(hn::BitCast(floats, moved), hn::Set(floats, 0x1p-96F));
      const auto magnitude = hn::IfThenElse(is_special, special, finite);
      return hn::PromoteTo(D(), hn::BitCast(floats, hn::Or(hn::BitCast(words, magnitude), sign)));
    }
  }
  static HWY_INLINE auto narrow(hn::Vec<D> v) {
    const Floats floats;
    const hn::Rebind<Raw, D> raw;
    const auto rounded = hn::DemoteTo(floats, round_to_bits(D(), v, 10, 0x1p-14));
    if constexpr (has_float16_conversions(HWY_TARGET)) {
      return hn::BitCast(raw, hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), rounded));
    } else {
      const Words words;
      const auto sign = hn::And(hn::ShiftRight<16>(hn::BitCast(words, rounded)), hn::Set(words, 0x8000));
      const auto magnitude = hn::Min(hn::Abs(rounded), hn::Set(floats, 0x1p16F));
      const auto bits = hn::ShiftRight<13>(hn::BitCast(words, hn::Mul(magnitude, hn::Set(floats, 0x1p-112F))));
      const auto is_number = hn::RebindMask(words, hn::Eq(rounded, rounded));
      const auto result = hn::IfThenElse(is_number, hn::Or(bits, sign), hn::Set(words, 0x7e00));
      return hn::DemoteTo(raw, hn::BitCast(hn::RebindToSigned<Words>(), result));
    }
  }
};

template <class T>
concept HasElements = Summable<T> && !ComplexNumber<T> && !(std::integral<T> && sizeof(T) == 8);

#endif

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
