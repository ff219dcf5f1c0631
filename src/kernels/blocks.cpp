// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/blocks.cpp"
#include "kernels/blocks.hpp"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "kernels/blocks-inl.hpp"
#include "kernels/targets-inl.hpp"
#include "kernels/targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Elements as bits.
template <class T>
struct Bits {
  using Lane = T;
  static T one(T value) { return value; }
  template <class D, class V>
  static HWY_INLINE V all(D, V value) {
    return value;
  }
};

/// Elements of one or two floating-point numbers, added to +0.
template <class T, class Float>
struct Numbers {
  using Lane = T;
  static T one(T value) {
    Float parts[sizeof(T) / sizeof(Float)];
    std::memcpy(parts, &value, sizeof(T));
    for (Float& part : parts) part += Float{0};
    std::memcpy(&value, parts, sizeof(T));
    return value;
  }
  template <class D, class V>
  static HWY_INLINE V all(D d, V value) {
    const hn::Repartition<Float, D> floats;
    return hn::BitCast(d, hn::Add(hn::BitCast(floats, value), hn::Zero(floats)));
  }
};

/// 16-bit floats with this quiet bit and this infinity.
template <std::uint16_t quiet, std::uint16_t infinity>
struct Halves {
  using Lane = std::uint16_t;
  static std::uint16_t one(std::uint16_t value) {
    if (value == 0x8000) return 0;
    return static_cast<std::uint16_t>((value & 0x7fff) > infinity ? value | quiet : value);
  }
  template <class D, class V>
  static HWY_INLINE V all(D d, V value) {
    const V magnitude = hn::And(value, hn::Set(d, 0x7fff));
    const V zero = hn::IfThenElseZero(hn::Ne(magnitude, hn::Zero(d)), value);
    const hn::RebindToSigned<D> less;  // both are below 2^15
    const auto is_nan = hn::RebindMask(d, hn::Gt(hn::BitCast(less, magnitude), hn::Set(less, infinity)));
    return hn::Or(zero, hn::IfThenElseZero(is_nan, hn::Set(d, quiet)));
  }
};

struct Booleans {
  using Lane = std::uint8_t;
  static std::uint8_t one(std::uint8_t value) { return value != 0; }
  template <class D, class V>
  static HWY_INLINE V all(D d, V value) {
    return hn::IfThenElseZero(hn::Ne(value, hn::Zero(d)), hn::Set(d, 1));
  }
};

template <class T>
HWY_INLINE void move_one(std::byte* dst, const std::byte* src) {
  T value;
  std::memcpy(&value, src, sizeof(T));
  std::memcpy(dst, &value, sizeof(T));
}

/// Elements [from, count) of one row, one by one.
template <class Kind, bool joins>
void one_by_one(std::byte* dst, const std::byte* src, const Streams& s, std::int64_t row, std::int64_t from,
                std::int64_t to) {
  using T = typename Kind::Lane;
  for (std::int64_t i = from; i < to; ++i)
    for (std::int64_t way = 0; way < s.ways; ++way) {
      const std::int64_t together = row * s.row_pitch + (i * s.ways + way) * static_cast<std::int64_t>(sizeof(T));
      const std::int64_t apart = way * s.pitch + row * s.stream_row_pitch + i * static_cast<std::int64_t>(sizeof(T));
      T value;
      std::memcpy(&value, src + (joins ? apart : together), sizeof(T));
      value = Kind::one(value);
      std::memcpy(dst + (joins ? together : apart), &value, sizeof(T));
    }
}

#if HWY_TARGET == HWY_SCALAR

template <class Kind, int ways, bool joins>
void run_streams(std::byte* dst, const std::byte* src, const Streams& s, Store) noexcept {
  for (std::int64_t row = 0; row < s.rows; ++row) one_by_one<Kind, joins>(dst, src, s, row, 0, s.count);
}

template <class T>
void transpose_of(std::byte* dst, std::int64_t dst_pitch, const std::byte* src, std::int64_t src_pitch, std::int64_t rows,
                  std::int64_t columns) noexcept {
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column)
      move_one<T>(dst + row * dst_pitch + column * static_cast<std::int64_t>(sizeof(T)),
                  src + column * src_pitch + row * static_cast<std::int64_t>(sizeof(T)));
}

