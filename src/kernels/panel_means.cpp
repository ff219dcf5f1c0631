// SPDX-License-Identifier: Apache-2.0
// Panels of means. Terms that have the same bits in an element have it as their mean, whatever their type is. So a panel is
// first compared, as bytes: that takes little longer than a sum. From the first rows that differ on, it is added up in the
// accumulators of kernels/mean.hpp and divided.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/panel_means.cpp"
#include "kernels/panel_means.hpp"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstring>

#include "kernels/blocks-inl.hpp"
#include "kernels/mean_lanes-inl.hpp"
#include "kernels/panel.hpp"
#include "kernels/stream.hpp"
#include "kernels/targets-inl.hpp"
#include "kernels/targets.hpp"
#include "tensor/checked.hpp"
#include "tensor/held.hpp"

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

template <class T>
struct MeanPanels {
  static constexpr std::int64_t lanes = 16 / sizeof(T);
  static void make(const Panel& t) { mean_rows<T>(t, lanes, 0, t.rows); }
};

#else

using Bytes = hn::ScalableTag<std::uint8_t>;
constexpr std::int64_t vector_bytes = hn::MaxLanes(Bytes());

/// Ones between zeros: where a vector is loaded from decides which of its lanes have ones.
alignas(64) inline constexpr auto mask_bytes = [] {
  std::array<std::uint8_t, 192> bytes{};
  for (std::size_t i = 64; i < 128; ++i) bytes[i] = 0xff;
  return bytes;
}();

/// Rows whose masks are looked up together.
constexpr int rows_together = 4;

/// All bits of the lanes of each mask that count in a vector: those of accumulators if `lane_bytes` are theirs, of the
/// vector itself if these are the bytes of its lanes. `skipped` lanes of it come before.
void list_ones(const Panel& t, std::int64_t vector, std::int64_t lanes, std::int64_t skipped, std::int64_t lane_bytes,
               std::uint8_t* ones) {
  const Bytes d;
  const std::int64_t most = vector_bytes / lane_bytes;
  for (std::int64_t i = 0; i < t.masks_count; ++i, ones += vector_bytes) {
    const LaneRange range = range_of(t.masks[i], vector == 0, vector == t.vectors - 1, lanes);
    const std::int64_t from = std::clamp<std::int64_t>(range.from - skipped, 0, most),
                       to = std::clamp<std::int64_t>(range.to - skipped, 0, most);
    hn::Store(hn::And(hn::LoadU(d, mask_bytes.data() + 64 - from * lane_bytes),
                      hn::LoadU(d, mask_bytes.data() + 128 - to * lane_bytes)),
              d, ones);
  }
}

/// Lists of list_ones().
struct Ones {
  alignas(64) std::uint8_t bytes[most_masks * vector_bytes];
};

/// Fetches what is read `prefetch` bytes behind the terms of rows [row, stop).
void fetch(const Panel& t, std::int64_t row, std::int64_t stop) {
  for (; t.prefetch != 0 && row < stop; ++row)
    for (std::int64_t i = 0; i < t.count; ++i) {
      const std::byte* at = t.src + t.terms[i].offset + row * t.src_pitch + t.prefetch;
      for (std::int64_t k = 0; k < t.vectors * vector_bytes; k += line_bytes) hwy::Prefetch(at + k);
    }
}

/// Makes means of terms that have the same bits: OR and AND of all that count are equal then, and are the mean. Where none
/// counts, an OR of nothing is 0 and an AND is all ones.
struct Alike {
  using V = hn::Vec<Bytes>;

