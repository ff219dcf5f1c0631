// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/plane.cpp"
#include "kernels/plane.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "kernels/blocks-inl.hpp"
#include "kernels/exchange-inl.hpp"
#include "kernels/features.hpp"
#include "kernels/piece.hpp"
#include "kernels/targets-inl.hpp"
#include "kernels/targets.hpp"
#include "tensor/held.hpp"

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Copies `bytes` bytes, at least `half` and at most 2 * `half`, in two halves that may overlap.
template <std::int64_t half>
HWY_INLINE void copy_halves(std::byte* dst, const std::byte* src, std::int64_t bytes) {
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<std::uint8_t, half> d;
  constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(d));
  for (const std::int64_t at : {std::int64_t{0}, bytes - half})
    for (std::int64_t i = 0; i < half; i += lanes)
      hn::StoreU(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(src + at + i)), d,
                 reinterpret_cast<std::uint8_t*>(dst + at + i));
#else
  copy_overlapping<static_cast<std::size_t>(half)>(dst, src, static_cast<std::size_t>(bytes));
#endif
}

/// Copies a unit in whole vectors; the last vector overlaps the vector before it.
HWY_INLINE void copy_vectors(std::byte* dst, const std::byte* src, std::int64_t bytes) {
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<std::uint8_t, 64> d;
  constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(d));
  const auto copy = [=](std::int64_t at) {
    hn::StoreU(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(src + at)), d, reinterpret_cast<std::uint8_t*>(dst + at));
  };
  PATCHFOLD_UNROLL_BY_4 for (std::int64_t i = 0; i < bytes - lanes; i += lanes) copy(i);
  copy(bytes - lanes);
#else
  copy_piece(dst, src, bytes);
#endif
}

/// Copies a unit. `constant` is the size, which turns memcpy into a load and a store; -n stands for any size from n to 2 * n bytes,
/// 0 for larger sizes.
template <std::int64_t constant>
HWY_INLINE void move_unit(std::byte* dst, const std::byte* src, std::int64_t unit) {
  if constexpr (constant > 0)
    std::memcpy(dst, src, constant);
  else if constexpr (constant < 0)
    copy_halves<-constant>(dst, src, unit);
  else
    copy_vectors(dst, src, unit);
}

/// Copies the units of a plane one after the other. The loops read local variables, since the compiler must assume that stores
/// change the plane.
template <std::int64_t constant>
void move_units(std::byte* dst, const std::byte* src, std::int64_t unit, const Plane& p) {
  const std::int64_t *to_columns = p.dst_columns.offsets, *from_columns = p.src_columns.offsets;
  const std::int64_t *to_rows = p.dst_rows.offsets, *from_rows = p.src_rows.offsets;
  const std::int64_t to_step = p.dst_columns.stride, from_step = p.src_columns.stride;
  const std::int64_t rows = p.rows, columns = p.columns;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::byte* to = dst + to_rows[row];
    const std::byte* from = src + from_rows[row];
    if (to_step != 0 && from_step != 0) {
      PATCHFOLD_UNROLL_BY_4 for (std::int64_t column = 0; column < columns; ++column, to += to_step, from += from_step)
          move_unit<constant>(to, from, unit);
      continue;
    }
    for (std::int64_t column = 0; column < columns; ++column)
      move_unit<constant>(to + to_columns[column], from + from_columns[column], unit);
  }
}

#if HWY_TARGET != HWY_SCALAR

template <class T>
struct Planes {
  using D = hn::CappedTag<T, 16>;
  using V = hn::Vec<D>;
  static constexpr int side = static_cast<int>(hn::MaxLanes(D()));
  static constexpr std::int64_t unit = sizeof(T);
  static HWY_INLINE V load_whole(const std::byte* at) { return hn::LoadU(D(), reinterpret_cast<const T*>(at)); }
  static HWY_INLINE void store_whole(V value, std::byte* at) { hn::StoreU(value, D(), reinterpret_cast<T*>(at)); }

