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
#include "kernels/elements.hpp"
#include "kernels/targets-inl.hpp"
#include "kernels/targets.hpp"
#include "tensor/held.hpp"

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Returns the sum of an element and +0 (see Finish). The element is one number of type Float, or two, as in complex numbers.
template <class Float, class T>
HWY_INLINE T plus_zero(T value) {
  Float parts[sizeof(T) / sizeof(Float)];
  std::memcpy(parts, &value, sizeof(T));
  for (Float& part : parts) part += Float{0};
  std::memcpy(&value, parts, sizeof(T));
  return value;
}

/// Returns the sum of a 16-bit float and +0; `quiet` is the bit that marks a quiet NaN of its type, and `infinity` has the
/// bits of infinity.
template <std::uint16_t quiet, std::uint16_t infinity>
std::uint16_t half_plus_zero(std::uint16_t value) {
  if (value == 0x8000) return 0;
  return static_cast<std::uint16_t>((value & 0x7fff) > infinity ? value | quiet : value);
}

template <class T>
HWY_INLINE T finished(T value, Finish finish) {
  if constexpr (sizeof(T) == 1) {
    if (finish == Finish::boolean) return value != 0;
  } else if constexpr (sizeof(T) == 2) {
    if (finish == Finish::float16) return half_plus_zero<0x0200, 0x7c00>(value);
    if (finish == Finish::bfloat16) return half_plus_zero<0x0040, 0x7f80>(value);
  } else {
    if (finish == Finish::float32) return plus_zero<float>(value);
    if constexpr (sizeof(T) == 8)
      if (finish == Finish::float64) return plus_zero<double>(value);
  }
  return value;
}

/// Moves elements [from, to) of one row, one by one.
template <class T, bool joins>
void one_by_one(std::byte* dst, const std::byte* src, const Streams& s, std::int64_t row, std::int64_t from, std::int64_t to,
                Finish finish) {
  for (std::int64_t i = from; i < to; ++i)
    for (std::int64_t way = 0; way < s.ways; ++way) {
      const std::int64_t together = row * s.row_pitch + (i * s.ways + way) * static_cast<std::int64_t>(sizeof(T));
      const std::int64_t apart = way * s.pitch + row * s.stream_row_pitch + i * static_cast<std::int64_t>(sizeof(T));
      T value;
      std::memcpy(&value, src + (joins ? apart : together), sizeof(T));
      if constexpr (joins) value = finished(value, finish);
      std::memcpy(dst + (joins ? together : apart), &value, sizeof(T));
    }
}

#if HWY_TARGET == HWY_SCALAR

template <class T, int ways, bool joins>
void run_streams(std::byte* dst, const std::byte* src, const Streams& s, Store, Finish finish) noexcept {
  for (std::int64_t row = 0; row < s.rows; ++row) one_by_one<T, joins>(dst, src, s, row, 0, s.count, finish);
}

#else

template <class Float, class D, class V = hn::Vec<D>, std::size_t number>
HWY_INLINE void add_zero(D d, V (&v)[number]) {
  const hn::Repartition<Float, D> floats;
  for (V& each : v) each = hn::BitCast(d, hn::Add(hn::BitCast(floats, each), hn::Zero(floats)));
}

template <std::uint16_t quiet, std::uint16_t infinity, class D, class V = hn::Vec<D>, std::size_t number>
HWY_INLINE void add_zero_to_halves(D d, V (&v)[number]) {
  const hn::RebindToSigned<D> less;  // both sides are below 2^15
  for (V& each : v) {
    const V magnitude = hn::And(each, hn::Set(d, 0x7fff));
    const V zero = hn::IfThenElseZero(hn::Ne(magnitude, hn::Zero(d)), each);
    const auto is_nan = hn::RebindMask(d, hn::Gt(hn::BitCast(less, magnitude), hn::Set(less, infinity)));
    each = hn::Or(zero, hn::IfThenElseZero(is_nan, hn::Set(d, quiet)));
  }
}