  /// Vectors of a few rows, all lanes or those of list_ones(). Returns false if not all are alike; what has been stored is
  /// then of no use.
  template <int rows, int vectors, bool is_masked>
  static HWY_INLINE bool block(const Panel& t, const std::byte* src, std::byte* to, const std::uint8_t* ones_of) {
    const Bytes d;
    V any[rows][vectors], all[rows][vectors];
    PATCHFOLD_UNROLL for (int r = 0; r < rows; ++r) PATCHFOLD_UNROLL for (int v = 0; v < vectors; ++v) {
      any[r][v] = hn::Zero(d);
      all[r][v] = hn::Set(d, 0xff);
    }
    const auto are_alike = [&]() HWY_ATTR {
      V differences = hn::Zero(d);
      PATCHFOLD_UNROLL for (int r = 0; r < rows; ++r) PATCHFOLD_UNROLL for (int v = 0; v < vectors; ++v) differences =
          hn::Or(differences, hn::AndNot(all[r][v], any[r][v]));
      return hn::AllTrue(d, hn::Eq(differences, hn::Zero(d)));
    };
    const std::int64_t pitch = t.src_pitch;
    for (std::int64_t i = 0; i < t.count; ++i) {
      const auto* at = reinterpret_cast<const std::uint8_t*>(src + t.terms[i].offset);
      V ones = hn::Zero(d), zeros = ones;
      if constexpr (is_masked) {
        ones = hn::Load(d, ones_of + t.terms[i].mask * vector_bytes);
        zeros = hn::Not(ones);
      }
      PATCHFOLD_UNROLL for (int r = 0; r < rows; ++r) PATCHFOLD_UNROLL for (int v = 0; v < vectors; ++v) {
        const V value = hn::LoadU(d, at + r * pitch + v * vector_bytes);
        any[r][v] = hn::Or(any[r][v], is_masked ? hn::And(value, ones) : value);
        all[r][v] = hn::And(all[r][v], is_masked ? hn::Or(value, zeros) : value);
      }
      // What differs at all mostly differs at once.
      if (HWY_UNLIKELY(i == 1) && !are_alike()) return false;
    }
    const V fill = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(t.fill->data()));
    PATCHFOLD_UNROLL for (int r = 0; r < rows; ++r) PATCHFOLD_UNROLL for (int v = 0; v < vectors; ++v) {
      const V none = hn::AndNot(any[r][v], all[r][v]);
      hn::StoreU(hn::OrAnd(any[r][v], none, fill), d,
                 reinterpret_cast<std::uint8_t*>(to + r * t.to_pitch + v * vector_bytes));
    }
    return are_alike();
  }

  /// `ends`: lists for the first and the last vector, or null where every term counts for every lane.
  template <int number>
  static HWY_INLINE bool rows(const Panel& t, std::int64_t row, const Ones* ends) {
    fetch(t, row, row + number);
    constexpr std::int64_t vectors = 4;
    const std::int64_t begin = ends == nullptr ? 0 : 1, end = t.vectors - begin;
    for (std::int64_t v = 0; v < t.vectors;) {
      const std::byte* src = t.src + row * t.src_pitch + v * vector_bytes;
      std::byte* to = t.to + row * t.to_pitch + v * vector_bytes;
      if (v < begin || v >= end) {
        if (!block<number, 1, true>(t, src, to, ends[v == 0 ? 0 : 1].bytes)) return false;
        ++v;
      } else if (v + vectors > end) {
        if (!block<number, 1, false>(t, src, to, nullptr)) return false;
        ++v;
      } else {
        for (std::int64_t r = 0; r < number; ++r)
          if (!block<1, vectors, false>(t, src + r * t.src_pitch, to + r * t.to_pitch, nullptr)) return false;
        v += vectors;
      }
    }
    return true;
  }

  /// Makes rows from the first one on, while they are alike. Returns the first one that has not been made.
  static HWY_NOINLINE std::int64_t make(const Panel& t, const Ones* ends) {
    std::int64_t row = 0;
    for (; row + rows_together <= t.rows; row += rows_together)
      if (!rows<rows_together>(t, row, ends)) return row;
    for (; row < t.rows; ++row)
      if (!rows<1>(t, row, ends)) return row;
    return row;
  }
};

/// What the lanes of a vector are divided by.
struct Divisors {
  alignas(64) double counts[vector_bytes];  ///< 1 instead of 0
  alignas(64) double inverses[vector_bytes / sizeof(float)];
  alignas(64) std::uint8_t none[vector_bytes];  ///< all bits of the elements that no term counts for
  bool some_none;
  bool are_exact;  ///< the inverses
};

/// What add_up() needs of one element type.
struct PartLoops {
  std::int64_t lanes;  ///< in a vector of elements
  std::int64_t parts;  ///< of a vector
  void (*whole_row)(const Panel&, std::int64_t row, std::int64_t part, std::int64_t last, const Divisors&);
  void (*masked_rows)(const Panel&, std::int64_t row, std::int64_t vector, std::int64_t part, const std::uint8_t* ones,
                      const Divisors&);
  void (*masked_row)(const Panel&, std::int64_t row, std::int64_t vector, std::int64_t part, const std::uint8_t* ones,
                     const Divisors&);
  void (*single)(const Panel&, std::int64_t lanes, std::int64_t first, std::int64_t last);
};