#else

template <bool past_cache, class D, class V = hn::Vec<D> >
HWY_INLINE void put(D d, V value, std::byte* at) {
  auto* to = reinterpret_cast<hn::TFromD<D>*>(at);
  if constexpr (past_cache)
    hn::Stream(value, d, to);
  else
    hn::StoreU(value, d, to);
}

/// Loads `ways` vectors from one side, regroups them and stores them on the other.
template <class Kind, int ways, bool joins, bool past_cache>
struct Group {
  using T = typename Kind::Lane;
  using D = hn::ScalableTag<T>;
  static constexpr std::int64_t lanes = HWY_LANES(T);
  static constexpr std::int64_t bytes = lanes * static_cast<std::int64_t>(sizeof(T));

  /// `together` yields the address of each of the `ways` vectors on the side where elements lie together.
  template <class Together>
  static HWY_INLINE void run(std::byte* dst, const std::byte* src, std::int64_t pitch, std::int64_t prefetch,
                             Together&& together) {
    const D d;
    if constexpr (ways == 3) {
      run_three(dst, src, pitch, together);
    } else {
      hn::Vec<D> v[ways];
      PATCHFOLD_UNROLL for (int i = 0; i < ways; ++i) {
        const std::byte* from = joins ? src + i * pitch : src + together();
        v[i] = hn::LoadU(d, reinterpret_cast<const T*>(from));
        if (prefetch != 0) hwy::Prefetch(from + prefetch);
      }
      if constexpr (joins)
        interleave<ways>(d, v);
      else
        deinterleave<ways>(d, v);
      PATCHFOLD_UNROLL for (int i = 0; i < ways; ++i)
          put<past_cache>(d, Kind::all(d, v[i]), joins ? dst + together() : dst + i * pitch);
    }
  }

  /// Highway's three-way kernels take one contiguous range.
  template <class Together>
  static HWY_INLINE void run_three(std::byte* dst, const std::byte* src, std::int64_t pitch, Together&& together) {
    const D d;
    hn::Vec<D> a, b, c;
    const std::int64_t at = together();
    if constexpr (joins) {
      a = hn::LoadU(d, reinterpret_cast<const T*>(src));
      b = hn::LoadU(d, reinterpret_cast<const T*>(src + pitch));
      c = hn::LoadU(d, reinterpret_cast<const T*>(src + 2 * pitch));
      hn::StoreInterleaved3(Kind::all(d, a), Kind::all(d, b), Kind::all(d, c), d, reinterpret_cast<T*>(dst + at));
    } else {
      hn::LoadInterleaved3(d, reinterpret_cast<const T*>(src + at), a, b, c);
      put<false>(d, a, dst);
      put<false>(d, b, dst + pitch);
      put<false>(d, c, dst + 2 * pitch);
    }
  }
};

/// Rows of whole vectors: the streams run through all rows without a break.
template <class Kind, int ways, bool joins, bool past_cache>
void run_whole(std::byte* dst, const std::byte* src, const Streams& s) {
  using T = typename Kind::Lane;
  using G = Group<Kind, ways, joins, past_cache>;
  const std::int64_t row_bytes = s.count * ways * static_cast<std::int64_t>(sizeof(T));
  std::int64_t row = 0, at = 0;  // the vector that is next on the side where elements lie together
  const auto together = [&] {
    const std::int64_t here = row + at;
    at += G::bytes;
    if (at == row_bytes) {
      at = 0;
      row += s.row_pitch;
    }
    return here;
  };
  const std::int64_t total = s.rows * s.count;
  std::int64_t done = 0;
  for (; done + G::lanes <= total; done += G::lanes) {
    const std::int64_t offset = done * static_cast<std::int64_t>(sizeof(T));
    G::run(joins ? dst : dst + offset, joins ? src + offset : src, s.pitch, s.prefetch, together);
  }
  for (; done < total; ++done) one_by_one<Kind, joins>(dst, src, s, done / s.count, done % s.count, done % s.count + 1);
}