/// Finishes whole vectors; `finish` is tested once for all of them.
template <class D, class V = hn::Vec<D>, std::size_t number>
HWY_INLINE void finish_all(D d, V (&v)[number], Finish finish) {
  constexpr std::size_t size = sizeof(hn::TFromD<D>);
  if constexpr (size == 1) {
    if (finish == Finish::boolean)
      for (V& each : v) each = hn::IfThenElseZero(hn::Ne(each, hn::Zero(d)), hn::Set(d, 1));
  } else if constexpr (size == 2) {
    if (finish == Finish::float16) add_zero_to_halves<0x0200, 0x7c00>(d, v);
    if (finish == Finish::bfloat16) add_zero_to_halves<0x0040, 0x7f80>(d, v);
  } else {
    if (finish == Finish::float32) add_zero<float>(d, v);
    if constexpr (size == 8)
      if (finish == Finish::float64) add_zero<double>(d, v);
  }
}

/// Loads `ways` vectors from one side, regroups them and stores them on the other side. The kinds of store and finish are tested
/// once for each group: the processor predicts the branch, and the code need not be compiled for each kind.
template <class T, int ways, bool joins, class Tag = hn::ScalableTag<T> >
struct Group {
  using D = Tag;
  static constexpr std::int64_t lanes = hn::MaxLanes(D());
  static constexpr std::int64_t bytes = lanes * static_cast<std::int64_t>(sizeof(T));

  /// Moves a group. Each call of `together` returns the offset of the next vector on the side where elements lie together.
  template <class Together>
  static HWY_INLINE void run(std::byte* dst, const std::byte* src, const Streams& s, bool past_cache, Finish finish,
                             Together&& together) {
    const D d;
    hn::Vec<D> v[ways];
    if constexpr (ways == 3) {
      // Highway's functions for three streams take one contiguous range.
      const std::int64_t at = together();
      if constexpr (joins) {
        PATCHFOLD_UNROLL for (int i = 0; i < ways; ++i) v[i] = hn::LoadU(d, reinterpret_cast<const T*>(src + i * s.pitch));
        finish_all(d, v, finish);
        store_three(d, v[0], v[1], v[2], dst + at);
      } else {
        load_three(d, src + at, v[0], v[1], v[2]);
        PATCHFOLD_UNROLL for (int i = 0; i < ways; ++i) hn::StoreU(v[i], d, reinterpret_cast<T*>(dst + i * s.pitch));
      }
    } else {
      PATCHFOLD_UNROLL for (int i = 0; i < ways; ++i) {
        const std::byte* from = joins ? src + i * s.pitch : src + together();
        v[i] = hn::LoadU(d, reinterpret_cast<const T*>(from));
        if (s.prefetch != 0) hwy::Prefetch(from + s.prefetch);
      }
      if constexpr (joins) {
        finish_all(d, v, finish);
        interleave<ways>(d, v);
      } else {
        deinterleave<ways>(d, v);
      }
      const auto at = [&](int i) { return reinterpret_cast<T*>(joins ? dst + together() : dst + i * s.pitch); };
      if (past_cache)
        PATCHFOLD_UNROLL for (int i = 0; i < ways; ++i) hn::Stream(v[i], d, at(i));
      else
        PATCHFOLD_UNROLL for (int i = 0; i < ways; ++i) hn::StoreU(v[i], d, at(i));
    }
  }
};

/// Moves rows of whole vectors: the streams run through all rows without a break.
template <class T, int ways, bool joins>
void run_whole(std::byte* dst, const std::byte* src, const Streams& s, bool past_cache, Finish finish) {
  using G = Group<T, ways, joins>;
  const std::int64_t row_bytes = s.count * ways * static_cast<std::int64_t>(sizeof(T));
  std::int64_t row = 0, at = 0;  // the next vector on the side where elements lie together
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
    G::run(joins ? dst : dst + offset, joins ? src + offset : src, s, past_cache, finish, together);
  }
  for (; done < total; ++done) one_by_one<T, joins>(dst, src, s, done / s.count, done % s.count, done % s.count + 1, finish);
}

