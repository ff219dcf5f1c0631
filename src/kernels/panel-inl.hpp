// SPDX-License-Identifier: Apache-2.0
// The panels of kernels/panel.hpp for one element type, as lanes-inl.hpp or panel_means.cpp say it is added.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "kernels/blocks-inl.hpp"
#include "kernels/elements.hpp"
#include "kernels/features.hpp"
#include "kernels/panel.hpp"
#include "kernels/stream.hpp"

#if defined(PATCHFOLD_KERNELS_PANEL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PATCHFOLD_KERNELS_PANEL_INL
#undef PATCHFOLD_KERNELS_PANEL_INL
#else
#define PATCHFOLD_KERNELS_PANEL_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

template <class Type>
struct Kernel {
  using Element = typename Type::Element;
  static constexpr std::int64_t lanes = 4;  // so that a row is not one element
  static constexpr std::int64_t most_vectors = 8;
  static std::int64_t rows(std::int64_t) { return 1; }
  static void sum(const Panel& t) {
    for (std::int64_t row = 0; row < t.rows; ++row)
      for (std::int64_t lane = 0; lane < t.vectors * lanes; ++lane) {
        typename Type::Accumulator sum{};
        for (std::int64_t i = 0; i < t.count; ++i) {
          const PanelMask& mask = t.masks[t.terms[i].mask];
          const std::int64_t last = (t.vectors - 1) * lanes;
          if (lane < lanes && (lane < mask.first_from || lane >= mask.first_to)) continue;
          if (lane >= last && (lane - last < mask.last_from || lane - last >= mask.last_to)) continue;
          Element element;
          std::memcpy(&element,
                      t.src + t.terms[i].offset + row * t.src_pitch + lane * static_cast<std::int64_t>(sizeof(Element)),
                      sizeof(Element));
          sum = Type::plus(sum, Type::widen(element));
        }
        const Element element = Type::narrow(sum);
        std::memcpy(t.to + row * t.to_pitch + lane * static_cast<std::int64_t>(sizeof(Element)), &element, sizeof(Element));
      }
  }
};

#else

/// Rows of so many vectors that fit into the registers with some to spare.
constexpr int rows_of(int vectors) {
  constexpr int registers = vector_registers(HWY_TARGET) - 4;
  const int rows = registers / vectors;
  return rows < 1 ? 1 : rows > 12 ? 12 : rows;
}

/// What MeanLanes in panel_means.cpp has: sums begin as -0 and are divided.
template <class Type>
concept IsMean = requires {
  typename Type::Narrow32;
};

/// Of 0, which has none, 1, 2, ..
inline constexpr auto reciprocals = [] {
  std::array<double, 257> table{};
  for (std::size_t i = 1; i < table.size(); ++i) table[i] = 1 / static_cast<double>(i);
  return table;
}();

template <class Type>
struct Kernel {
  static constexpr bool is_mean = IsMean<Type>;
  static constexpr std::int64_t most_vectors = 8;
  using D = typename Type::D;
  using V = typename Type::V;
  static constexpr std::int64_t lanes = hn::MaxLanes(D());
  static constexpr std::int64_t bytes = lanes * static_cast<std::int64_t>(sizeof(typename Type::Element));

  static HWY_INLINE auto mask_of(std::int64_t from, std::int64_t to) {
    const D d;
    return hn::AndNot(hn::FirstN(d, static_cast<std::size_t>(from)), hn::FirstN(d, static_cast<std::size_t>(to)));
  }

  /// A sum of nothing: an element that is added to it stays as it is, or, where the sum is the result, only -0 does not.
  static HWY_INLINE V nothing() {
    if constexpr (is_mean)
      return hn::Set(D(), -0.0);
    else
      return hn::Zero(D());
  }
  template <class M>
  static HWY_INLINE V masked(M mask, V value) {
    if constexpr (is_mean)
      return hn::IfThenElse(mask, value, nothing());
    else
      return hn::IfThenElseZero(mask, value);
  }