  /// Loads a vector of elements, `step` elements apart; bytes behind the last element are read too.
  template <int step>
  static HWY_INLINE V load(const std::byte* at) {
    if constexpr (step == 1)
      return load_whole(at);
    else
      return hn::ConcatEven(D(), load_whole(at + side * unit), load_whole(at));
  }

  /// Loads a vector of elements, `step` elements apart, without reading a byte at or behind `end`.
  template <int step>
  static HWY_INLINE V load_within(const std::byte* at, const std::byte* end) {
    constexpr std::int64_t reach = step * side * unit;
    alignas(64) std::byte copy[reach];
    if (step == 1 || end - at >= reach) return load<step>(at);
    std::memcpy(copy, at, static_cast<std::size_t>(reach - (step - 1) * unit));
    return load<step>(copy);
  }

  static HWY_INLINE V reversed(V v) {
    const D d;
    if constexpr (sizeof(T) > 1) {
      return hn::Reverse(d, v);
    } else {
      const hn::Repartition<std::uint16_t, D> pairs;
      const auto swapped = hn::Reverse(pairs, hn::BitCast(pairs, v));
      return hn::BitCast(d, hn::Or(hn::ShiftLeft<8>(swapped), hn::ShiftRight<8>(swapped)));
    }
  }

  /// Turns `ways` columns into rows that fill the destination. In the source the rows are neighbours, in ascending or descending
  /// order.
  template <int ways>
  static void join(std::byte* dst, const std::byte* src, std::int64_t, const Plane& p) {
    const D d;
    const bool is_backwards = p.src_rows.stride < 0;
    std::int64_t columns[ways];
    for (int i = 0; i < ways; ++i) columns[i] = p.src_columns.offsets[i];
    for_blocks(p.rows, side, [=](std::int64_t row) {
      const std::byte* from = src + (is_backwards ? -(row + side - 1) : row) * unit;
      V v[ways];
      PATCHFOLD_UNROLL for (int i = 0; i < ways; ++i) v[i] = load_whole(from + columns[i]);
      if (is_backwards) PATCHFOLD_UNROLL for (int i = 0; i < ways; ++i) v[i] = reversed(v[i]);
      std::byte* to = dst + row * ways * unit;
      if constexpr (ways == 3) {
        store_three(d, v[0], v[1], v[2], to);
      } else {
        interleave<ways>(d, v);
        PATCHFOLD_UNROLL for (int i = 0; i < ways; ++i) store_whole(v[i], to + i * side * unit);
      }
    });
  }

  /// Copies `ways` rows whose columns follow one another in the source, in ascending or descending order.
  template <int ways>
  static void split(std::byte* dst, const std::byte* src, std::int64_t, const Plane& p) {
    const D d;
    const bool is_backwards = p.src_columns.stride < 0, rows_are = p.src_rows.stride < 0;
    std::int64_t rows[ways];
    for (int i = 0; i < ways; ++i) rows[i] = p.dst_rows.offsets[rows_are ? ways - 1 - i : i];
    if (rows_are) src -= (ways - 1) * unit;  // to the row that comes first in memory
    for_blocks(p.columns, side, [=](std::int64_t column) {
      const std::byte* from = src + (is_backwards ? -(column + side - 1) : column) * ways * unit;
      V v[ways];
      if constexpr (ways == 3) {
        load_three(d, from, v[0], v[1], v[2]);
      } else {
        PATCHFOLD_UNROLL for (int i = 0; i < ways; ++i) v[i] = load_whole(from + i * side * unit);
        deinterleave<ways>(d, v);
      }
      if (is_backwards) PATCHFOLD_UNROLL for (int i = 0; i < ways; ++i) v[i] = reversed(v[i]);
      PATCHFOLD_UNROLL for (int i = 0; i < ways; ++i) {
        std::byte* to = dst + rows[i] + column * unit;
        store_whole(v[i], to);
        fetch_soon(to);
      }
    });
  }

  template <bool joins>
  static MovePlane regroup(std::int64_t ways) {
    const auto of = []<int count>(std::integral_constant<int, count>) -> MovePlane {
      if constexpr (joins)
        return join<count>;
      else
        return split<count>;
    };
    switch (ways) {
      case 2: return of(std::integral_constant<int, 2>());
      case 3: return of(std::integral_constant<int, 3>());
      case 4: return of(std::integral_constant<int, 4>());
      default: return of(std::integral_constant < int, side >= 8 ? 8 : 2 > ());
    }
  }