/// Rows of any length; the last vectors of a row overlap those before.
template <class Kind, int ways, bool joins>
void run_row(std::byte* dst, const std::byte* src, const Streams& s, std::int64_t row) {
  using T = typename Kind::Lane;
  using G = Group<Kind, ways, joins, false>;
  if (s.count < G::lanes) return one_by_one<Kind, joins>(dst, src, s, row, 0, s.count);
  for (std::int64_t i = 0;;) {
    std::int64_t at = row * s.row_pitch + i * ways * static_cast<std::int64_t>(sizeof(T));
    const std::int64_t offset = row * s.stream_row_pitch + i * static_cast<std::int64_t>(sizeof(T));
    G::run(joins ? dst : dst + offset, joins ? src + offset : src, s.pitch, s.prefetch, [&] {
      const std::int64_t here = at;
      at += G::bytes;
      return here;
    });
    if (i + G::lanes == s.count) return;
    i = std::min(i + G::lanes, s.count - G::lanes);
  }
}

template <class Kind, int ways, bool joins>
void run_streams(std::byte* dst, const std::byte* src, const Streams& s, Store store) noexcept {
  using T = typename Kind::Lane;
  using G = Group<Kind, ways, joins, true>;
  const bool follows = s.stream_row_pitch == s.count * static_cast<std::int64_t>(sizeof(T));
  const bool whole = ways != 3 && follows && s.count * ways % G::lanes == 0;
  if (!whole) {
    for (std::int64_t row = 0; row < s.rows; ++row) run_row<Kind, ways, joins>(dst, src, s, row);
    return;
  }
  const auto offsets = reinterpret_cast<std::uintptr_t>(dst) | static_cast<std::uintptr_t>(joins ? s.row_pitch : s.pitch);
  if (store == Store::past_cache && offsets % line_bytes == 0 &&
      (!joins || s.count * s.ways % (line_bytes / sizeof(T)) == 0))
    return run_whole<Kind, ways, joins, true>(dst, src, s);
  run_whole<Kind, ways, joins, false>(dst, src, s);
}

/// Square blocks of at most 16 x 16, within registers.
template <class T>
void transpose_of(std::byte* dst, std::int64_t dst_pitch, const std::byte* src, std::int64_t src_pitch, std::int64_t rows,
                  std::int64_t columns) noexcept {
  using D = hn::CappedTag<T, 16>;
  constexpr int side = static_cast<int>(hn::MaxLanes(D()));
  constexpr auto size = static_cast<std::int64_t>(sizeof(T));
  const D d;
  for (std::int64_t row = 0; row < rows; row += side) {
    const bool full_rows = row + side <= rows;
    for (std::int64_t column = 0; column < columns; column += side) {
      if (full_rows && column + side <= columns) {
        hn::Vec<D> v[side];
        PATCHFOLD_UNROLL for (int i = 0; i < side; ++i) v[i] =
            hn::LoadU(d, reinterpret_cast<const T*>(src + (column + i) * src_pitch + row * size));
        deinterleave<side>(d, v);
        PATCHFOLD_UNROLL for (int i = 0; i < side; ++i)
            hn::StoreU(v[i], d, reinterpret_cast<T*>(dst + (row + i) * dst_pitch + column * size));
        continue;
      }
      for (std::int64_t r = row; r < std::min(rows, row + side); ++r)
        for (std::int64_t c = column; c < std::min(columns, column + side); ++c)
          move_one<T>(dst + r * dst_pitch + c * size, src + c * src_pitch + r * size);
    }
  }
}

#endif

template <class Kind, bool joins>
void by_ways(std::byte* dst, const std::byte* src, const Streams& streams, Store store) {
  switch (streams.ways) {
    case 2: return run_streams<Kind, 2, joins>(dst, src, streams, store);
    case 3: return run_streams<Kind, 3, joins>(dst, src, streams, store);
    case 4: return run_streams<Kind, 4, joins>(dst, src, streams, store);
    case 8: return run_streams<Kind, 8, joins>(dst, src, streams, store);
    default: return run_streams<Kind, 16, joins>(dst, src, streams, store);
  }
}

template <bool joins>
void by_unit(std::byte* dst, const std::byte* src, std::int64_t unit, const Streams& streams, Store store) {
  switch (unit) {
    case 1: return by_ways<Bits<std::uint8_t>, joins>(dst, src, streams, store);
    case 2: return by_ways<Bits<std::uint16_t>, joins>(dst, src, streams, store);
    case 4: return by_ways<Bits<std::uint32_t>, joins>(dst, src, streams, store);
    default: return by_ways<Bits<std::uint64_t>, joins>(dst, src, streams, store);
  }
}

