// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/stream.cpp"
#include "kernels/stream.hpp"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "kernels/piece.hpp"

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<std::uint8_t, line_bytes>;
using V = hn::Vec<D>;

/// Progress is reported to `ahead` at least this often, so that fetches come in small groups.
constexpr std::int64_t stretch = 1024;

#if HWY_TARGET == HWY_SCALAR

void CopyRows(std::byte* dst, std::int64_t dst_pitch, const std::byte* src, std::int64_t src_pitch, std::int64_t row_bytes,
              std::int64_t rows, Store, Ahead& ahead) {
  for (; rows > 0; --rows, dst += dst_pitch, src += src_pitch) {
    std::memcpy(dst, src, static_cast<std::size_t>(row_bytes));
    ahead.advance(row_bytes / line_bytes);
  }
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

/// Whole lines; with past_cache the destination is aligned to a line.
template <bool past_cache>
HWY_INLINE void copy_lines(std::byte* dst, const std::byte* src, std::int64_t bytes) {
  std::int64_t i = 0;
  for (; i + 4 * line_bytes <= bytes; i += 4 * line_bytes) {
    V v[4 * per_line];
    for (std::int64_t k = 0; k < 4 * per_line; ++k) v[k] = get(src + i + k * step);
    for (std::int64_t k = 0; k < 4 * per_line; ++k) put<past_cache>(v[k], dst + i + k * step);
  }
  for (; i < bytes; i += step) put<past_cache>(get(src + i), dst + i);
}

/// Any number of bytes, by pieces that overlap. Ranges do not overlap each other.
HWY_INLINE void copy_bytes(std::byte* dst, const std::byte* src, std::int64_t bytes) {
  if (bytes >= step) {
    for (std::int64_t i = 0; i + step <= bytes; i += step) put<false>(get(src + i), dst + i);
    put<false>(get(src + bytes - step), dst + bytes - step);
    return;
  }
  copy_piece(dst, src, bytes);
}

/// The line that begins `left` bytes before a row ends and goes on with the next row. The rows begin at least a line apart,
/// so that nothing but the two is read.
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

void copy_rows_plain(std::byte* dst, std::int64_t dst_pitch, const std::byte* src, std::int64_t src_pitch,
                     std::int64_t row_bytes, std::int64_t rows, Ahead& ahead) {
  for (; rows > 0; --rows, dst += dst_pitch, src += src_pitch) {
    for (std::int64_t i = 0; i < row_bytes; i += stretch) {
      const std::int64_t bytes = std::min(stretch, row_bytes - i);
      if (bytes == stretch)
        copy_lines<false>(dst + i, src + i, bytes);
      else
        copy_bytes(dst + i, src + i, bytes);
      ahead.advance(bytes / line_bytes);
    }
  }
}

/// Rows of at least a line each that lie side by side in the destination.
void copy_side_by_side(std::byte* dst, const std::byte* src, std::int64_t src_pitch, std::int64_t row_bytes,
                       std::int64_t rows, Ahead& ahead) {
  const auto misaligned = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(dst) % line_bytes);
  std::int64_t at = misaligned ? std::min(line_bytes - misaligned, row_bytes) : 0;  // within the row
  copy_bytes(dst, src, at);
  for (std::int64_t row = 0; row < rows; ++row, dst += row_bytes, src += src_pitch) {
    const std::int64_t lines_end = at + (row_bytes - at) / line_bytes * line_bytes;
    while (at < lines_end) {
      const std::int64_t bytes = std::min(stretch, lines_end - at);
      copy_lines<true>(dst + at, src + at, bytes);
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
        copy_lines<true>(dst + at, seam, line_bytes);
      }
      at = line_bytes - left;
    } else {
      copy_bytes(dst + at, src + at, left);
    }
  }
}

