// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/stream.cpp"
#include "kernels/stream.hpp"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "kernels/features.hpp"
#include "kernels/piece.hpp"
#include "kernels/targets-inl.hpp"
#include "kernels/targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<std::uint8_t, line_bytes>;
using V = hn::Vec<D>;

/// The number of bytes after which progress is reported to `ahead`, so that prefetches are issued in small groups.
constexpr std::int64_t stretch = 1024;

#if HWY_TARGET == HWY_SCALAR

void CopyRows(std::byte* dst, std::int64_t dst_pitch, const std::byte* src, std::int64_t src_pitch, std::int64_t row_bytes,
              std::int64_t rows, Store, Ahead& ahead) {
  for (; rows > 0; --rows, dst += dst_pitch, src += src_pitch) {
    std::memcpy(dst, src, static_cast<std::size_t>(row_bytes));
    ahead.advance(row_bytes / line_bytes);
  }
}

void copy_bytes(std::byte* dst, const std::byte* src, std::int64_t bytes) {
  copy_piece(dst, src, bytes);
}

void copy_rows_whole(std::byte* dst, const std::byte* src, std::int64_t bytes, Ahead& ahead) {
  std::memcpy(dst, src, static_cast<std::size_t>(bytes));
  ahead.advance(bytes / line_bytes);
}

#else

constexpr std::int64_t step = HWY_MAX_BYTES < 64 ? HWY_MAX_BYTES : 64;  // bytes of a vector
constexpr std::int64_t per_line = line_bytes / step;

HWY_INLINE V get(const std::byte* at) {
  return hn::LoadU(D(), reinterpret_cast<const std::uint8_t*>(at));
}

template <bool past_cache>
HWY_INLINE void put(V value, std::byte* at) {
  if constexpr (past_cache)
    hn::Stream(value, D(), reinterpret_cast<std::uint8_t*>(at));
  else
    hn::StoreU(value, D(), reinterpret_cast<std::uint8_t*>(at));
}

/// Copies whole lines past the cache; the destination is aligned to a line.
HWY_INLINE void copy_lines(std::byte* dst, const std::byte* src, std::int64_t bytes) {
  std::int64_t i = 0;
  for (; i + 4 * line_bytes <= bytes; i += 4 * line_bytes) {
    V v[4 * per_line];
    for (std::int64_t k = 0; k < 4 * per_line; ++k) v[k] = get(src + i + k * step);
    for (std::int64_t k = 0; k < 4 * per_line; ++k) put<true>(v[k], dst + i + k * step);
  }
  for (; i < bytes; i += step) put<true>(get(src + i), dst + i);
}

/// Copies any number of bytes, by pieces that overlap. Source and destination must not overlap.
HWY_INLINE void copy_bytes(std::byte* dst, const std::byte* src, std::int64_t bytes) {
  if (bytes >= step) {
    for (std::int64_t i = 0; i + step <= bytes; i += step) put<false>(get(src + i), dst + i);
    put<false>(get(src + bytes - step), dst + bytes - step);
    return;
  }
  copy_piece(dst, src, bytes);
}

/// Writes the line that begins `left` bytes before the end of a row and continues with the next row. Rows must be at least a
/// line long, so that only bytes of these two rows are read.
HWY_INLINE void put_seam(std::byte* dst, const std::byte* row_rest, const std::byte* next_row, std::int64_t left) {
  const D d;
  for (std::int64_t at = 0; at < line_bytes; at += step) {
    V value;
    if (at + step <= left)
      value = get(row_rest + at);
    else if (at >= left)
      value = get(next_row + at - left);
    else
      value =
          hn::IfThenElse(hn::FirstN(d, static_cast<std::size_t>(left - at)), get(row_rest + at), get(next_row + at - left));
    put<true>(value, dst + at);
  }
}