void Split(std::byte* dst, const std::byte* src, std::int64_t unit, const Streams& streams, Store store) {
  by_unit<false>(dst, src, unit, streams, store);
}

void Join(std::byte* dst, const std::byte* src, std::int64_t unit, const Streams& streams, Store store, Finish finish) {
  switch (finish) {
    case Finish::none: return by_unit<true>(dst, src, unit, streams, store);
    case Finish::float32:
      if (unit == 8) return by_ways<Numbers<std::uint64_t, float>, true>(dst, src, streams, store);
      return by_ways<Numbers<std::uint32_t, float>, true>(dst, src, streams, store);
    case Finish::float64: return by_ways<Numbers<std::uint64_t, double>, true>(dst, src, streams, store);
    case Finish::float16: return by_ways<Halves<0x0200, 0x7c00>, true>(dst, src, streams, store);
    case Finish::bfloat16: return by_ways<Halves<0x0040, 0x7f80>, true>(dst, src, streams, store);
    case Finish::boolean: return by_ways<Booleans, true>(dst, src, streams, store);
  }
}

std::int64_t VectorBytes() {
  return HWY_TARGET == HWY_SCALAR ? 1 : HWY_LANES(std::uint8_t);
}

void Transpose(std::byte* dst, std::int64_t dst_pitch, const std::byte* src, std::int64_t src_pitch, std::int64_t unit,
               std::int64_t rows, std::int64_t columns) {
  switch (unit) {
    case 1: return transpose_of<std::uint8_t>(dst, dst_pitch, src, src_pitch, rows, columns);
    case 2: return transpose_of<std::uint16_t>(dst, dst_pitch, src, src_pitch, rows, columns);
    case 4: return transpose_of<std::uint32_t>(dst, dst_pitch, src, src_pitch, rows, columns);
    default: return transpose_of<std::uint64_t>(dst, dst_pitch, src, src_pitch, rows, columns);
  }
}

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace patchfold::kernels {
namespace {

HWY_EXPORT(Split);
HWY_EXPORT(Join);
HWY_EXPORT(Transpose);
HWY_EXPORT(VectorBytes);

}  // namespace

bool has_vectors(std::int64_t unit, std::int64_t ways) noexcept {
  const bool unit_fits = unit == 1 || unit == 2 || unit == 4 || unit == 8;
  return unit_fits && (ways == 2 || ways == 3 || ways == 4 || ways == 8 || ways == 16);
}

void split(std::byte* dst, const std::byte* src, std::int64_t unit, const Streams& streams, Store store) noexcept {
  HWY_DYNAMIC_DISPATCH(Split)(dst, src, unit, streams, store);
}

void join(std::byte* dst, const std::byte* src, std::int64_t unit, const Streams& streams, Store store,
          Finish finish) noexcept {
  HWY_DYNAMIC_DISPATCH(Join)(dst, src, unit, streams, store, finish);
}

bool streams_whole(std::int64_t unit, const Streams& streams) noexcept {
  return streams.ways != 3 && streams.count * streams.ways * unit % HWY_DYNAMIC_DISPATCH(VectorBytes)() == 0;
}

Finish finish_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::float32:
    case DType::complex64: return Finish::float32;
    case DType::float64:
    case DType::complex128: return Finish::float64;
    case DType::float16: return Finish::float16;
    case DType::bfloat16: return Finish::bfloat16;
    case DType::boolean: return Finish::boolean;
    default: return Finish::none;
  }
}

void transpose(std::byte* dst, std::int64_t dst_pitch, const std::byte* src, std::int64_t src_pitch, std::int64_t unit,
               std::int64_t rows, std::int64_t columns) noexcept {
  HWY_DYNAMIC_DISPATCH(Transpose)(dst, dst_pitch, src, src_pitch, unit, rows, columns);
}

HWY_EXPORT(target);

const char* blocks_target() noexcept {
  return HWY_DYNAMIC_DISPATCH(target)();
}

}  // namespace patchfold::kernels
#endif