  /// How many terms count for the lanes of a vector, and the reciprocal of that.
  struct Count {
    V count, inverse;
    bool some_none = false;  ///< for some lanes none does
    bool is_exact = false;   ///< the reciprocals are exact
  };
  static HWY_INLINE Count count_of(V count) {
    const D d;
    const hn::RebindToUnsigned<D> bits;
    const auto none = hn::Eq(count, hn::Zero(d));
    const auto mantissa = hn::And(hn::BitCast(bits, count), hn::Set(bits, 0x000fffffffffffffu));
    return {count, hn::IfThenZeroElse(none, hn::Div(hn::Set(d, 1), count)), !hn::AllFalse(d, none),
            hn::AllTrue(bits, hn::Eq(mantissa, hn::Zero(bits)))};
  }
  /// The same number for all lanes. Few terms are most frequent, and a division takes as long as many additions.
  static HWY_INLINE Count count_of(std::int64_t count) {
    const D d;
    const auto number = static_cast<double>(count);
    const bool is_listed = count < static_cast<std::int64_t>(reciprocals.size());
    return {hn::Set(d, number), hn::Set(d, is_listed ? reciprocals[static_cast<std::size_t>(count)] : 1 / number),
            count == 0, (count & (count - 1)) == 0};
  }
  /// Of a row's first vector, of its last one, and of all others.
  struct Counts {
    Count first, last, others;
    bool are_all = true;  ///< every term counts for every lane
  };
  static HWY_INLINE Counts counts_of(const Panel& t) {
    const D d;
    V first = hn::Zero(d), last = hn::Zero(d);
    bool all_first = true, all_last = true;
    for (std::int64_t i = 0; i < t.masks_count; ++i) {
      const PanelMask& m = t.masks[i];
      all_first = all_first && m.first_from == 0 && m.first_to == lanes;
      all_last = all_last && m.last_from == 0 && m.last_to == lanes;
    }
    const Count others = count_of(t.count);
    if (all_first && all_last) return {others, others, others, true};
    for (std::int64_t i = 0; i < t.masks_count; ++i) {
      const PanelMask& m = t.masks[i];
      auto of_first = mask_of(m.first_from, m.first_to);
      const auto of_last = mask_of(m.last_from, m.last_to);
      if (t.vectors == 1) of_first = hn::And(of_first, of_last);
      first = hn::Add(first, hn::IfThenElseZero(of_first, hn::Set(d, 1)));
      last = hn::Add(last, hn::IfThenElseZero(of_last, hn::Set(d, 1)));
    }
    const auto each = hn::Set(d, static_cast<double>(t.count / t.masks_count));
    const bool one = t.vectors == 1;
    return {all_first && !one ? others : count_of(hn::Mul(first, each)), all_last ? others : count_of(hn::Mul(last, each)),
            others, false};
  }

  /// Fills the lanes that no term counts for.
  static HWY_NOINLINE void fill_lanes(V count, const Panel& t, std::byte* to) {
    alignas(64) double counts[lanes];
    hn::Store(count, D(), counts);
    constexpr std::int64_t size = bytes / lanes;
    for (std::int64_t i = 0; i < lanes; ++i)
      if (counts[i] == 0) std::memcpy(to + i * size, t.fill->data() + i * size, size);
  }

  /// Stores the quotients, rounded once. A product with the reciprocal is nearly the quotient, and as a float32 the same
  /// unless it is next to the middle between two of them, so few vectors are divided.
  static HWY_INLINE void divide(V sum, const Count& by, const Panel& t, std::byte* to) {
    const D d;
    const hn::RebindToSigned<D> bits;
    V mean = hn::Mul(sum, by.inverse);
    const V magnitude = hn::Abs(mean);
    auto sure = hn::Lt(magnitude, hn::Set(d, 0x1p128));
    if (!by.is_exact) {
      // The mantissas differ in the last two places at most; float32 lacks the lower 29 places.
      const auto apart = hn::And(hn::Add(hn::BitCast(bits, mean), hn::Set(bits, 0x10000004)), hn::Set(bits, 0x1fffffff));
      sure = hn::And(hn::And(sure, hn::Ge(magnitude, hn::Set(d, 0x1p-126))),
                     hn::RebindMask(d, hn::Gt(apart, hn::Set(bits, 7))));
    }
    if (HWY_UNLIKELY(!hn::AllTrue(d, sure))) {
      mean = hn::Div(sum, hn::IfThenElse(hn::Eq(by.count, hn::Zero(d)), hn::Set(d, 1), by.count));
      if (!hn::AllTrue(d, hn::Lt(hn::Abs(mean), hn::Set(d, 0x1p128)))) *t.certain = false;
    }
    const typename Type::Narrow32 narrow;
    hn::StoreU(hn::DemoteTo(narrow, mean), narrow, reinterpret_cast<float*>(to));
    if (HWY_UNLIKELY(by.some_none)) fill_lanes(by.count, t, to);
  }
  /// The same for rows of sums, which lie side by side.
  static HWY_NOINLINE void divide_rows(const double* sums, std::int64_t rows, const Counts& counts, const Panel& t,
                                       std::byte* to) {
    for (std::int64_t r = 0; r < rows; ++r, to += t.to_pitch) {
      divide(hn::Load(D(), sums), counts.first, t, to);
      sums += lanes;
      if (t.vectors == 1) continue;
      for (std::int64_t v = 1; v < t.vectors - 1; ++v, sums += lanes)
        divide(hn::Load(D(), sums), counts.others, t, to + v * bytes);
      divide(hn::Load(D(), sums), counts.last, t, to + (t.vectors - 1) * bytes);
      sums += lanes;
    }
  }