  /// Copies columns that lie `step` units apart in the source to rows without gaps; in reverse order if the stride is negative.
  template <int step, bool is_backwards>
  static void straighten(std::byte* dst, const std::byte* src, std::int64_t, const Plane& p) {
    constexpr std::int64_t way = (is_backwards ? -step : step) * unit;
    const std::int64_t rows = p.rows, columns = p.columns;
    const std::int64_t *to_rows = p.dst_rows.offsets, *from_rows = p.src_rows.offsets;
    const std::byte* const src_end = p.src_end;
    for (std::int64_t row = 0; row < rows; ++row) {
      std::byte* const to = dst + to_rows[row];
      const std::byte* const from = src + from_rows[row];
      if (columns < side) {
        PATCHFOLD_UNROLL_BY_4 for (std::int64_t i = 0; i < columns; ++i) std::memcpy(to + i * unit, from + i * way, unit);
        continue;
      }
      const auto at = [=](std::int64_t i) { return from + (is_backwards ? i + side - 1 : i) * way; };
      const auto put = [=](V v, std::int64_t i) { store_whole(is_backwards ? reversed(v) : v, to + i * unit); };
      // Only the first and the last vector may reach the end of readable memory; the last vector begins early enough to be whole.
      put(load_within<step>(at(0), src_end), 0);
      PATCHFOLD_UNROLL_BY_4 for (std::int64_t i = side; i < columns - side; i += side) put(load<step>(at(i)), i);
      if (columns > side) put(load_within<step>(at(columns - side), src_end), columns - side);
    }
  }

  static constexpr bool spreads = has_avx512(HWY_TARGET) && sizeof(T) <= 4;
  static constexpr PlaneVectors vectors{side, spreads, Exchange<T>::largest, Exchange<T>::lanes};

  /// Writes columns two units apart; bytes between them do not change.
  static void spread(std::byte* dst, const std::byte* src, std::int64_t, const Plane& p) {
    if constexpr (spreads) {
      using Wide = hwy::MakeWide<T>;
      const hn::ScalableTag<Wide> wide;
      const hn::Rebind<T, decltype(wide)> narrow;
      const hn::Repartition<T, decltype(wide)> places;
      const auto lanes = static_cast<std::int64_t>(hn::Lanes(wide));
      const auto even = hn::MaskFromVec(hn::BitCast(places, hn::Set(wide, hwy::LimitsMax<hwy::MakeUnsigned<T>>())));
      const std::int64_t rows = p.rows, columns = p.columns;
      const std::int64_t *to_rows = p.dst_rows.offsets, *from_rows = p.src_rows.offsets;
      for (std::int64_t row = 0; row < rows; ++row) {
        auto* to = reinterpret_cast<T*>(dst + to_rows[row]);
        const auto* from = reinterpret_cast<const T*>(src + from_rows[row]);
        std::int64_t i = 0;
        for (; i + lanes <= columns; i += lanes) {
          const auto v = hn::PromoteTo(wide, hn::LoadU(narrow, from + i));
          hn::BlendedStore(hn::BitCast(places, v), even, places, to + 2 * i);
          fetch_soon(to + 2 * i);
        }
        for (; i < columns; ++i) std::memcpy(to + 2 * i, from + i, unit);
      }
    }
  }