void finish(Divisors& by, std::int64_t lanes) {
  const std::int64_t size = vector_bytes / lanes;
  by.some_none = false;
  by.are_exact = true;
  for (std::int64_t i = 0; i < lanes; ++i) {
    by.some_none = by.some_none || by.counts[i] == 0;
    const auto count = static_cast<std::int64_t>(by.counts[i]);
    by.are_exact = by.are_exact && (count & (count - 1)) == 0;
  }
  for (std::int64_t i = 0; by.some_none && i < lanes; ++i) {
    const bool is_none = by.counts[i] == 0;
    std::memset(by.none + i * size, is_none ? 0xff : 0, static_cast<std::size_t>(size));
    if (is_none) by.counts[i] = 1;
  }
  // float32 alone needs them.
  for (std::int64_t i = 0; size == sizeof(float) && i < lanes; ++i) by.inverses[i] = 1 / by.counts[i];
}
/// For the first or the last vector.
void count(const Panel& t, std::int64_t lanes, std::int64_t vector, Divisors& by) {
  std::fill_n(by.counts, lanes, 0.0);
  const auto each = static_cast<double>(t.count / t.masks_count);
  for (std::int64_t i = 0; i < t.masks_count; ++i) {
    const LaneRange range = range_of(t.masks[i], vector == 0, vector == t.vectors - 1, lanes);
    for (std::int64_t lane = range.from; lane < range.to; ++lane) by.counts[lane] += each;
  }
  finish(by, lanes);
}

void fill(const Panel& t, const Divisors& by, std::byte* to) {
  const Bytes d;
  auto* bytes = reinterpret_cast<std::uint8_t*>(to);
  const auto value = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(t.fill->data()));
  hn::StoreU(hn::IfVecThenElse(hn::Load(d, by.none), value, hn::LoadU(d, bytes)), d, bytes);
}

/// Adds up and divides rows from this one on, some at a time: first what lies between the first and the last vector, so that
/// memory is read in the order in which it lies.
void add_up(const PartLoops& loops, const Panel& t, std::int64_t row, bool is_whole) {
  constexpr std::int64_t most_rows = 2 * rows_together;
  const std::int64_t masked = is_whole ? 0 : std::min<std::int64_t>(t.vectors, 2);  // vectors
  const std::int64_t lanes = loops.lanes / loops.parts;
  Divisors ends[2], others;
  Ones ones;
  // As a rule all lists have room; otherwise each is made again for every few rows.
  const bool are_few = masked * loops.parts * t.masks_count <= most_masks;
  const std::int64_t begin_row = row;
  for (std::int64_t end = 0; end < masked; ++end) count(t, loops.lanes, end * (t.vectors - 1), ends[end]);
  if (t.vectors > masked) {
    std::fill_n(others.counts, loops.lanes, static_cast<double>(t.count));
    finish(others, loops.lanes);
  }
  const std::int64_t begin = is_whole ? 0 : loops.parts, last = t.vectors * loops.parts - begin;
  for (; row < t.rows; row += most_rows) {
    const std::int64_t stop = std::min(row + most_rows, t.rows);
    for (std::int64_t r = row; r < stop; ++r) {
      fetch(t, r, r + 1);
      if (begin < last) loops.whole_row(t, r, begin, last, others);
    }
    for (std::int64_t end = 0; end < masked; ++end) {
      const std::int64_t vector = end * (t.vectors - 1);
      for (std::int64_t part = 0; part < loops.parts; ++part) {
        std::uint8_t* list = ones.bytes + (are_few ? (end * loops.parts + part) * t.masks_count * vector_bytes : 0);
        if (!are_few || row == begin_row) list_ones(t, vector, loops.lanes, part * lanes, vector_bytes / lanes, list);
        std::int64_t r = row;
        for (; r + rows_together <= stop; r += rows_together) loops.masked_rows(t, r, vector, part, list, ends[end]);
        for (; r < stop; ++r) loops.masked_row(t, r, vector, part, list, ends[end]);
      }
      for (std::int64_t r = row; ends[end].some_none && r < stop; ++r)
        fill(t, ends[end], t.to + r * t.to_pitch + vector * vector_bytes);
    }
  }
}