  /// `fetches` is a bool, or a constant where a branch in the loop would cost a tenth of the time.
  /// `whole`: every term counts for every lane.
  template <int vectors, int rows, bool whole, class Fetches>
  static HWY_INLINE void sum_rows(const Panel& t, const Counts* counts, const std::byte* src, std::byte* to,
                                  Fetches fetches) {
    V sums[rows][vectors];
    PATCHFOLD_UNROLL for (int r = 0; r < rows; ++r) PATCHFOLD_UNROLL for (int v = 0; v < vectors; ++v) sums[r][v] =
        nothing();
    const std::int64_t pitch = t.src_pitch;
    for (std::int64_t i = 0; i < t.count; ++i) {
      const std::byte* at = src + t.terms[i].offset;
      if constexpr (whole) {
        PATCHFOLD_UNROLL for (int r = 0; r < rows; ++r) PATCHFOLD_UNROLL for (int v = 0; v < vectors; ++v) sums[r][v] =
            Type::add(sums[r][v], Type::load(at + r * pitch + v * bytes));
      } else {
        const PanelMask& lanes_of = t.masks[t.terms[i].mask];
        auto first = mask_of(lanes_of.first_from, lanes_of.first_to);
        const auto last = mask_of(lanes_of.last_from, lanes_of.last_to);
        if constexpr (vectors == 1) first = hn::And(first, last);
        PATCHFOLD_UNROLL for (int r = 0; r < rows; ++r) {
          const std::byte* row = at + r * pitch;
          sums[r][0] = Type::add(sums[r][0], masked(first, Type::load(row)));
          PATCHFOLD_UNROLL for (int v = 1; v < vectors - 1; ++v) sums[r][v] =
              Type::add(sums[r][v], Type::load(row + v * bytes));
          if constexpr (vectors > 1)
            sums[r][vectors - 1] = Type::add(sums[r][vectors - 1], masked(last, Type::load(row + (vectors - 1) * bytes)));
        }
      }
      if (fetches)
        PATCHFOLD_UNROLL for (int r = 0; r < rows; ++r)
            PATCHFOLD_UNROLL for (std::int64_t k = 0; k < vectors * bytes; k += line_bytes)
                hwy::Prefetch(at + r * pitch + k + t.prefetch);
    }
    if constexpr (is_mean) {
      alignas(64) double made[rows * vectors * lanes];
      PATCHFOLD_UNROLL for (int r = 0; r < rows; ++r) PATCHFOLD_UNROLL for (int v = 0; v < vectors; ++v)
          hn::Store(sums[r][v], D(), made + (r * vectors + v) * lanes);
      divide_rows(made, rows, *counts, t, to);
    } else {
      PATCHFOLD_UNROLL for (int r = 0; r < rows; ++r) PATCHFOLD_UNROLL for (int v = 0; v < vectors; ++v)
          Type::store(sums[r][v], to + r * t.to_pitch + v * bytes);
    }
  }