/// Copies short rows of whole lines, each of which begins a line of the destination.
void copy_rows_past_cache(std::byte* dst, const std::byte* src, std::int64_t src_pitch, std::int64_t row_bytes,
                          std::int64_t rows, Ahead& ahead) {
  const std::int64_t group = stretch / row_bytes;
  while (rows > 0) {
    const std::int64_t here = std::min(group, rows);
    for (std::int64_t row = 0; row < here; ++row, dst += row_bytes, src += src_pitch)
      for (std::int64_t i = 0; i < row_bytes; i += step) put<true>(get(src + i), dst + i);
    ahead.advance(here * row_bytes / line_bytes);
    rows -= here;
  }
}

/// Copies rows of `whole` vectors (any number if negative) and a partial vector.
template <int whole>
void copy_some_rows(std::byte* dst, std::int64_t dst_pitch, const std::byte* src, std::int64_t src_pitch,
                    std::int64_t row_bytes, std::int64_t rows) {
  const D d;
  const std::int64_t tail = row_bytes % step, body = whole < 0 ? row_bytes - tail : whole * step;
  const auto mask = hn::FirstN(d, static_cast<std::size_t>(tail));
  for (; rows > 0; --rows, dst += dst_pitch, src += src_pitch) {
    std::int64_t i = 0;
    if constexpr (whole < 0)  // a loop over single vectors of 16 bytes takes 1.6 times as long
      for (; i + 4 * step <= body; i += 4 * step) {
        V v[4];
        for (std::int64_t k = 0; k < 4; ++k) v[k] = get(src + i + k * step);
        for (std::int64_t k = 0; k < 4; ++k) put<false>(v[k], dst + i + k * step);
      }
    for (; i < body; i += step) put<false>(get(src + i), dst + i);
    if (tail == 0) continue;
    if constexpr (has_avx512(HWY_TARGET))  // masked loads and stores touch no other bytes
      hn::BlendedStore(hn::MaskedLoad(mask, d, reinterpret_cast<const std::uint8_t*>(src + body)), mask, d,
                       reinterpret_cast<std::uint8_t*>(dst + body));
    else if constexpr (whole == 0)
      copy_piece(dst, src, tail);
    else
      put<false>(get(src + row_bytes - step), dst + row_bytes - step);
  }
}

using CopySomeRows = void (*)(std::byte*, std::int64_t, const std::byte*, std::int64_t, std::int64_t, std::int64_t);

/// Returns a copy loop for rows of the given size; a number of vectors that is known to the compiler needs no loop.
CopySomeRows copy_some_rows_of(std::int64_t row_bytes) {
  switch (row_bytes / step) {
    case 0: return copy_some_rows<0>;
    case 1: return copy_some_rows<1>;
    case 2: return copy_some_rows<2>;
    case 3: return copy_some_rows<3>;
    case 4: return copy_some_rows<4>;
    case 5: return copy_some_rows<5>;
    case 6: return copy_some_rows<6>;
    case 7: return copy_some_rows<7>;
    case 8: return copy_some_rows<8>;
    default: return copy_some_rows<-1>;
  }
}

void copy_rows_plain(std::byte* dst, std::int64_t dst_pitch, const std::byte* src, std::int64_t src_pitch,
                     std::int64_t row_bytes, std::int64_t rows, Ahead& ahead) {
  if (row_bytes <= stretch) {
    const CopySomeRows copy = copy_some_rows_of(row_bytes);
    const std::int64_t group = ahead.rows == 0 ? rows : stretch / row_bytes;
    for (std::int64_t here; rows > 0; rows -= here, dst += here * dst_pitch, src += here * src_pitch) {
      here = std::min(group, rows);
      copy(dst, dst_pitch, src, src_pitch, row_bytes, here);
      ahead.advance(here * row_bytes / line_bytes);
    }
    return;
  }
  for (; rows > 0; --rows, dst += dst_pitch, src += src_pitch) {
    std::memcpy(dst, src, static_cast<std::size_t>(row_bytes));
    ahead.advance(row_bytes / line_bytes);
  }
}