void make_inside(const PartLoops& loops, const Panel& t) {
  const bool is_whole = std::all_of(t.masks, t.masks + t.masks_count, [&](const PanelMask& m) {
    return m.first_from == 0 && m.first_to == loops.lanes && m.last_from == 0 && m.last_to == loops.lanes;
  });
  std::int64_t made = 0;
  {
    Ones ends[2];
    for (std::int64_t end = 0; !is_whole && end < std::min<std::int64_t>(t.vectors, 2); ++end)
      list_ones(t, end * (t.vectors - 1), loops.lanes, 0, vector_bytes / loops.lanes, ends[end].bytes);
    const Ones* masked = is_whole ? nullptr : ends;
    made = Alike::make(t, masked);
  }
  if (made < t.rows) add_up(loops, t, made, is_whole);
}

void make(const PartLoops& loops, const Panel& t) {
  // Rows whose vectors all lie within what may be read.
  std::int64_t first = 0, last = t.rows;
  if (t.count > 0) {
    const std::int64_t missing = t.begin - t.src - t.low, room = t.end - t.src - t.high - t.vectors * vector_bytes;
    if (t.src_pitch > 0) {
      first = std::clamp<std::int64_t>(ceil_div(missing, t.src_pitch), 0, t.rows);
      last = std::clamp<std::int64_t>(floor_div(room, t.src_pitch) + 1, first, t.rows);
    } else if (missing > (t.rows - 1) * t.src_pitch || room < 0) {
      last = 0;
    }
  }
  if (first > 0) loops.single(t, loops.lanes, 0, first);
  Panel inside = t;
  inside.src += first * t.src_pitch;
  inside.to += first * t.to_pitch;
  inside.rows = last - first;
  if (inside.rows > 0) make_inside(loops, inside);
  if (last < t.rows) loops.single(t, loops.lanes, last, t.rows);
}

/// float32 by way of reciprocals: a product with one is nearly the quotient, and as a float32 the same unless it is next to
/// the middle between two of them. So few vectors are divided, which takes as long as many additions.
struct SingleLanes : MeanLanes<float> {
  static HWY_INLINE void store(Sums sum, const Divisors& by, std::int64_t first, std::byte* to, bool& certain) {
    const D d;
    const hn::RebindToSigned<D> bits;
    V mean = hn::Mul(sum, hn::LoadU(d, by.inverses + first));
    const V magnitude = hn::Abs(mean);
    auto is_sure = hn::Lt(magnitude, hn::Set(d, 0x1p128));
    if (!by.are_exact) {
      // The mantissas differ in the last two places at most; float32 lacks the lower 29 places.
      const auto apart = hn::And(hn::Add(hn::BitCast(bits, mean), hn::Set(bits, 0x10000004)), hn::Set(bits, 0x1fffffff));
      is_sure = hn::And(hn::And(is_sure, hn::Ge(magnitude, hn::Set(d, 0x1p-126))),
                        hn::RebindMask(d, hn::Gt(apart, hn::Set(bits, 7))));
    }
    if (HWY_UNLIKELY(!hn::AllTrue(d, is_sure))) {
      mean = hn::Div(sum, hn::LoadU(d, by.counts + first));
      if (!hn::AllTrue(d, hn::Lt(hn::Abs(mean), hn::Set(d, 0x1p128)))) certain = false;
    }
    const hn::Rebind<float, D> narrow;
    hn::StoreU(hn::DemoteTo(narrow, mean), narrow, reinterpret_cast<float*>(to));
  }
};

template <class T>
struct PanelLanes {
  using Type = MeanLanes<T>;
};
template <>
struct PanelLanes<float> {
  using Type = SingleLanes;
};
template <std::integral T>
requires(sizeof(T) <= 2) struct PanelLanes<T> {
  using Type = ShortLanes<T>;
};
template <std::integral T>
requires(sizeof(T) == 8) struct PanelLanes<T> {
  using Type = LongLanes<T>;
};

/// Panels of elements of one type. A vector of elements is added up in one vector of accumulators or several, its parts.
template <class T>
struct MeanPanels {
  using L = typename PanelLanes<T>::Type;
  using D = typename L::D;
  static constexpr auto size = static_cast<std::int64_t>(sizeof(T));
  static constexpr std::int64_t lanes = vector_bytes / size;
  static constexpr std::int64_t part_bytes = L::lanes * size;
  static constexpr std::int64_t parts = lanes / L::lanes;
  /// Parts whose accumulators fit into the registers.
  static constexpr int together = sizeof(typename L::Sums) > sizeof(hn::Vec<D>) ? 2 : 4;

