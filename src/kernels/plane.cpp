// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/plane.cpp"
#include "kernels/plane.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "kernels/blocks-inl.hpp"
#include "kernels/features.hpp"
#include "kernels/piece.hpp"
#include "kernels/targets-inl.hpp"
#include "kernels/targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A constant size turns memcpy into a load and a store.
template <std::int64_t constant>
HWY_INLINE void move_unit(std::byte* dst, const std::byte* src, std::int64_t unit) {
  if constexpr (constant > 0)
    std::memcpy(dst, src, constant);
  else
    copy_piece(dst, src, unit);
}

/// One unit after the other.
template <std::int64_t constant>
void move_units(std::byte* dst, const std::byte* src, std::int64_t unit, const Plane& p) {
  const std::int64_t *to_columns = p.dst_columns.offsets, *from_columns = p.src_columns.offsets;
  const std::int64_t to_step = p.dst_columns.stride, from_step = p.src_columns.stride;
  for (std::int64_t row = 0; row < p.rows; ++row) {
    std::byte* to = dst + p.dst_rows.offsets[row];
    const std::byte* from = src + p.src_rows.offsets[row];
    if (to_step != 0 && from_step != 0) {
      for (std::int64_t column = 0; column < p.columns; ++column, to += to_step, from += from_step)
        move_unit<constant>(to, from, unit);
      continue;
    }
    for (std::int64_t column = 0; column < p.columns; ++column)
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

  /// The first `count` elements, `step` places apart; the others may be anything. Nothing is read from `end` on.
  template <int step>
  static HWY_INLINE V load(const std::byte* at, std::int64_t count, const std::byte* end) {
    if ((step == 1 && count == side) || end - at >= step * side * unit) {
      if constexpr (step == 1)
        return load_whole(at);
      else
        return hn::ConcatEven(D(), load_whole(at + side * unit), load_whole(at));
    }
    alignas(64) std::byte copy[side * unit] = {};
    for (std::int64_t i = 0; i < count; ++i) std::memcpy(copy + i * unit, at + i * step * unit, unit);
    return load_whole(copy);
  }

  static HWY_INLINE void store(V value, std::byte* at, std::int64_t count) {
    const D d;
    if (count == side) {
      store_whole(value, at);
    } else if constexpr (has_avx512(HWY_TARGET)) {
      hn::BlendedStore(value, hn::FirstN(d, static_cast<std::size_t>(count)), d, reinterpret_cast<T*>(at));
    } else {
      alignas(64) std::byte copy[side * unit];
      store_whole(value, copy);
      for (std::int64_t i = 0; i < count; ++i) std::memcpy(at + i * unit, copy + i * unit, unit);
    }
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

  /// Fetches the line that `ahead` leads to; an address that leads nowhere does no harm.
  static HWY_INLINE void fetch(const std::byte* at, std::int64_t ahead) {
    if (ahead != 0) __builtin_prefetch(at + ahead);
  }
  static HWY_INLINE void fetch_to_write(const std::byte* at, std::int64_t ahead) {
    if (ahead != 0) __builtin_prefetch(at + ahead, 1);
  }

  /// Calls f for blocks of `size` from 0 to `end`, the last of which begins early enough to be whole.
  template <class F>
  static HWY_INLINE void for_blocks(std::int64_t end, std::int64_t size, F&& f) {
    for (std::int64_t i = 0;; i = std::min(i + size, end - size)) {
      f(i);
      if (i + size == end) return;
    }
  }

  /// Exchanges rows with columns. Rows lie `step` places apart in the source, backwards if the stride is negative.
  template <int step>
  static void transpose(std::byte* dst, const std::byte* src, const Plane& given) {
    const D d;
    Plane p = given;
    // A few rows or columns that are left over are cheaper one by one than in a block.
    const auto few = [](std::int64_t length) { return length > side && length % side <= side / 8 ? length % side : 0; };
    if (const std::int64_t left = few(p.columns); left > 0) {
      p.columns -= left;
      for (std::int64_t row = 0; row < p.rows; ++row)
        for (std::int64_t column = p.columns; column < given.columns; ++column)
          std::memcpy(dst + p.dst_rows.offsets[row] + column * unit,
                      src + p.src_columns.offsets[column] + row * p.src_rows.stride, unit);
    }
    if (const std::int64_t left = few(p.rows); left > 0) {
      p.rows -= left;
      for (std::int64_t row = p.rows; row < given.rows; ++row)
        for (std::int64_t column = 0; column < p.columns; ++column)
          std::memcpy(dst + p.dst_rows.offsets[row] + column * unit,
                      src + p.src_columns.offsets[column] + row * p.src_rows.stride, unit);
    }
    const bool backwards = p.src_rows.stride < 0;
    const std::int64_t rows = std::min<std::int64_t>(side, p.rows), columns = std::min<std::int64_t>(side, p.columns);
    const bool whole = rows == side && columns == side;
    for_blocks(p.rows, rows, [&](std::int64_t row) {
      // The row that is first in memory, and the way from there to the next.
      const std::int64_t first = backwards ? row + rows - 1 : row, way = backwards ? -1 : 1;
      const std::byte* from = src + first * p.src_rows.stride;
      const std::int64_t* to_rows = p.dst_rows.offsets + first;
      for_blocks(p.columns, columns, [&](std::int64_t column) {
        const std::int64_t* from_columns = p.src_columns.offsets + column;
        std::byte* to = dst + column * unit;
        V v[side];
        if (whole) {
          PATCHFOLD_UNROLL for (int i = 0; i < side; ++i) v[i] = load<step>(from + from_columns[i], side, p.src_end);
          PATCHFOLD_UNROLL for (int i = 0; i < side; ++i) fetch(from + from_columns[i], p.src_ahead);
          interleave<side>(d, v);
          PATCHFOLD_UNROLL for (int i = 0; i < side; ++i) store_whole(v[i], to + to_rows[i * way]);
          PATCHFOLD_UNROLL for (int i = 0; i < side; ++i) fetch_to_write(to + to_rows[i * way], p.dst_ahead);
          return;
        }
        PATCHFOLD_UNROLL for (int i = 0; i < side; ++i) v[i] =
            i < columns ? load<step>(from + from_columns[i], rows, p.src_end) : hn::Zero(d);
        interleave<side>(d, v);
        PATCHFOLD_UNROLL for (int i = 0; i < side; ++i) if (i < rows) store(v[i], to + to_rows[i * way], columns);
      });
    });
  }

  /// The same for `ways` columns that fill the rows of the destination.
  template <int ways>
  static void join(std::byte* dst, const std::byte* src, const Plane& p) {
    const D d;
    const bool backwards = p.src_rows.stride < 0;
    for_blocks(p.rows, side, [&](std::int64_t row) {
      const std::byte* from = src + (backwards ? -(row + side - 1) : row) * unit;
      V v[ways];
      PATCHFOLD_UNROLL for (int i = 0; i < ways; ++i) {
        v[i] = load_whole(from + p.src_columns.offsets[i]);
        fetch(from + p.src_columns.offsets[i], p.src_ahead);
      }
      if (backwards) PATCHFOLD_UNROLL for (int i = 0; i < ways; ++i) v[i] = reversed(v[i]);
      std::byte* to = dst + row * ways * unit;
      if constexpr (ways == 3) {
        hn::StoreInterleaved3(v[0], v[1], v[2], d, reinterpret_cast<T*>(to));
      } else {
        interleave<ways>(d, v);
        PATCHFOLD_UNROLL for (int i = 0; i < ways; ++i) store_whole(v[i], to + i * side * unit);
      }
    });
  }

  /// The same for `ways` rows whose columns follow one another in the source, forwards or backwards.
  template <int ways>
  static void split(std::byte* dst, const std::byte* src, const Plane& p) {
    const D d;
    const bool backwards = p.src_columns.stride < 0;
    for_blocks(p.columns, side, [&](std::int64_t column) {
      const std::byte* from = src + (backwards ? -(column + side - 1) : column) * ways * unit;
      V v[ways];
      PATCHFOLD_UNROLL for (int i = 0; i < ways; ++i) fetch(from + i * side * unit, p.src_ahead);
      if constexpr (ways == 3) {
        hn::LoadInterleaved3(d, reinterpret_cast<const T*>(from), v[0], v[1], v[2]);
      } else {
        PATCHFOLD_UNROLL for (int i = 0; i < ways; ++i) v[i] = load_whole(from + i * side * unit);
        deinterleave<ways>(d, v);
      }
      if (backwards) PATCHFOLD_UNROLL for (int i = 0; i < ways; ++i) v[i] = reversed(v[i]);
      PATCHFOLD_UNROLL for (int i = 0; i < ways; ++i) {
        std::byte* to = dst + p.dst_rows.offsets[i] + column * unit;
        store_whole(v[i], to);
        fetch_to_write(to, p.dst_ahead);
      }
    });
  }

  template <bool joins, int ways>
  static void regroup(std::byte* dst, const std::byte* src, const Plane& p) {
    if constexpr (joins)
      join<ways>(dst, src, p);
    else
      split<ways>(dst, src, p);
  }

  template <bool joins>
  static bool regrouped(std::byte* dst, const std::byte* src, const Plane& p) {
    switch (joins ? p.columns : p.rows) {
      case 2: return regroup<joins, 2>(dst, src, p), true;
      case 3: return regroup<joins, 3>(dst, src, p), true;
      case 4: return regroup<joins, 4>(dst, src, p), true;
      case 8:
        if constexpr (side > 8) return regroup<joins, 8>(dst, src, p), true;
        return false;
      default: return false;
    }
  }

  /// Puts columns in order that lie `step` places apart, backwards if the stride is negative.
  template <int step>
  static void straighten(std::byte* dst, const std::byte* src, const Plane& p) {
    const bool backwards = p.src_columns.stride < 0;
    const std::int64_t columns = std::min<std::int64_t>(side, p.columns);
    for (std::int64_t row = 0; row < p.rows; ++row) {
      std::byte* to = dst + p.dst_rows.offsets[row];
      const std::byte* from = src + p.src_rows.offsets[row];
      if (columns < side && backwards) {
        for (std::int64_t i = 0; i < columns; ++i) std::memcpy(to + i * unit, from - i * step * unit, unit);
        continue;
      }
      for_blocks(p.columns, columns, [&](std::int64_t i) {
        const std::byte* at = from + (backwards ? -(i + side - 1) : i) * step * unit;
        const V v = load<step>(at, columns, p.src_end);
        fetch(at, p.src_ahead);
        store(backwards ? reversed(v) : v, to + i * unit, columns);
      });
    }
  }

  static void move(std::byte* dst, const std::byte* src, std::int64_t, const Plane& p) {
    const std::int64_t rows = p.src_rows.stride, columns = p.src_columns.stride;
    if (p.dst_columns.stride == unit && std::abs(rows) == unit) {
      if (p.dst_rows.stride == p.columns * unit && p.rows >= side && regrouped<true>(dst, src, p)) return;
      if (rows > 0 && std::abs(columns) == p.rows * unit && p.columns >= side && regrouped<false>(dst, src, p)) return;
    }
    if (p.dst_columns.stride == unit && (std::abs(rows) == unit || std::abs(rows) == 2 * unit)) {
      constexpr std::int64_t least = 4 * side;  // elements that pay for a block
      if (std::min<std::int64_t>(p.rows, side) * std::min<std::int64_t>(p.columns, side) >= least)
        return std::abs(rows) == unit ? transpose<1>(dst, src, p) : transpose<2>(dst, src, p);
    } else if (p.dst_columns.stride == unit && p.columns >= 4) {
      if (columns == -unit) return straighten<1>(dst, src, p);
      if (std::abs(columns) == 2 * unit) return straighten<2>(dst, src, p);
    }
    move_units<unit>(dst, src, unit, p);
  }
};

#else

template <class T>
struct Planes {
  static void move(std::byte* dst, const std::byte* src, std::int64_t unit, const Plane& p) {
    move_units<sizeof(T)>(dst, src, unit, p);
  }
};

#endif

MovePlane MoverOf(std::int64_t unit) {
  switch (unit) {
    case 1: return Planes<std::uint8_t>::move;
    case 2: return Planes<std::uint16_t>::move;
    case 3: return move_units<3>;
    case 4: return Planes<std::uint32_t>::move;
    case 6: return move_units<6>;
    case 8: return Planes<std::uint64_t>::move;
    case 12: return move_units<12>;
    case 16: return move_units<16>;
    case 24: return move_units<24>;
    case 32: return move_units<32>;
    case 64: return move_units<64>;
    default: return move_units<0>;
  }
}

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace patchfold::kernels {

HWY_EXPORT(MoverOf);

MovePlane plane_kernel(std::int64_t unit) noexcept {
  return HWY_DYNAMIC_DISPATCH(MoverOf)(unit);
}

bool plane_has_vectors(std::int64_t unit, std::int64_t src_stride) noexcept {
  const bool unit_fits = unit == 1 || unit == 2 || unit == 4 || unit == 8;
  return unit_fits && (std::abs(src_stride) == unit || std::abs(src_stride) == 2 * unit);
}

HWY_EXPORT(target);

const char* plane_target() noexcept {
  return HWY_DYNAMIC_DISPATCH(target)();
}

}  // namespace patchfold::kernels
#endif