  template <int vectors, int most, bool whole>
  static HWY_INLINE void sum_groups(const Panel& t, const Counts* counts, std::int64_t& row) {
    for (; row + most <= t.rows; row += most) {
      const std::byte* src = t.src + row * t.src_pitch;
      std::byte* to = t.to + row * t.to_pitch;
      if constexpr (most > 1)
        sum_rows<vectors, most, whole>(t, counts, src, to, t.prefetch != 0);
      else if (t.prefetch != 0)
        sum_rows<vectors, most, whole>(t, counts, src, to, std::true_type());
      else
        sum_rows<vectors, most, whole>(t, counts, src, to, std::false_type());
    }
  }

  template <int vectors>
  static HWY_NOINLINE void sum_all_rows(const Panel& t) {
    constexpr int most = rows_of(vectors);
    std::int64_t row = 0;
    if constexpr (is_mean) {
      const Counts counts = counts_of(t);
      if constexpr (vectors == most_vectors)
        if (counts.are_all) sum_groups<vectors, most, true>(t, &counts, row);
      sum_groups<vectors, most, false>(t, &counts, row);
      if constexpr (most > 1) sum_groups<vectors, 1, false>(t, &counts, row);
    } else {
      sum_groups<vectors, most, false>(t, nullptr, row);
      if constexpr (most > 3) sum_groups<vectors, most / 2, false>(t, nullptr, row);
      if constexpr (most > 1) sum_groups<vectors, 1, false>(t, nullptr, row);
    }
  }

  /// A vector of which only what lies in [begin, end) is read.
  static V load_within(const std::byte* at, const Panel& t) {
    if (at >= t.begin && at + bytes <= t.end) return Type::load(at);
    alignas(64) std::byte copy[bytes] = {};
    const std::byte* from = std::max(at, t.begin);
    const std::byte* end = std::min(at + bytes, t.end);
    if (from < end) std::memcpy(copy + (from - at), from, static_cast<std::size_t>(end - from));
    return Type::load(copy);
  }

  static HWY_NOINLINE void sum_at_edge(const Panel& t) {
    const auto counts = [&t] {
      if constexpr (is_mean)
        return counts_of(t);
      else
        return 0;
    }();
    for (std::int64_t r = 0; r < t.rows; ++r)
      for (std::int64_t v = 0; v < t.vectors; ++v) {
        V sum = nothing();
        for (std::int64_t i = 0; i < t.count; ++i) {
          const PanelMask& lanes_of = t.masks[t.terms[i].mask];
          V value = load_within(t.src + t.terms[i].offset + r * t.src_pitch + v * bytes, t);
          if (v == 0) value = masked(mask_of(lanes_of.first_from, lanes_of.first_to), value);
          if (v == t.vectors - 1) value = masked(mask_of(lanes_of.last_from, lanes_of.last_to), value);
          sum = Type::add(sum, value);
        }
        std::byte* to = t.to + r * t.to_pitch + v * bytes;
        if constexpr (is_mean) {
          divide(sum, v == 0 ? counts.first : v == t.vectors - 1 ? counts.last : counts.others, t, to);
        } else {
          Type::store(sum, to);
        }
      }
  }

  static bool is_inside(const Panel& t) {
    if (t.count == 0) return true;
    const std::int64_t reach = t.high + (t.rows - 1) * t.src_pitch + t.vectors * bytes;
    return t.begin - t.src <= t.low && t.end - t.src >= reach;
  }

  static void sum(const Panel& t) {
    if (!is_inside(t)) return sum_at_edge(t);
    switch (t.vectors) {
      case 1: return sum_all_rows<1>(t);
      case 2: return sum_all_rows<2>(t);
      case 3: return sum_all_rows<3>(t);
      case 4: return sum_all_rows<4>(t);
    }
    if constexpr (most_vectors > 4) switch (t.vectors) {
        case 5: return sum_all_rows<5>(t);
        case 6: return sum_all_rows<6>(t);
        case 7: return sum_all_rows<7>(t);
        default: return sum_all_rows<8>(t);
      }
  }

  static std::int64_t rows(std::int64_t vectors) { return (is_mean ? 2 : 1) * rows_of(static_cast<int>(vectors)); }
};

#endif

template <class Type>
const PanelKernel* kernel_for() {
  using K = Kernel<Type>;
  static constexpr PanelKernel kernel{K::lanes, sizeof(typename Type::Element), K::most_vectors, K::sum, K::rows};
  return &kernel;
}

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
