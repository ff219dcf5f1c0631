// SPDX-License-Identifier: Apache-2.0
// Exchanges rows with columns for planes of small units (plane.hpp). This file is included once for each instruction set.
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/blocks-inl.hpp"
#include "kernels/plane.hpp"

#if defined(PATCHFOLD_KERNELS_EXCHANGE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PATCHFOLD_KERNELS_EXCHANGE_INL
#undef PATCHFOLD_KERNELS_EXCHANGE_INL
#else
#define PATCHFOLD_KERNELS_EXCHANGE_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// Calls f(begin) for blocks of `size` that cover [0, end); the last block begins early enough to be whole.
template <class F>
HWY_INLINE void for_blocks(std::int64_t end, std::int64_t size, F&& f) {
  for (std::int64_t i = 0;; i = std::min(i + size, end - size)) {
    f(i);
    if (i + size == end) return;
  }
}

/// Prefetches the line of the destination two lines ahead. Stores wait for their lines one after the other, but prefetched lines
/// arrive at the same time. The processor prefetches reads without help.
HWY_INLINE void fetch_soon(const void* to) {
  __builtin_prefetch(static_cast<const std::byte*>(to) + 128, 1);
}

/// Exchanges rows with columns in blocks of as many rows as columns. A column of a block is one load and a row is one store, each
/// of a whole vector, a half or a quarter. In the source, rows lie one unit or two units apart.
template <class T>
struct Exchange {
  static constexpr std::int64_t unit = sizeof(T);
  static constexpr int lanes = 16 / static_cast<int>(unit);
  using D = hn::CappedTag<T, static_cast<std::size_t>(lanes)>;
  using V = hn::Vec<D>;
  static constexpr bool has_32_bytes = hn::MaxLanes(hn::ScalableTag<T>()) * sizeof(T) >= 32;
  /// The number of rows and columns of the largest block for rows one unit apart. Vectors of 32 bytes are faster only if 16 bytes
  /// hold two units.
  static constexpr int largest = lanes == 2 && has_32_bytes ? 4 : lanes;