/// Copies rows of at least a line each that lie side by side in the destination.
void copy_side_by_side(std::byte* dst, const std::byte* src, std::int64_t src_pitch, std::int64_t row_bytes,
                       std::int64_t rows, Ahead& ahead) {
  const auto misaligned = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(dst) % line_bytes);
  if (misaligned == 0 && row_bytes % line_bytes == 0 && row_bytes <= stretch)
    return copy_rows_past_cache(dst, src, src_pitch, row_bytes, rows, ahead);
  std::int64_t at = misaligned ? std::min(line_bytes - misaligned, row_bytes) : 0;  // offset within the row
  copy_bytes(dst, src, at);
  for (std::int64_t row = 0; row < rows; ++row, dst += row_bytes, src += src_pitch) {
    const std::int64_t lines_end = at + (row_bytes - at) / line_bytes * line_bytes;
    while (at < lines_end) {
      const std::int64_t bytes = std::min(stretch, lines_end - at);
      copy_lines(dst + at, src + at, bytes);
      ahead.advance(bytes / line_bytes);
      at += bytes;
    }
    const std::int64_t left = row_bytes - at;
    if (left == 0) {
      at = 0;
    } else if (row + 1 < rows) {
      if (src_pitch >= line_bytes) {
        put_seam(dst + at, src + at, src + src_pitch, left);
      } else {
        alignas(line_bytes) std::byte seam[2 * line_bytes];
        copy_piece(seam, src + at, left);
        copy_piece(seam + left, src + src_pitch, line_bytes - left);
        copy_lines(dst + at, seam, line_bytes);
      }
      at = line_bytes - left;
    } else {
      copy_bytes(dst + at, src + at, left);
    }
  }
}

void CopyRows(std::byte* dst, std::int64_t dst_pitch, const std::byte* src, std::int64_t src_pitch, std::int64_t row_bytes,
              std::int64_t rows, Store store, Ahead& ahead) {
  if (row_bytes == 0) return;
  if (store == Store::plain || (row_bytes < 2 * line_bytes && rows > 1))
    return copy_rows_plain(dst, dst_pitch, src, src_pitch, row_bytes, rows, ahead);
  if (src_pitch == row_bytes && dst_pitch == row_bytes) {
    row_bytes *= rows;
    rows = 1;
  }
  if (dst_pitch == row_bytes || rows == 1) return copy_side_by_side(dst, src, src_pitch, row_bytes, rows, ahead);
  for (; rows > 0; --rows, dst += dst_pitch, src += src_pitch) copy_side_by_side(dst, src, src_pitch, row_bytes, 1, ahead);
}

/// Copies one range past the cache. The range must end where a line of the destination ends.
void copy_rows_whole(std::byte* dst, const std::byte* src, std::int64_t bytes, Ahead& ahead) {
  copy_side_by_side(dst, src, bytes, bytes, 1, ahead);
}

#endif

/// The number of bytes of pieces that are put together in a buffer before its whole lines are written. It is small, so that
/// stores to memory overlap with the work on the next pieces.
constexpr std::int64_t flush_bytes = 2048;
constexpr std::int64_t part_bytes = 2048;  ///< a larger piece goes into the buffer in parts of this size

/// The place of the next piece: piece i of row `way`.
struct Cursor {
  std::int64_t i = 0;
  std::int64_t way = 0;
};

/// Calls copy(dst, src) for `pieces` pieces. All changing values are in local variables, since the compiler knows that stores of
/// bytes do not change these.
template <class Copy>
HWY_INLINE void for_pieces(std::byte* dst, const Sources& s, Cursor& at, std::int64_t pieces, std::int64_t unit,
                           Copy&& copy) {
  const std::byte* const* const rows = s.rows;
  const std::int64_t ways = s.ways, step_bytes = s.step;
  std::int64_t way = at.way, offset = at.i * step_bytes, i = at.i;
  if (ways == 1) {
    const std::byte* src = rows[0] + offset;
    for (std::int64_t k = 0; k < pieces; ++k) copy(dst + k * unit, src + k * step_bytes);
    at.i += pieces;
    return;
  }
  for (; pieces > 0; --pieces, dst += unit) {
    copy(dst, rows[way] + offset);
    if (++way == ways) {
      way = 0;
      ++i;
      offset += step_bytes;
    }
  }
  at = {i, way};
}