  /// Divides and stores parts that lie `step` bytes apart. Not inlined, since every loop over terms ends with it.
  static HWY_NOINLINE void store(const Panel& t, const typename L::Sums* sums, int number, const Divisors& by,
                                 std::int64_t first, std::byte* to, std::int64_t step) {
    bool certain = true;
    for (int k = 0; k < number; ++k, to += step) {
      if constexpr (std::is_same_v<T, float>)
        L::store(sums[k], by, first, to, certain);
      else
        L::store(sums[k], by.counts + first, to, certain);
    }
    if (!certain) *t.certain = false;
  }

  /// Parts that lie side by side in a row, where every term counts for every lane.
  template <int number>
  static HWY_INLINE void whole(const Panel& t, const std::byte* src, std::byte* to, const Divisors& by) {
    typename L::Sums sums[number];
    PATCHFOLD_UNROLL for (int k = 0; k < number; ++k) sums[k] = L::nothing();
    for (std::int64_t i = 0; i < t.count; ++i) {
      const std::byte* at = src + t.terms[i].offset;
      PATCHFOLD_UNROLL for (int k = 0; k < number; ++k) sums[k] = L::add(sums[k], L::load(at + k * part_bytes));
    }
    store(t, sums, number, by, 0, to, part_bytes);
  }
  /// Parts [part, last) of a row.
  static HWY_NOINLINE void whole_row(const Panel& t, std::int64_t row, std::int64_t part, std::int64_t last,
                                     const Divisors& by) {
    const std::byte* src = t.src + row * t.src_pitch;
    std::byte* to = t.to + row * t.to_pitch;
    for (; part + together <= last; part += together)
      whole<together>(t, src + part * part_bytes, to + part * part_bytes, by);
    for (; part < last; ++part) whole<1>(t, src + part * part_bytes, to + part * part_bytes, by);
  }

  /// The same part of the first or the last vector of a few rows.
  template <int number>
  static HWY_NOINLINE void masked(const Panel& t, std::int64_t row, std::int64_t vector, std::int64_t part,
                                  const std::uint8_t* ones_of, const Divisors& by) {
    const std::int64_t first_lane = part * L::lanes, skipped = vector * vector_bytes + part * part_bytes;
    const std::byte* src = t.src + row * t.src_pitch + skipped;
    typename L::Sums sums[number];
    PATCHFOLD_UNROLL for (int r = 0; r < number; ++r) sums[r] = L::nothing();
    for (std::int64_t i = 0; i < t.count; ++i) {
      const std::byte* at = src + t.terms[i].offset;
      const auto ones = hn::BitCast(D(), hn::Load(Bytes(), ones_of + t.terms[i].mask * vector_bytes));
      PATCHFOLD_UNROLL for (int r = 0; r < number; ++r) sums[r] =
          L::add(sums[r], L::masked(ones, L::load(at + r * t.src_pitch)));
    }
    store(t, sums, number, by, first_lane, t.to + row * t.to_pitch + skipped, t.to_pitch);
  }

  static constexpr PartLoops loops{lanes, parts, whole_row, masked<rows_together>, masked<1>, mean_rows<T>};
  static void make(const Panel& t) { HWY_NAMESPACE::make(loops, t); }
};

#endif

const PanelKernel* MeanPanelKernelOf(DType dtype) {
  return visit_held(dtype, []<class T>(std::type_identity<T>) -> const PanelKernel* {
    if constexpr (std::is_void_v<AveragedAs<T>>) {
      return nullptr;
    } else {
      using Real = AveragedAs<T>;
      using K = MeanPanels<Real>;
      static constexpr PanelKernel kernel{K::lanes, sizeof(Real), 8, K::make,
                                          [](std::int64_t vectors) -> std::int64_t { return vectors > 4 ? 2 : 8; }};
      return &kernel;
    }
  });
}

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace patchfold::kernels {

HWY_EXPORT(MeanPanelKernelOf);

const PanelKernel& mean_panel_kernel(DType dtype) noexcept {
  return *HWY_DYNAMIC_DISPATCH(MeanPanelKernelOf)(dtype);
}

HWY_EXPORT(target);

const char* mean_panel_target() noexcept {
  return HWY_DYNAMIC_DISPATCH(target)();
}

}  // namespace patchfold::kernels
#endif
