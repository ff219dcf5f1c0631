// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/panel.cpp"
#include "kernels/panel.hpp"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "kernels/blocks-inl.hpp"
#include "kernels/elements.hpp"
#include "kernels/features.hpp"
#include "kernels/lanes-inl.hpp"
#include "kernels/stream.hpp"
#include "kernels/targets-inl.hpp"
#include "kernels/targets.hpp"
#include "tensor/held.hpp"

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

template <class T>
using Lanes = Summand<T>;

template <class Type>
struct Kernel {
  using Element = typename Type::Element;
  static constexpr std::int64_t lanes = 4;  // so that a row is not one element
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

/// Rows of so many vectors that fit into the registers with some to spare, and into `most_bytes`: a column is read in pieces
/// of the size of all rows, and with larger ones sums of what comes from memory take up to 1.6 times as long.
constexpr int rows_of(int vectors) {
  constexpr int most_bytes = 768, vector_bytes = static_cast<int>(hn::MaxLanes(hn::ScalableTag<std::uint8_t>()));
  constexpr int registers = std::min(vector_registers(HWY_TARGET) - 4, most_bytes / vector_bytes);
  const int rows = registers / vectors;
  return rows < 1 ? 1 : rows > 12 ? 12 : rows;
}

/// Rounding that takes many instructions is one loop over sums in memory: it is short beside the additions, and unrolled for
/// each kernel it would be most of the code.
template <class Type>
concept IsRoundedApart = requires {
  requires Type::takes_steps_to_round;
};

template <class Type>
struct Kernel {
  using D = typename Type::D;
  using V = typename Type::V;
  using Lane = hn::TFromD<D>;
  static constexpr std::int64_t lanes = hn::MaxLanes(D());
  static constexpr std::int64_t bytes = lanes * static_cast<std::int64_t>(sizeof(typename Type::Element));

  static HWY_INLINE auto mask_of(std::int64_t from, std::int64_t to) {
    const D d;
    return hn::AndNot(hn::FirstN(d, static_cast<std::size_t>(from)), hn::FirstN(d, static_cast<std::size_t>(to)));
  }

  /// Rounds and stores rows of sums that lie side by side.
  static HWY_NOINLINE void store_rows(const Lane* sums, std::int64_t rows, const Panel& t, std::byte* to) {
    for (std::int64_t r = 0; r < rows; ++r, to += t.to_pitch)
      for (std::int64_t v = 0; v < t.vectors; ++v, sums += lanes) Type::store(hn::Load(D(), sums), to + v * bytes);
  }

  /// `fetches` is a bool, or a constant where a branch in the loop would cost a tenth of the time.
  template <int vectors, int rows, class Fetches>
  static HWY_INLINE void sum_rows(const Panel& t, const std::byte* src, std::byte* to, Fetches fetches) {
    const D d;
    V sums[rows][vectors];
    PATCHFOLD_UNROLL for (int r = 0; r < rows; ++r) PATCHFOLD_UNROLL for (int v = 0; v < vectors; ++v) sums[r][v] =
        hn::Zero(d);
    const std::int64_t pitch = t.src_pitch;
    for (std::int64_t i = 0; i < t.count; ++i) {
      const std::byte* at = src + t.terms[i].offset;
      const PanelMask& lanes_of = t.masks[t.terms[i].mask];
      auto first = mask_of(lanes_of.first_from, lanes_of.first_to);
      const auto last = mask_of(lanes_of.last_from, lanes_of.last_to);
      if constexpr (vectors == 1) first = hn::And(first, last);
      PATCHFOLD_UNROLL for (int r = 0; r < rows; ++r) {
        const std::byte* row = at + r * pitch;
        sums[r][0] = Type::add(sums[r][0], hn::IfThenElseZero(first, Type::load(row)));
        PATCHFOLD_UNROLL for (int v = 1; v < vectors - 1; ++v) sums[r][v] =
            Type::add(sums[r][v], Type::load(row + v * bytes));
        if constexpr (vectors > 1)
          sums[r][vectors - 1] =
              Type::add(sums[r][vectors - 1], hn::IfThenElseZero(last, Type::load(row + (vectors - 1) * bytes)));
      }
      if (fetches)
        PATCHFOLD_UNROLL for (int r = 0; r < rows; ++r)
            PATCHFOLD_UNROLL for (std::int64_t k = 0; k < vectors * bytes; k += line_bytes)
                hwy::Prefetch(at + r * pitch + k + t.prefetch);
    }
    if constexpr (IsRoundedApart<Type>) {
      alignas(64) Lane made[rows * vectors * lanes];
      PATCHFOLD_UNROLL for (int r = 0; r < rows; ++r) PATCHFOLD_UNROLL for (int v = 0; v < vectors; ++v)
          hn::Store(sums[r][v], d, made + (r * vectors + v) * lanes);
      store_rows(made, rows, t, to);
    } else {
      PATCHFOLD_UNROLL for (int r = 0; r < rows; ++r) PATCHFOLD_UNROLL for (int v = 0; v < vectors; ++v)
          Type::store(sums[r][v], to + r * t.to_pitch + v * bytes);
    }
  }