/// Moves rows of at least a vector; the last vectors of a row overlap earlier ones.
template <class G, class T, int ways, bool joins>
void run_vectors(std::byte* dst, const std::byte* src, const Streams& s, Finish finish) {
  for (std::int64_t row = 0; row < s.rows; ++row)
    for (std::int64_t i = 0;;) {
      std::int64_t at = row * s.row_pitch + i * ways * static_cast<std::int64_t>(sizeof(T));
      const std::int64_t offset = row * s.stream_row_pitch + i * static_cast<std::int64_t>(sizeof(T));
      G::run(joins ? dst : dst + offset, joins ? src + offset : src, s, false, finish, [&] {
        const std::int64_t here = at;
        at += G::bytes;
        return here;
      });
      if (i + G::lanes == s.count) break;
      i = std::min(i + G::lanes, s.count - G::lanes);
    }
}

/// Moves rows of any length.
template <class T, int ways, bool joins>
void run_rows(std::byte* dst, const std::byte* src, const Streams& s, Finish finish) {
  using Whole = Group<T, ways, joins>;
  using Short = Group<T, ways, joins, hn::CappedTag<T, 16 / sizeof(T)> >;
  if (s.count >= Whole::lanes) return run_vectors<Whole, T, ways, joins>(dst, src, s, finish);
  if (s.count >= Short::lanes) return run_vectors<Short, T, ways, joins>(dst, src, s, finish);
  for (std::int64_t row = 0; row < s.rows; ++row) one_by_one<T, joins>(dst, src, s, row, 0, s.count, finish);
}

template <class T, int ways, bool joins>
void run_streams(std::byte* dst, const std::byte* src, const Streams& s, Store store, Finish finish) noexcept {
  using G = Group<T, ways, joins>;
  const bool follows = s.stream_row_pitch == s.count * static_cast<std::int64_t>(sizeof(T));
  const bool whole = ways != 3 && follows && s.count * ways % G::lanes == 0;
  if (!whole) return run_rows<T, ways, joins>(dst, src, s, finish);
  const auto offsets = reinterpret_cast<std::uintptr_t>(dst) | static_cast<std::uintptr_t>(joins ? s.row_pitch : s.pitch);
  const bool past_cache = store == Store::past_cache && offsets % line_bytes == 0 &&
                          (!joins || s.count * s.ways % (line_bytes / sizeof(T)) == 0);
  run_whole<T, ways, joins>(dst, src, s, past_cache, finish);
}

#endif

template <class T, bool joins>
void by_ways(std::byte* dst, const std::byte* src, const Streams& streams, Store store, Finish finish) {
  switch (streams.ways) {
    case 2: return run_streams<T, 2, joins>(dst, src, streams, store, finish);
    case 3: return run_streams<T, 3, joins>(dst, src, streams, store, finish);
    case 4: return run_streams<T, 4, joins>(dst, src, streams, store, finish);
    case 8: return run_streams<T, 8, joins>(dst, src, streams, store, finish);
    default: return run_streams<T, 16, joins>(dst, src, streams, store, finish);
  }
}

template <bool joins>
void by_unit(std::byte* dst, const std::byte* src, std::int64_t unit, const Streams& streams, Store store, Finish finish) {
  if constexpr (holds_unit(1))
    if (unit == 1) return by_ways<std::uint8_t, joins>(dst, src, streams, store, finish);
  if constexpr (holds_unit(2))
    if (unit == 2) return by_ways<std::uint16_t, joins>(dst, src, streams, store, finish);
  if constexpr (holds_unit(4))
    if (unit == 4) return by_ways<std::uint32_t, joins>(dst, src, streams, store, finish);
  by_ways<std::uint64_t, joins>(dst, src, streams, store, finish);
}

void Split(std::byte* dst, const std::byte* src, std::int64_t unit, const Streams& streams, Store store) {
  by_unit<false>(dst, src, unit, streams, store, Finish::none);
}