void CopyRows(std::byte* dst, std::int64_t dst_pitch, const std::byte* src, std::int64_t src_pitch, std::int64_t row_bytes,
              std::int64_t rows, Store store, Ahead& ahead) {
  if (store == Store::plain || row_bytes < 2 * line_bytes)
    return copy_rows_plain(dst, dst_pitch, src, src_pitch, row_bytes, rows, ahead);
  if (src_pitch == row_bytes && dst_pitch == row_bytes) {
    row_bytes *= rows;
    rows = 1;
  }
  if (dst_pitch == row_bytes || rows == 1) return copy_side_by_side(dst, src, src_pitch, row_bytes, rows, ahead);
  for (; rows > 0; --rows, dst += dst_pitch, src += src_pitch) copy_side_by_side(dst, src, src_pitch, row_bytes, 1, ahead);
}

/// One range that ends at the end of a line.
void copy_rows_whole(std::byte* dst, const std::byte* src, std::int64_t bytes, Ahead& ahead) {
  copy_side_by_side(dst, src, bytes, bytes, 1, ahead);
}

#endif

/// Bytes put together before they leave for memory; a fraction of the smallest first-level cache.
constexpr std::int64_t assembly_bytes = 4096;

/// The groups [from, to). A constant size turns memcpy into a load and a store.
template <std::int64_t constant>
void gather_pieces(std::byte* dst, const Sources& s, std::int64_t from, std::int64_t to) {
  const std::int64_t unit = constant > 0 ? constant : s.unit;
  constexpr std::int64_t worth_a_call = 256;
  for (std::int64_t i = from; i < to; ++i)
    for (std::int64_t way = 0; way < s.ways; ++way, dst += unit) {
      const std::byte* src = s.rows[way] + i * s.step;
      if constexpr (constant > 0)
        std::memcpy(dst, src, constant);
      else if (unit >= worth_a_call)
        std::memcpy(dst, src, static_cast<std::size_t>(unit));
      else
        copy_piece(dst, src, unit);
    }
}

using GatherPieces = void (*)(std::byte*, const Sources&, std::int64_t, std::int64_t);

GatherPieces gather_of(std::int64_t unit) {
  switch (unit) {
    case 1: return gather_pieces<1>;
    case 2: return gather_pieces<2>;
    case 3: return gather_pieces<3>;
    case 4: return gather_pieces<4>;
    case 6: return gather_pieces<6>;
    case 8: return gather_pieces<8>;
    case 12: return gather_pieces<12>;
    case 16: return gather_pieces<16>;
    case 24: return gather_pieces<24>;
    case 32: return gather_pieces<32>;
    case 48: return gather_pieces<48>;
    case 64: return gather_pieces<64>;
    default: return gather_pieces<0>;
  }
}

void Gather(std::byte* dst, const Sources& sources, std::int64_t count, Store store, Ahead& ahead) {
  const std::int64_t group = sources.ways * sources.unit;
  const GatherPieces pieces = gather_of(sources.unit);
  const std::int64_t groups = std::max<std::int64_t>(1, assembly_bytes / group);
  if (store == Store::plain || group > assembly_bytes) {
    for (std::int64_t i = 0; i < count; i += groups, dst += groups * group) {
      const std::int64_t here = std::min(groups, count - i);
      pieces(dst, sources, i, i + here);
      ahead.advance(here * group / line_bytes);
    }
    return;
  }
  // Lines are put together at the place that they will have within a line; what is left of the last one waits for more.
  alignas(line_bytes) std::byte assembly[assembly_bytes + line_bytes];
  auto held = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(dst) % line_bytes);
  std::int64_t foreign = held;  // bytes of the first line that belong to others
  dst -= held;
  for (std::int64_t i = 0; i < count; i += groups) {
    const std::int64_t here = std::min(groups, count - i);
    pieces(assembly + held, sources, i, i + here);
    held += here * group;
    const std::int64_t whole = held / line_bytes * line_bytes;
    if (whole > 0) {
      copy_rows_whole(dst + foreign, assembly + foreign, whole - foreign, ahead);
      foreign = 0;
      held -= whole;
      std::memcpy(assembly, assembly + whole, line_bytes);
      dst += whole;
    }
  }
  if (held > foreign) copy_piece(dst + foreign, assembly + foreign, held - foreign);
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

}  // namespace patchfold::kernels
#endif