  /// Exchanges the indices of vectors and of lanes: every round moves one bit from the lane's index to the vector's index. The
  /// first `valid` lanes hold units; as long as they are at most half of the lanes, two vectors are packed into one.
  template <int vectors, int valid, int rest>
  static HWY_INLINE void exchange_lanes(V* v) {
    const D d;
    if constexpr (rest > 1 && valid < lanes) {
      PATCHFOLD_UNROLL for (int i = 0; i < vectors / 2; ++i) v[i] = hn::InterleaveLower(d, v[i], v[i + vectors / 2]);
      exchange_lanes<vectors / 2, 2 * valid, rest / 2>(v);
    } else if constexpr (rest > 1) {
      V mixed[vectors];
      PATCHFOLD_UNROLL for (int i = 0; i < vectors / 2; ++i) {
        mixed[2 * i] = hn::InterleaveLower(d, v[i], v[i + vectors / 2]);
        mixed[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + vectors / 2]);
      }
      exchange_lanes<vectors, valid, rest / 2>(mixed);
      PATCHFOLD_UNROLL for (int i = 0; i < vectors; ++i) v[i] = mixed[i];
    }
  }

  /// An integer as large as a half or a quarter of a vector of 16 bytes.
  template <std::int64_t bytes>
  using Piece = std::conditional_t<bytes == 8, std::uint64_t, std::uint32_t>;

  /// Loads `size` units of a column, `step` units apart, into the lower lanes; the upper lanes may hold any value. No byte at or
  /// behind `end` is read.
  template <int size, int step>
  static HWY_INLINE V load_column(const std::byte* from, const std::byte* end) {
    const D d;
    if constexpr (step == 1 && size == lanes) {
      return hn::LoadU(d, reinterpret_cast<const T*>(from));
    } else if constexpr (step == 1) {
      const hn::Repartition<Piece<size * unit>, D> pieces;
      Piece<size * unit> piece;
      std::memcpy(&piece, from, sizeof(piece));
      return hn::BitCast(d, hn::Set(pieces, piece));
    } else {
      constexpr std::int64_t reach = size == lanes ? 32 : 16;
      alignas(16) std::byte copy[reach];
      if (HWY_UNLIKELY(end - from < reach)) {
        std::memcpy(copy, from, static_cast<std::size_t>(std::min(reach, (step * (size - 1) + 1) * unit)));
        from = copy;
      }
      const auto* const at = reinterpret_cast<const T*>(from);
      return hn::ConcatEven(d, hn::LoadU(d, size == lanes ? at + lanes : at), hn::LoadU(d, at));
    }
  }

  template <std::int64_t bytes>
  static HWY_INLINE void store_row(V v, std::size_t part, std::byte* to) {
    if constexpr (bytes == 16) {
      hn::StoreU(v, D(), reinterpret_cast<T*>(to));
      fetch_soon(to);
    } else {
      const hn::Repartition<Piece<bytes>, D> pieces;
      const Piece<bytes> piece = hn::ExtractLane(hn::BitCast(pieces, v), part);
      std::memcpy(to, &piece, sizeof(piece));
    }
  }

  /// Moves a block; its columns become rows.
  template <int size, int step>
  static HWY_INLINE void exchange_block(const std::byte* from, const std::int64_t* columns, std::byte* const* rows,
                                        std::int64_t at, const std::byte* end) {
    if constexpr (size > lanes) {
      static_assert(size == 4 && lanes == 2 && step == 1);
      const hn::CappedTag<T, 4> d;
      hn::Vec<decltype(d)> v[4], pairs[4];
      PATCHFOLD_UNROLL for (int i = 0; i < 4; ++i) v[i] = hn::LoadU(d, reinterpret_cast<const T*>(from + columns[i]));
      PATCHFOLD_UNROLL for (int i = 0; i < 2; ++i) {
        pairs[i] = hn::InterleaveLower(d, v[2 * i], v[2 * i + 1]);
        pairs[2 + i] = hn::InterleaveUpper(d, v[2 * i], v[2 * i + 1]);
      }
      PATCHFOLD_UNROLL for (int i = 0; i < 2; ++i) {
        v[i] = hn::ConcatLowerLower(d, pairs[2 * i + 1], pairs[2 * i]);
        v[2 + i] = hn::ConcatUpperUpper(d, pairs[2 * i + 1], pairs[2 * i]);
      }
      PATCHFOLD_UNROLL for (int i = 0; i < 4; ++i) {
        hn::StoreU(v[i], d, reinterpret_cast<T*>(rows[i] + at));
        fetch_soon(rows[i] + at);
      }
    } else {
      constexpr std::int64_t bytes = size * unit;
      constexpr int shared = static_cast<int>(16 / bytes);  // rows in a vector
      V v[size];
      PATCHFOLD_UNROLL for (int i = 0; i < size; ++i) v[i] = load_column<size, step>(from + columns[i], end);
      exchange_lanes<size, size, size>(v);
      PATCHFOLD_UNROLL for (int i = 0; i < size; ++i)
          store_row<bytes>(v[i / shared], static_cast<std::size_t>(i % shared), rows[i] + at);
    }
  }

  // The loops below read local variables, because the compiler must assume that a store of bytes changes the plane.

  template <int size, int step>
  static void exchange_blocks(std::byte* dst, const std::byte* src, std::int64_t, const Plane& p) {
    const std::int64_t row_step = p.src_rows.stride, columns = p.columns;
    const std::int64_t *const dst_rows = p.dst_rows.offsets, *const src_columns = p.src_columns.offsets;
    const std::byte* const end = p.src_end;
    for_blocks(p.rows, size, [=](std::int64_t row) {
      // The number of the row with the lowest address, and the step of the number to the next row in memory.
      const std::int64_t first = row_step < 0 ? row + size - 1 : row, way = row_step < 0 ? -1 : 1;
      const std::byte* const from = src + first * row_step;
      std::byte* to[size];
      PATCHFOLD_UNROLL for (int i = 0; i < size; ++i) to[i] = dst + dst_rows[first + i * way];
      for_blocks(columns, size, [=](std::int64_t column) {
        exchange_block<size, step>(from, src_columns + column, to, column * unit, end);
      });
    });
  }

  /// Returns the number of columns that can be read row by row while their lines stay in the first-level cache.
  static std::int64_t near_columns(const Plane& p) {
    return std::min<std::int64_t>(128, p.src_columns.stride == 0 ? 128 : lines_near(p.src_columns.stride) / 2);
  }

  /// Runs exchange_blocks() in groups of columns, so that the lines of a group stay in the cache.
  template <int size, int step>
  static void exchange_groups(std::byte* dst, const std::byte* src, std::int64_t, const Plane& p) {
    const std::int64_t most = std::max<std::int64_t>(size, near_columns(p));
    Plane group = p;
    for (std::int64_t begin = 0; begin < p.columns; begin += group.columns) {
      // If a further group would have fewer than `size` columns, this group includes them.
      group.columns = p.columns - begin < most + size ? p.columns - begin : most;
      group.src_columns.offsets = p.src_columns.offsets + begin;
      exchange_blocks<size, step>(dst + begin * unit, src, unit, group);
    }
  }

  /// Exchanges units one by one, `count` rows at a time.
  template <int count>
  static void exchange_rows(std::byte* dst, const std::byte* src, std::int64_t, const Plane& p) {
    const std::int64_t row_step = p.src_rows.stride, columns = p.columns;
    const std::int64_t *const dst_rows = p.dst_rows.offsets, *const src_columns = p.src_columns.offsets;
    for_blocks(p.rows, count, [=](std::int64_t row) {
      std::byte* to[count];
      for (int i = 0; i < count; ++i) to[i] = dst + dst_rows[row + i];
      PATCHFOLD_UNROLL_BY_4 for (std::int64_t column = 0; column < columns; ++column) {
        const std::byte* const from = src + src_columns[column] + row * row_step;
        PATCHFOLD_UNROLL for (int i = 0; i < count; ++i) std::memcpy(to[i] + column * unit, from + i * row_step, unit);
      }
    });
  }

  /// Exchanges `count` columns one by one.
  template <int count>
  static void exchange_columns(std::byte* dst, const std::byte* src, std::int64_t, const Plane& p) {
    const std::int64_t row_step = p.src_rows.stride, rows = p.rows;
    const std::int64_t* const dst_rows = p.dst_rows.offsets;
    const std::byte* from[count];
    for (int i = 0; i < count; ++i) from[i] = src + p.src_columns.offsets[i];
    PATCHFOLD_UNROLL_BY_4 for (std::int64_t row = 0; row < rows; ++row) {
      std::byte* const to = dst + dst_rows[row];
      PATCHFOLD_UNROLL for (int i = 0; i < count; ++i) std::memcpy(to + i * unit, from[i] + row * row_step, unit);
    }
  }

  template <int size, int step>
  static MovePlane of_blocks(const Plane& p) {
    return p.rows > size && p.columns > near_columns(p) ? exchange_groups<size, step> : exchange_blocks<size, step>;
  }

  /// Returns the kernel for planes like `p`, in blocks of `side` rows and columns; 1: units are exchanged one by one.
  template <int step>
  static MovePlane kernel(std::int64_t side, const Plane& p) {
    if constexpr (lanes >= 16)
      if (side == 16) return of_blocks<16, step>(p);
    if constexpr (lanes >= 8)
      if (side == 8) return of_blocks<8, step>(p);
    if constexpr (lanes >= 4 || (largest == 4 && step == 1))
      if (side == 4) return of_blocks<4, step>(p);
    if constexpr (lanes == 2 && step == 1)
      if (side == 2) return of_blocks<2, step>(p);
    if (p.rows == 2) return exchange_rows<2>;
    if (p.rows == 3) return exchange_rows<3>;
    if (p.columns == 2) return exchange_columns<2>;
    return p.columns == 3 ? exchange_columns<3> : exchange_rows<4>;
  }
};

#endif

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