void Join(std::byte* dst, const std::byte* src, std::int64_t unit, const Streams& streams, Store store, Finish finish) {
  by_unit<true>(dst, src, unit, streams, store, finish);
}

template <class T>
void finish_range(std::byte* elements, std::int64_t bytes, Finish finish) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(T));
  std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<T> d;
  constexpr std::int64_t step = HWY_LANES(T) * size;
  for (; i + step <= bytes; i += step) {
    auto* at = reinterpret_cast<T*>(elements + i);
    hn::Vec<decltype(d)> v[1] = {hn::LoadU(d, at)};
    finish_all(d, v, finish);
    hn::StoreU(v[0], d, at);
  }
#endif
  for (; i + size <= bytes; i += size) {
    T value;
    std::memcpy(&value, elements + i, sizeof(T));
    value = finished(value, finish);
    std::memcpy(elements + i, &value, sizeof(T));
  }
}

void FinishElements(std::byte* elements, std::int64_t bytes, Finish finish) {
  switch (finish) {
    case Finish::none: return;
    case Finish::boolean: return finish_range<std::uint8_t>(elements, bytes, finish);
    case Finish::float16:
    case Finish::bfloat16: return finish_range<std::uint16_t>(elements, bytes, finish);
    case Finish::float32: return finish_range<std::uint32_t>(elements, bytes, finish);
    case Finish::float64: return finish_range<std::uint64_t>(elements, bytes, finish);
  }
}

std::int64_t VectorBytes() {
  return HWY_TARGET == HWY_SCALAR ? 1 : HWY_LANES(std::uint8_t);
}

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace patchfold::kernels {
namespace {

HWY_EXPORT(Split);
HWY_EXPORT(Join);
HWY_EXPORT(FinishElements);
HWY_EXPORT(VectorBytes);

}  // namespace

bool has_vectors(std::int64_t unit, std::int64_t ways) noexcept {
  const bool unit_fits =
      (holds_unit(1) && unit == 1) || (holds_unit(2) && unit == 2) || (holds_unit(4) && unit == 4) || unit == 8;
  return unit_fits && (ways == 2 || ways == 3 || ways == 4 || ways == 8 || ways == 16);
}

void split(std::byte* dst, const std::byte* src, std::int64_t unit, const Streams& streams, Store store) noexcept {
  HWY_DYNAMIC_DISPATCH(Split)(dst, src, unit, streams, store);
}

void join(std::byte* dst, const std::byte* src, std::int64_t unit, const Streams& streams, Store store,
          Finish finish) noexcept {
  HWY_DYNAMIC_DISPATCH(Join)(dst, src, unit, streams, store, finish);
}

std::int64_t vector_bytes() noexcept {
  return HWY_DYNAMIC_DISPATCH(VectorBytes)();
}

bool streams_whole(std::int64_t unit, const Streams& streams) noexcept {
  return streams.ways != 3 && streams.count * streams.ways * unit % vector_bytes() == 0;
}

Finish finish_of(DType dtype) noexcept {
  return visit(dtype, []<class T>(std::type_identity<T>) {
    using Sum = SummedAs<T>;
    if constexpr (std::is_same_v<Sum, float>)
      return Finish::float32;
    else if constexpr (std::is_same_v<Sum, double>)
      return Finish::float64;
    else if constexpr (std::is_same_v<Sum, Float16>)
      return Finish::float16;
    else if constexpr (std::is_same_v<Sum, Bfloat16>)
      return Finish::bfloat16;
    else if constexpr (std::is_same_v<Sum, Boolean>)
      return Finish::boolean;
    else
      return Finish::none;
  });
}

void finish_elements(std::byte* elements, std::int64_t bytes, Finish finish) noexcept {
  HWY_DYNAMIC_DISPATCH(FinishElements)(elements, bytes, finish);
}

HWY_EXPORT(target);

const char* blocks_target() noexcept {
  return HWY_DYNAMIC_DISPATCH(target)();
}

}  // namespace patchfold::kernels
#endif
