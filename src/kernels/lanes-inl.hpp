// SPDX-License-Identifier: Apache-2.0
// Adds vectors of elements of every summable type, as kernels/elements.hpp adds single elements: widened to the accumulator, and
// rounded once.
#include <hwy/highway.h>

#include <cstdint>

#include "kernels/elements.hpp"
#include "kernels/features.hpp"

#if defined(PATCHFOLD_KERNELS_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PATCHFOLD_KERNELS_LANES_INL
#undef PATCHFOLD_KERNELS_LANES_INL
#else
#define PATCHFOLD_KERNELS_LANES_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// Elements that are their own accumulators; integers are summed as unsigned, so they wrap.
template <class T, class Tag = hn::ScalableTag<typename Summand<T>::Accumulator>>
struct Lanes {
  using Element = T;
  using D = Tag;
  using V = hn::Vec<D>;
  static HWY_INLINE V load(const std::byte* at) { return hn::LoadU(D(), reinterpret_cast<const T*>(at)); }
  static HWY_INLINE V add(V sum, V value) { return hn::Add(sum, value); }
  static HWY_INLINE void store(V sum, std::byte* at) { hn::StoreU(sum, D(), reinterpret_cast<T*>(at)); }
};

template <class Tag>
struct Lanes<Boolean, Tag> {
  using Element = std::uint8_t;
  using D = Tag;
  using V = hn::Vec<D>;
  static HWY_INLINE V load(const std::byte* at) {
    return hn::Min(hn::LoadU(D(), reinterpret_cast<const std::uint8_t*>(at)), hn::Set(D(), 1));
  }
  static HWY_INLINE V add(V sum, V value) { return hn::Or(sum, value); }
  static HWY_INLINE void store(V sum, std::byte* at) { hn::StoreU(sum, D(), reinterpret_cast<std::uint8_t*>(at)); }
};

/// 16-bit floats, widened to float32. Conversions are bit for bit those of kernels/half.hpp.
template <class Half, class Tag>
struct Halves {
  using Element = std::uint16_t;
  using D = Tag;
  using V = hn::Vec<D>;
  using Wide = hn::RebindToUnsigned<D>;
  using Narrow = hn::Rebind<std::uint16_t, D>;
  static HWY_INLINE V load(const std::byte* at) {
    return Half::widen(hn::LoadU(Narrow(), reinterpret_cast<const std::uint16_t*>(at)));
  }
  static HWY_INLINE V add(V sum, V value) { return hn::Add(sum, value); }
  static HWY_INLINE void store(V sum, std::byte* at) {
    hn::StoreU(Half::narrow(sum), Narrow(), reinterpret_cast<std::uint16_t*>(at));
  }
};

/// Returns the lower halves of the lanes; the upper halves are zero.
template <class D, class U>
HWY_INLINE auto lower_halves(D, U bits) {
  const hn::Rebind<std::uint16_t, D> narrow;
  return hn::DemoteTo(narrow, hn::BitCast(hn::RebindToSigned<D>(), bits));
}

template <class Tag>
struct Lanes<Bfloat16, Tag> : Halves<Lanes<Bfloat16, Tag>, Tag> {
  using D = Tag;
  using V = hn::Vec<D>;
  using Wide = hn::RebindToUnsigned<D>;
  static constexpr bool takes_steps_to_round = true;
  template <class V16>
  static HWY_INLINE V widen(V16 bits) {
    return hn::BitCast(D(), hn::ShiftLeft<16>(hn::PromoteTo(Wide(), bits)));
  }
  static HWY_INLINE auto narrow(V sum) {
    const Wide d;
    using U = hn::Vec<Wide>;
    const U bits = hn::BitCast(d, sum);
    const hn::RebindToSigned<Wide> less;
    const U odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1));
    const U rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(d, 0x7fff))));
    const U magnitude = hn::And(bits, hn::Set(d, 0x7fffffff));
    const auto is_nan = hn::RebindMask(d, hn::Gt(hn::BitCast(less, magnitude), hn::Set(less, 0x7f800000)));
    return lower_halves(d, hn::IfThenElse(is_nan, hn::Or(hn::ShiftRight<16>(bits), hn::Set(d, 0x40)), rounded));
  }
};

