// SPDX-License-Identifier: Apache-2.0
// Exchange of rows with columns for planes of small units (plane.hpp). Included once for each instruction set.
#include <hwy/highway.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "kernels/blocks-inl.hpp"
#include "kernels/features.hpp"
#include "kernels/piece.hpp"
#include "kernels/plane.hpp"

#if defined(PATCHFOLD_KERNELS_SQUARES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PATCHFOLD_KERNELS_SQUARES_INL
#undef PATCHFOLD_KERNELS_SQUARES_INL
#else
#define PATCHFOLD_KERNELS_SQUARES_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// Calls f for blocks of `size` from 0 to `end`, the last of which begins early enough to be whole.
template <class F>
HWY_INLINE void for_blocks(std::int64_t end, std::int64_t size, F&& f) {
  for (std::int64_t i = 0;; i = std::min(i + size, end - size)) {
    f(i);
    if (i + size == end) return;
  }
}

/// Asks for the line of the destination that lies two lines ahead. Stores wait for their lines one after the other; lines
/// that were asked for come side by side. What is read, the processor fetches early enough by itself.
HWY_INLINE void fetch_soon(const void* to) {
  __builtin_prefetch(static_cast<const std::byte*>(to) + 128, 1);
}

/// The work of an exchange. Rows lie next to each other in the source, or at every second place.
struct Exchange {
  std::byte* dst = nullptr;
  const std::byte* src = nullptr;
  std::int64_t row_step = 0;
  const std::int64_t* dst_rows = nullptr;
  const std::int64_t* src_columns = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  /// Backwards, the row that is first in memory is the last of a block.
  std::int64_t first(std::int64_t row, std::int64_t count) const { return row_step < 0 ? row + count - 1 : row; }
  std::int64_t way() const { return row_step < 0 ? -1 : 1; }
};

/// Rows are exchanged with columns in squares of 16 bytes, several of which stand side by side in a register, so that no
/// element crosses from one 16 bytes of a register to another.
template <class T>
struct Squares {
  static constexpr std::int64_t unit = sizeof(T);
  static constexpr int edge = 16 / static_cast<int>(unit);
  using Square = hn::CappedTag<T, static_cast<std::size_t>(edge)>;
  using Registers = hn::CappedTag<T, static_cast<std::size_t>(64 / unit)>;
  static constexpr int span = static_cast<int>(hn::MaxLanes(Registers()));