/// Copies `pieces` pieces. A constant size turns memcpy into a load and a store.
template <std::int64_t constant>
void gather_exactly(std::byte* dst, const Sources& s, Cursor& at, std::int64_t pieces) {
  const std::int64_t unit = constant > 0 ? constant : s.unit;
  for_pieces(dst, s, at, pieces, unit, [&](std::byte* to, const std::byte* from) {
    if constexpr (constant > 0)
      std::memcpy(to, from, constant);
    else
      copy_bytes(to, from, s.unit);
  });
}

/// Gathers with one vector for each piece: bytes behind a piece are copied too, and the next piece overwrites them.
template <std::int64_t vector>
void gather_beyond(std::byte* dst, const Sources& s, Cursor& at, std::int64_t pieces) {
#if HWY_TARGET == HWY_SCALAR
  gather_exactly<0>(dst, s, at, pieces);
#else
  constexpr std::int64_t size = vector < step ? vector : step;
  for_pieces(dst, s, at, pieces, s.unit, [](std::byte* to, const std::byte* from) {
    const hn::CappedTag<std::uint8_t, static_cast<std::size_t>(size)> d;
    for (std::int64_t k = 0; k < vector; k += size)
      hn::StoreU(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from + k)), d, reinterpret_cast<std::uint8_t*>(to + k));
  });
#endif
}

using GatherPieces = void (*)(std::byte*, const Sources&, Cursor&, std::int64_t);

struct Gatherers {
  GatherPieces exactly = nullptr;
  GatherPieces beyond = nullptr;  ///< null if the size of a piece is a power of two or exceeds 64 bytes
  std::int64_t vector = 0;
};

Gatherers gatherers_of(std::int64_t unit) {
  switch (unit) {
    case 1: return {gather_exactly<1>};
    case 2: return {gather_exactly<2>};
    case 4: return {gather_exactly<4>};
    case 8: return {gather_exactly<8>};
    case 16: return {gather_exactly<16>};
    case 32: return {gather_exactly<32>};
    case 64: return {gather_exactly<64>};
    default: break;
  }
  if (unit < 16) return {gather_exactly<0>, gather_beyond<16>, 16};
  if (unit < 32) return {gather_exactly<0>, gather_beyond<32>, 32};
  if (unit < 64) return {gather_exactly<0>, gather_beyond<64>, 64};
  return {gather_exactly<0>};
}

/// Returns how many groups of pieces, one piece of each way, can be read with a whole vector for each piece.
std::int64_t readable_groups(const Sources& s, std::int64_t vector, std::int64_t count) {
  for (std::int64_t way = 0; way < s.ways; ++way) {
    const std::int64_t room = s.end - s.rows[way] - vector;
    if (room < 0) return 0;
    if (s.step > 0) count = std::min(count, room / s.step + 1);
  }
  return count;
}

/// Copies `pieces` pieces. Pieces are copied as whole vectors as long as these fit into `room`, the number of bytes that may
/// be written.
void gather_some(const Gatherers& gatherers, std::byte* dst, std::int64_t room, const Sources& s, Cursor& at,
                 std::int64_t pieces, std::int64_t readable) {
  if (gatherers.beyond != nullptr && at.i < readable && room >= gatherers.vector) {
    std::int64_t fast = std::min(pieces, (readable - at.i) * s.ways - at.way);
    fast = std::min(fast, (room - gatherers.vector) / s.unit + 1);
    if (fast > 0) {
      gatherers.beyond(dst, s, at, fast);
      dst += fast * s.unit;
      pieces -= fast;
    }
  }
  if (pieces > 0) gatherers.exactly(dst, s, at, pieces);
}