  template <int vectors, int most>
  static HWY_INLINE void sum_groups(const Panel& t, std::int64_t& row) {
    for (; row + most <= t.rows; row += most) {
      const std::byte* src = t.src + row * t.src_pitch;
      std::byte* to = t.to + row * t.to_pitch;
      if constexpr (most > 1)
        sum_rows<vectors, most>(t, src, to, t.prefetch != 0);
      else if (t.prefetch != 0)
        sum_rows<vectors, most>(t, src, to, std::true_type());
      else
        sum_rows<vectors, most>(t, src, to, std::false_type());
    }
  }

  template <int vectors>
  static HWY_NOINLINE void sum_all_rows(const Panel& t) {
    constexpr int most = rows_of(vectors);
    std::int64_t row = 0;
    sum_groups<vectors, most>(t, row);
    if constexpr (most > 3) sum_groups<vectors, most / 2>(t, row);
    if constexpr (most > 1) sum_groups<vectors, 1>(t, row);
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
    const D d;
    for (std::int64_t r = 0; r < t.rows; ++r)
      for (std::int64_t v = 0; v < t.vectors; ++v) {
        V sum = hn::Zero(d);
        for (std::int64_t i = 0; i < t.count; ++i) {
          const PanelMask& lanes_of = t.masks[t.terms[i].mask];
          V value = load_within(t.src + t.terms[i].offset + r * t.src_pitch + v * bytes, t);
          if (v == 0) value = hn::IfThenElseZero(mask_of(lanes_of.first_from, lanes_of.first_to), value);
          if (v == t.vectors - 1) value = hn::IfThenElseZero(mask_of(lanes_of.last_from, lanes_of.last_to), value);
          sum = Type::add(sum, value);
        }
        Type::store(sum, t.to + r * t.to_pitch + v * bytes);
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
      case 5: return sum_all_rows<5>(t);
      case 6: return sum_all_rows<6>(t);
      case 7: return sum_all_rows<7>(t);
      default: return sum_all_rows<8>(t);
    }
  }

  static std::int64_t rows(std::int64_t vectors) { return rows_of(static_cast<int>(vectors)); }
};

#endif

template <class Type>
const PanelKernel* kernel_for() {
  using K = Kernel<Type>;
  static constexpr PanelKernel kernel{K::lanes, sizeof(typename Type::Element), 8, K::sum, K::rows};
  return &kernel;
}

const PanelKernel* PanelKernelOf(DType dtype) {
  return visit_held(dtype, []<class T>(std::type_identity<T>) -> const PanelKernel* {
    if constexpr (std::is_void_v<SummedAs<T>>)
      return nullptr;
    else
      return kernel_for<Lanes<SummedAs<T>>>();
  });
}

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace patchfold::kernels {

HWY_EXPORT(PanelKernelOf);

const PanelKernel& panel_kernel(DType dtype) noexcept {
  return *HWY_DYNAMIC_DISPATCH(PanelKernelOf)(dtype);
}

HWY_EXPORT(target);

const char* panel_target() noexcept {
  return HWY_DYNAMIC_DISPATCH(target)();
}

}  // namespace patchfold::kernels
#endif