  /// Exchanges vectors with lanes in each 16 bytes: every round moves one bit of the lane's index to the vector's.
  template <int vectors, int lanes, class DV, class V = hn::Vec<DV>>
  static HWY_INLINE void exchange_lanes(DV d, V* v) {
    if constexpr (lanes > 1) {
      V mixed[vectors];
      PATCHFOLD_UNROLL for (int i = 0; i < vectors / 2; ++i) {
        mixed[2 * i] = hn::InterleaveLower(d, v[i], v[i + vectors / 2]);
        mixed[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + vectors / 2]);
      }
      exchange_lanes<vectors, lanes / 2>(d, mixed);
      PATCHFOLD_UNROLL for (int i = 0; i < vectors; ++i) v[i] = mixed[i];
    }
  }

  /// The same for the first half of the lanes only, which go to the first half of the vectors.
  template <class DV, class V = hn::Vec<DV>>
  static HWY_INLINE void exchange_half(DV d, V* v) {
    constexpr int half = edge / 2;
    PATCHFOLD_UNROLL for (int i = 0; i < half; ++i) v[i] = hn::InterleaveLower(d, v[i], v[i + half]);
    exchange_lanes<half, half>(d, v);
  }

  /// The first 16 bytes of rows of some columns, which lie `edge` columns apart.
  template <int step, class DV>
  static HWY_INLINE hn::Vec<DV> load_columns(DV d, const std::byte* from, const std::int64_t* columns) {
    constexpr int lanes = static_cast<int>(hn::MaxLanes(DV()));
    if constexpr (lanes > edge) {
      const hn::Half<DV> half;
      return hn::Combine(d, load_columns<step>(half, from, columns + lanes / 2), load_columns<step>(half, from, columns));
    } else {
      const auto* at = reinterpret_cast<const T*>(from + *columns);
      if constexpr (step == 1)
        return hn::LoadU(d, at);
      else
        return hn::ConcatEven(d, hn::LoadU(d, at + edge), hn::LoadU(d, at));
    }
  }

  /// The first `bytes` of 16, fewer than all.
  template <class V>
  static HWY_INLINE void store_part(V value, std::byte* at, std::int64_t bytes) {
    const Square d;
    if constexpr (has_avx512(HWY_TARGET)) {
      hn::BlendedStore(value, hn::FirstN(d, static_cast<std::size_t>(bytes / unit)), d, reinterpret_cast<T*>(at));
    } else {
      alignas(16) std::byte copy[16];
      hn::Store(value, d, reinterpret_cast<T*>(copy));
      const auto size = static_cast<std::size_t>(bytes);
      if (size >= 8) return copy_overlapping<8>(at, copy, size);
      if (size >= 4) return copy_overlapping<4>(at, copy, size);
      for (std::size_t i = 0; i < size; i += unit) std::memcpy(at + i, copy + i, unit);
    }
  }

  /// How many rows there are: all of a square, so that the last square may begin early; fewer; or at most half as many.
  enum class Rows : std::uint8_t { all, fewer, half };

  /// The rows [begin, end) of as many columns as the vectors of DV have lanes, or of `count` columns if that is less.
  template <int step, Rows kind, class DV>
  static HWY_INLINE void exchange_wide(DV d, const Exchange& x, std::int64_t begin, std::int64_t end,
                                       const std::int64_t* src_columns, std::byte* to, std::int64_t count) {
    constexpr int lanes = static_cast<int>(hn::MaxLanes(DV())), vectors = kind == Rows::half ? edge / 2 : edge;
    const std::int64_t rows = kind == Rows::all ? edge : x.rows, way = x.way();
    // Offsets of a few columns stay in registers for all rows of a line.
    constexpr int kept = lanes <= 8 ? lanes : 1;
    std::int64_t columns[kept];
    PATCHFOLD_UNROLL for (int i = 0; i < kept; ++i) columns[i] = i < count ? src_columns[i] : 0;
    const std::int64_t* const offsets = kept == lanes ? columns : src_columns;
    const auto exchange_square = [&](std::int64_t row) {
      const std::int64_t first = x.first(row, rows);
      const std::byte* const from = x.src + first * x.row_step;
      const std::int64_t* const to_rows = x.dst_rows + first;
      hn::Vec<DV> v[edge];
      PATCHFOLD_UNROLL for (int i = 0; i < edge; ++i) v[i] =
          lanes > edge || i < count ? load_columns<step>(d, from, offsets + i) : hn::Zero(d);
      if constexpr (kind == Rows::half)
        exchange_half(d, v);
      else
        exchange_lanes<edge, edge>(d, v);
      if constexpr (lanes == edge)
        if (count < edge) {
          PATCHFOLD_UNROLL for (int i = 0; i < vectors; ++i) if (i < rows)
              store_part(v[i], to + to_rows[i * way], count * unit);
          return;
        }
      PATCHFOLD_UNROLL for (int i = 0; i < vectors; ++i) if (kind == Rows::all || i < rows) {
        std::byte* const at = to + to_rows[i * way];
        hn::StoreU(v[i], d, reinterpret_cast<T*>(at));
        fetch_soon(at);
      }
    };
    if constexpr (kind != Rows::all) {
      exchange_square(0);
    } else {
      // A square of few rows is little work for what a round of the loop costs.
      constexpr int deep = edge < 8 ? 8 / edge : 1;
      std::int64_t row = begin;
      for (; row + deep * edge <= end; row += deep * edge)
        PATCHFOLD_UNROLL for (int i = 0; i < deep; ++i) exchange_square(row + i * edge);
      for (; row < end; row += edge) exchange_square(std::min(row, x.rows - edge));
    }
  }

  template <int step, Rows kind>
  static void exchange_columns(const Exchange& given) {
    const Exchange x = given;  // bytes that are stored might be those of `given`
    // As many lines of the destination as stay near while columns follow; of the source, at least whole lines are used up.
    const std::int64_t apart = x.rows > 1 ? x.dst_rows[1] - x.dst_rows[0] : 0;
    const std::int64_t most_rows = std::clamp<std::int64_t>(lines_near(apart) / 4, 64 / unit, 128);
    for (std::int64_t begin = 0; begin < x.rows; begin += most_rows) {
      const std::int64_t end = std::min(begin + most_rows, x.rows);
      const auto exchange = [&](auto d, std::int64_t column, std::int64_t count) {
        exchange_wide<step, kind>(d, x, begin, end, x.src_columns + column, x.dst + column * unit, count);
      };
      std::int64_t column = 0;
      if constexpr (span > edge)
        for (; column + span <= x.columns; column += span) exchange(Registers(), column, span);
      if constexpr (span > 2 * edge)
        for (constexpr int two = 2 * edge; x.columns >= two && x.columns - column > edge; column += two)
          exchange(hn::CappedTag<T, static_cast<std::size_t>(two)>(), std::min(column, x.columns - two), two);
      for (; column < x.columns; column += edge)
        exchange(Square(), std::max<std::int64_t>(0, std::min(column, x.columns - edge)),
                 std::min<std::int64_t>(edge, x.columns));
    }
  }

  /// The square at a place in a register.
  template <int place, class DV>
  static HWY_INLINE hn::Vec<Square> square_of(DV d, hn::Vec<DV> value) {
    constexpr int squares = static_cast<int>(hn::MaxLanes(DV())) / edge;
    if constexpr (squares == 1) {
      return value;
    } else {
      const hn::Half<DV> half;
      if constexpr (place < squares / 2)
        return square_of<place>(half, hn::LowerHalf(half, value));
      else
        return square_of<place - squares / 2>(half, hn::UpperHalf(half, value));
    }
  }

  /// A bit for each row behind which so many bytes of the following rows lie that 16 bytes may be stored at it: the rows
  /// overwrite those that are too many.
  static HWY_INLINE std::uint64_t followed(const std::int64_t* rows, std::int64_t way, std::int64_t bytes) {
    std::uint64_t next = 0, all = ~std::uint64_t{0};
    PATCHFOLD_UNROLL for (int i = 0; i + 1 < span; ++i) next |= std::uint64_t{rows[(i + 1) * way] - rows[i * way] == bytes}
                                                                << i;
    for (std::int64_t reach = bytes; reach < 16; reach += bytes, next >>= 1) all &= next;
    return all;
  }

  /// Stores the squares from a place on to the rows that they have become, in the order of rows.
  template <int place, bool whole>
  static HWY_INLINE void store_rows(const hn::Vec<Registers>* v, std::byte* to, const std::int64_t* rows, std::int64_t way,
                                    std::int64_t bytes, std::uint64_t followed) {
    PATCHFOLD_UNROLL for (int i = 0; i < edge; ++i) {
      const int row = place * edge + i;
      const hn::Vec<Square> square = square_of<place>(Registers(), v[i]);
      std::byte* const at = to + rows[row * way];
      if (whole || (followed >> row & 1) != 0)
        hn::StoreU(square, Square(), reinterpret_cast<T*>(at));
      else
        store_part(square, at, bytes);
    }
    if constexpr ((place + 1) * edge < span) store_rows<place + 1, whole>(v, to, rows, way, bytes, followed);
  }

  /// Many rows of a few columns, of all that a square has or fewer: vectors of rows are loaded.
  template <bool whole>
  static void exchange_tall(const Exchange& given) {
    const Exchange x = given;  // bytes that are stored might be those of `given`
    const std::int64_t count = whole ? edge : x.columns, way = x.way();
    std::int64_t offsets[span];
    for (int i = 0; i < span; ++i) offsets[i] = x.src_columns[std::min<std::int64_t>(i, x.columns - 1)];
    for_blocks(x.rows, span, [&](std::int64_t row) {
      const std::int64_t first = x.first(row, span);
      const std::byte* const from = x.src + first * x.row_step;
      const std::int64_t* const to_rows = x.dst_rows + first;
      const std::uint64_t wide = whole ? 0 : followed(to_rows, way, count * unit);
      for_blocks(x.columns, count, [&](std::int64_t column) {
        hn::Vec<Registers> v[edge];
        PATCHFOLD_UNROLL for (int i = 0; i < edge; ++i) v[i] =
            hn::LoadU(Registers(), reinterpret_cast<const T*>(from + offsets[column + i]));
        exchange_lanes<edge, edge>(Registers(), v);
        store_rows<0, whole>(v, x.dst + column * unit, to_rows, way, count * unit, wide);
      });
    });
  }

  /// Rows lie `step` places apart in the source.
  template <int step>
  static void exchange(const Exchange& x) {
    if constexpr (step == 1 && span > edge)
      if (x.columns < span && x.rows >= span) return x.columns < edge ? exchange_tall<false>(x) : exchange_tall<true>(x);
    if (x.rows >= edge) return exchange_columns<step, Rows::all>(x);
    if constexpr (edge >= 8)
      if (x.rows <= edge / 2) return exchange_columns<step, Rows::half>(x);
    exchange_columns<step, Rows::fewer>(x);
  }
};

#endif

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