  /// Copies rows whose columns are all the same unit of the source.
  static void repeat(std::byte* dst, const std::byte* src, std::int64_t, const Plane& p) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const std::int64_t rows = p.rows, columns = p.columns;
    const std::int64_t *to_rows = p.dst_rows.offsets, *from_rows = p.src_rows.offsets;
    for (std::int64_t row = 0; row < rows; ++row) {
      T value;
      std::memcpy(&value, src + from_rows[row], unit);
      auto* to = reinterpret_cast<T*>(dst + to_rows[row]);
      const auto all = hn::Set(d, value);
      std::int64_t i = 0;
      for (; i + lanes <= columns; i += lanes) hn::StoreU(all, d, to + i);
      for (; i < columns; ++i) std::memcpy(to + i, &value, unit);
    }
  }

  static MovePlane mover(std::int64_t, const Plane& p) {
    const PlaneSteps steps{p.dst_rows.stride, p.dst_columns.stride, p.src_rows.stride, p.src_columns.stride, p.repeats};
    switch (plane_way(unit, vectors, p.rows, p.columns, steps)) {
      case PlaneWay::units: break;
      case PlaneWay::join: return regroup<true>(p.columns);
      case PlaneWay::split: return regroup<false>(p.rows);
      case PlaneWay::exchange: {
        const std::int64_t side = blocks_of(vectors, p.rows, p.columns, std::abs(steps.src_rows) / unit).side;
        return std::abs(steps.src_rows) == unit ? Exchange<T>::template kernel<1>(side, p)
                                                : Exchange<T>::template kernel<2>(side, p);
      }
      case PlaneWay::straighten:
        if (std::abs(steps.src_columns) == unit) return straighten<1, true>;
        return steps.src_columns < 0 ? straighten<2, true> : straighten<2, false>;
      case PlaneWay::spread: return spread;
      case PlaneWay::repeat: return repeat;
    }
    return move_units<unit>;
  }
};

template <class T>
PlaneVectors vectors_of() {
  return Planes<T>::vectors;
}

#else

template <class T>
struct Planes {
  static MovePlane mover(std::int64_t, const Plane&) { return move_units<sizeof(T)>; }
};

template <class T>
PlaneVectors vectors_of() {
  return {};
}

#endif

template <class T>
PlaneVectors vectors_if_held() {
  if constexpr (holds_unit(sizeof(T)))
    return vectors_of<T>();
  else
    return {};
}

/// Returns the kernel for units of the size of T; it copies units one by one if this build has no elements that fit such units.
template <class T>
MovePlane mover_if_held(std::int64_t unit, const Plane& plane) {
  if constexpr (holds_unit(sizeof(T)))
    return Planes<T>::mover(unit, plane);
  else
    return move_units<sizeof(T)>;
}

PlaneVectors VectorsOf(std::int64_t unit) {
  switch (unit) {
    case 1: return vectors_if_held<std::uint8_t>();
    case 2: return vectors_if_held<std::uint16_t>();
    case 4: return vectors_if_held<std::uint32_t>();
    case 8: return vectors_of<std::uint64_t>();
    default: return {};
  }
}

MovePlane MoverOf(std::int64_t unit, const Plane& plane) {
  switch (unit) {
    case 1: return mover_if_held<std::uint8_t>(unit, plane);
    case 2: return mover_if_held<std::uint16_t>(unit, plane);
    case 3: return move_units<3>;
    case 4: return mover_if_held<std::uint32_t>(unit, plane);
    case 8: return Planes<std::uint64_t>::mover(unit, plane);
    case 12: return move_units<12>;
    case 16: return move_units<16>;
    case 24: return move_units<24>;
    case 32: return move_units<32>;
    case 64: return move_units<64>;
    default: break;
  }
  if (unit < 8) return move_units<-4>;
  if (unit < 16) return move_units<-8>;
  if (unit < 32) return move_units<-16>;
  if (unit < 64) return move_units<-32>;
  if (unit <= 128) return move_units<-64>;
  return move_units<0>;
}

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace patchfold::kernels {

HWY_EXPORT(MoverOf);

MovePlane plane_kernel(std::int64_t unit, const Plane& plane) noexcept {
  return HWY_DYNAMIC_DISPATCH(MoverOf)(unit, plane);
}

HWY_EXPORT(VectorsOf);

PlaneVectors plane_vectors(std::int64_t unit) noexcept {
  return HWY_DYNAMIC_DISPATCH(VectorsOf)(unit);
}

HWY_EXPORT(target);

const char* plane_target() noexcept {
  return HWY_DYNAMIC_DISPATCH(target)();
}

}  // namespace patchfold::kernels
#endif