template <class Tag>
struct Lanes<Float16, Tag> : Halves<Lanes<Float16, Tag>, Tag> {
  using D = Tag;
  using V = hn::Vec<D>;
  using Wide = hn::RebindToUnsigned<D>;
  static constexpr bool takes_steps_to_round = !has_float16_conversions(HWY_TARGET);
  template <class V16>
  static HWY_INLINE V widen(V16 bits) {
    if constexpr (has_float16_conversions(HWY_TARGET)) {
      const hn::Rebind<hwy::float16_t, D> halves;  // exact, subnormals and NaNs included
      return hn::PromoteTo(D(), hn::BitCast(halves, bits));
    } else {
      const Wide d;
      const auto wide = hn::PromoteTo(d, bits);
      const auto sign = hn::ShiftLeft<16>(hn::And(wide, hn::Set(d, 0x8000)));
      const auto magnitude = hn::And(wide, hn::Set(d, 0x7fff));
      const hn::RebindToSigned<Wide> less;
      const auto at_least = [&](int limit) {
        return hn::RebindMask(d, hn::Gt(hn::BitCast(less, magnitude), hn::Set(less, limit - 1)));
      };
      const auto normal = hn::Add(hn::ShiftLeft<13>(magnitude), hn::Set(d, 112u << 23));
      const auto special = hn::Or(hn::ShiftLeft<13>(magnitude), hn::Set(d, 0x7f800000));
      const auto units = hn::Mul(hn::ConvertTo(D(), hn::BitCast(less, magnitude)), hn::Set(D(), 0x1p-24f));
      const auto small = hn::BitCast(d, units);
      const auto finite = hn::IfThenElse(at_least(0x0400), normal, small);
      return hn::BitCast(D(), hn::Or(sign, hn::IfThenElse(at_least(0x7c00), special, finite)));
    }
  }
  static HWY_INLINE auto narrow(V sum) {
    if constexpr (has_float16_conversions(HWY_TARGET)) {
      const hn::Rebind<hwy::float16_t, D> halves;  // rounds to nearest even, whatever the environment's rounding mode
      return hn::BitCast(hn::Rebind<std::uint16_t, D>(), hn::DemoteTo(halves, sum));
    } else {
      const Wide d;
      using U = hn::Vec<Wide>;
      const U bits = hn::BitCast(d, sum);
      const hn::RebindToSigned<Wide> less;
      const U sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 0x8000));
      const U magnitude = hn::And(bits, hn::Set(d, 0x7fffffff));
      const auto above = [&](std::int32_t limit) {
        return hn::RebindMask(d, hn::Gt(hn::BitCast(less, magnitude), hn::Set(less, limit)));
      };
      const U rebiased = hn::Sub(magnitude, hn::Set(d, 112u << 23));
      const U odd = hn::And(hn::ShiftRight<13>(rebiased), hn::Set(d, 1));
      const U normal = hn::ShiftRight<13>(hn::Add(rebiased, hn::Add(odd, hn::Set(d, 0xfff))));
      // The last place of 0.75 is 2^-24, so adding it rounds to whole units of 2^-24 in the low bits.
      const auto rounded = hn::Add(hn::BitCast(D(), magnitude), hn::Set(D(), 0.75f));
      const U small = hn::Sub(hn::BitCast(d, rounded), hn::BitCast(d, hn::Set(D(), 0.75f)));
      const U nan = hn::Or(hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d, 0x3ff)), hn::Set(d, 0x7e00));
      U result = hn::IfThenElse(above(0x387fffff), normal, small);
      result = hn::IfThenElse(above(0x477fffff), hn::Set(d, 0x7c00), result);
      result = hn::IfThenElse(above(0x7f800000), nan, result);
      return lower_halves(d, hn::Or(sign, result));
    }
  }
};

#endif

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