void Gather(std::byte* dst, const Sources& sources, std::int64_t count, Store store, Ahead& ahead) {
  const Gatherers gatherers = gatherers_of(sources.unit);
  const std::int64_t readable = gatherers.beyond == nullptr ? 0 : readable_groups(sources, gatherers.vector, count);
  Cursor at;
  std::int64_t left = count * sources.ways;  // pieces that are left
  if (store == Store::plain) {
    const std::int64_t most = std::max<std::int64_t>(1, stretch / sources.unit);
    for (std::int64_t here; left > 0; left -= here, dst += here * sources.unit) {
      here = std::min(left, most);
      gather_some(gatherers, dst, left * sources.unit, sources, at, here, readable);
      ahead.advance(here * sources.unit / line_bytes);
    }
    return;
  }
#if HWY_TARGET != HWY_SCALAR
  if (reinterpret_cast<std::uintptr_t>(dst) % line_bytes == 0 && sources.unit % line_bytes == 0) {
    const std::int64_t unit = sources.unit, most = std::max<std::int64_t>(1, stretch / unit);
    for (std::int64_t here; left > 0; left -= here, dst += here * unit) {
      here = std::min(left, most);
      for_pieces(dst, sources, at, here, unit, [unit](std::byte* to, const std::byte* from) { copy_lines(to, from, unit); });
      ahead.advance(here * unit / line_bytes);
    }
    return;
  }
#endif
  // Bytes lie in the buffer at their final offset within a line. A last line that is not full waits in the buffer for more bytes.
  constexpr std::int64_t room = flush_bytes + part_bytes + 2 * line_bytes;
  alignas(line_bytes) std::byte assembly[room];
  auto held = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(dst) % line_bytes);
  std::int64_t foreign = held;  // bytes of the first line that belong to other data
  dst -= held;
  const auto flush = [&] {
    const std::int64_t whole = held / line_bytes * line_bytes;
    if (whole == 0) return;
    copy_rows_whole(dst + foreign, assembly + foreign, whole - foreign, ahead);
    foreign = 0;
    held -= whole;
    dst += whole;
    std::memcpy(assembly, assembly + whole, line_bytes);
  };
  while (left > 0) {
    if (sources.unit <= part_bytes) {
      const std::int64_t here = std::min(left, std::max<std::int64_t>(1, flush_bytes / sources.unit));
      gather_some(gatherers, assembly + held, room - held, sources, at, here, readable);
      held += here * sources.unit;
      left -= here;
      flush();
      continue;
    }
    const std::byte* src = sources.rows[at.way] + at.i * sources.step;
    for (std::int64_t from = 0; from < sources.unit; from += part_bytes) {
      const std::int64_t bytes = std::min(part_bytes, sources.unit - from);
      copy_bytes(assembly + held, src + from, bytes);
      held += bytes;
      flush();
    }
    if (++at.way == sources.ways) {
      at.way = 0;
      ++at.i;
    }
    --left;
  }
  if (held > foreign) copy_bytes(dst + foreign, assembly + foreign, held - foreign);
}

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace patchfold::kernels {

HWY_EXPORT(CopyRows);
HWY_EXPORT(Gather);

void copy_rows(std::byte* dst, std::int64_t dst_pitch, const std::byte* src, std::int64_t src_pitch, std::int64_t row_bytes,
               std::int64_t rows, Store store, Ahead& ahead) noexcept {
  HWY_DYNAMIC_DISPATCH(CopyRows)(dst, dst_pitch, src, src_pitch, row_bytes, rows, store, ahead);
}

void gather(std::byte* dst, const Sources& sources, std::int64_t count, Store store, Ahead& ahead) noexcept {
  HWY_DYNAMIC_DISPATCH(Gather)(dst, sources, count, store, ahead);
}

void finish_stores() noexcept {
  hwy::FlushStream();
}

HWY_EXPORT(target);

const char* stream_target() noexcept {
  return HWY_DYNAMIC_DISPATCH(target)();
}

}  // namespace patchfold::kernels
#endif
