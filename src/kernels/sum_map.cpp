// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sum_map.cpp"
#include "kernels/sum_map.hpp"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "kernels/blocks-inl.hpp"
#include "kernels/elements.hpp"
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
struct SumMapOf {
  using Element = typename Type::Element;
  static constexpr std::int64_t lanes = 4;  // so that a run is not one element
  static constexpr std::int64_t most_vectors = 4;
  static constexpr std::int64_t mask_bytes = 1;

  using Sum = typename Type::Accumulator;
  static constexpr std::int64_t sum_size = sizeof(Sum);

  static void take_steps(const SumProgram& program, const SumMap& map) {
    auto* sums = reinterpret_cast<Sum*>(map.sums);
    for (const SumStep& step : program.steps)
      for (std::int64_t lane = 0; lane < step.vectors * lanes; ++lane) {
        if (step.begins) sums[step.to + lane] = Sum{};
        for (std::int64_t i = 0; i < step.count; ++i) {
          if (step.masks >= 0 && (program.masks[step.masks + lane / lanes * step.count + i] >> lane % lanes & 1) == 0)
            continue;
          Element element;
          const std::byte* at = map.src + program.terms[step.first + i].offset;
          std::memcpy(&element, at + lane * static_cast<std::int64_t>(sizeof(Element)), sizeof(Element));
          sums[step.to + lane] = Type::plus(sums[step.to + lane], Type::widen(element));
        }
      }
    for (std::int64_t lane = 0; lane < program.lanes; ++lane) {
      const Element element = Type::narrow(sums[lane]);
      std::memcpy(map.to + lane * static_cast<std::int64_t>(sizeof(Element)), &element, sizeof(Element));
    }
  }

  static void sum(const SumProgram& program, const SumMap& map) {
    if (!program.steps.empty()) return take_steps(program, map);
    for (const SumRun& run : program.runs)
      for (std::int64_t lane = 0; lane < run.vectors * lanes; ++lane) {
        constexpr auto size = static_cast<std::int64_t>(sizeof(Element));
        typename Type::Accumulator sum{};
        for (const SumTerm& term : std::span(program.terms + run.first, static_cast<std::size_t>(run.count))) {
          if ((program.masks[term.masks + lane / lanes] >> lane % lanes & 1) == 0) continue;
          Element element;
          std::memcpy(&element, map.src + term.offset + lane * size, sizeof(Element));
          sum = Type::plus(sum, Type::widen(element));
        }
        const Element element = Type::narrow(sum);
        std::memcpy(map.to + (run.to + lane) * size, &element, sizeof(Element));
      }
  }
};

#else

/// Rounding that takes many instructions is one loop over sums in memory: unrolled for each kernel it would be most of the
/// code.
template <class Type>
concept IsRoundedInMemory = requires {
  requires Type::takes_steps_to_round;
};

template <class Type>
struct SumMapOf {
  using D = typename Type::D;
  using V = typename Type::V;
  using Lane = hn::TFromD<D>;
  static constexpr std::int64_t lanes = hn::MaxLanes(D());
  static constexpr std::int64_t size = sizeof(typename Type::Element);
  static constexpr std::int64_t bytes = lanes * size;
  static constexpr std::int64_t sum_size = sizeof(Lane);
  static constexpr bool is_sum = sizeof(Lane) == sizeof(typename Type::Element);  ///< an element is its accumulator
  static constexpr std::int64_t most_vectors = 4;
  static constexpr std::int64_t mask_bytes = lanes < 8 ? 1 : lanes / 8;

  static HWY_NOINLINE void round(const Lane* sums, int vectors, std::byte* to) {
    for (int v = 0; v < vectors; ++v) Type::store(hn::Load(D(), sums + v * lanes), to + v * bytes);
  }

  template <int vectors>
  static HWY_INLINE void sum_run(const SumRun& run, const SumTerm* term, const std::uint8_t* masks, const SumMap& map,
                                 const std::byte*& ahead) {
    const D d;
    V sums[vectors];
    PATCHFOLD_UNROLL for (int v = 0; v < vectors; ++v) sums[v] = hn::Zero(d);
    for (const SumTerm* const end = term + run.count; term != end; ++term) {
      const std::byte* at = map.src + term->offset;
      const std::uint8_t* lanes_of = masks + term->masks;
      PATCHFOLD_UNROLL for (int v = 0; v < vectors; ++v) {
        const auto mask = hn::LoadMaskBits(d, lanes_of + v * mask_bytes);
        sums[v] = Type::add(sums[v], hn::IfThenElseZero(mask, Type::load(at + v * bytes)));
      }
      if (ahead < map.ahead_end) {
        PATCHFOLD_UNROLL for (std::int64_t k = 0; k < vectors * bytes; k += line_bytes) hwy::Prefetch(ahead + k);
        ahead += (vectors * bytes + line_bytes - 1) / line_bytes * line_bytes;
      }
    }
    std::byte* to = map.to + run.to * size;
    if constexpr (IsRoundedInMemory<Type>) {
      alignas(64) Lane made[vectors * lanes];
      PATCHFOLD_UNROLL for (int v = 0; v < vectors; ++v) hn::Store(sums[v], d, made + v * lanes);
      round(made, vectors, to);
    } else {
      PATCHFOLD_UNROLL for (int v = 0; v < vectors; ++v) Type::store(sums[v], to + v * bytes);
    }
  }

  /// A vector of which only what lies in [begin, end) is read.
  static V load_within(const std::byte* at, const SumMap& map) {
    if (at >= map.begin && at + bytes <= map.end) return Type::load(at);
    alignas(64) std::byte copy[bytes] = {};
    const std::byte* from = std::max(at, map.begin);
    const std::byte* end = std::min(at + bytes, map.end);
    if (from < end) std::memcpy(copy + (from - at), from, static_cast<std::size_t>(end - from));
    return Type::load(copy);
  }

  static HWY_NOINLINE void sum_at_edge(const SumRun& run, const SumTerm* terms, const std::uint8_t* masks,
                                       const SumMap& map) {
    const D d;
    for (int v = 0; v < run.vectors; ++v) {
      V sum = hn::Zero(d);
      for (const SumTerm* term = terms; term != terms + run.count; ++term) {
        const auto mask = hn::LoadMaskBits(d, masks + term->masks + v * mask_bytes);
        sum = Type::add(sum, hn::IfThenElseZero(mask, load_within(map.src + term->offset + v * bytes, map)));
      }
      Type::store(sum, map.to + run.to * size + v * bytes);
    }
  }

  static HWY_NOINLINE void take_step_at_edge(const SumStep& step, const SumProgram& program, Lane* sums, const SumMap& map) {
    const D d;
    const std::uint8_t* masks = program.masks + step.masks;
    for (std::int64_t v = 0; v < step.vectors; ++v, sums += lanes) {
      if (step.begins) hn::StoreU(hn::Zero(d), d, sums);
      for (std::int64_t i = 0; i < step.count; ++i, masks += mask_bytes) {
        V value = load_within(map.src + program.terms[step.first + i].offset + v * bytes, map);
        if (step.masks >= 0) value = hn::IfThenElseZero(hn::LoadMaskBits(d, masks), value);
        hn::StoreU(Type::add(hn::LoadU(d, sums), value), d, sums);
      }
    }
  }

  /// Adds `terms` terms of a step, from `first` on. A few vectors at a time: the fewer instructions a line takes, the more
  /// of those to come does the processor ask for.
  template <int terms>
  static HWY_NOINLINE void add_terms(const SumStep& step, const SumProgram& program, std::int64_t first, bool begins,
                                     Lane* sums, const SumMap& map) {
    const D d;
    constexpr int unroll = terms == 1 ? 4 : terms == 2 ? 2 : 1;
    const std::byte* at[terms + 1];
    PATCHFOLD_UNROLL for (int i = 0; i < terms; ++i) at[i] = map.src + program.terms[step.first + first + i].offset;
    const std::int64_t pitch = step.count * mask_bytes, vectors = step.vectors;
    const std::uint8_t* masks = program.masks + step.masks + first * mask_bytes;
    const auto add = [&](std::int64_t v, bool is_masked) HWY_ATTR {
      V sum = begins ? hn::Zero(d) : hn::LoadU(d, sums + v * lanes);
      PATCHFOLD_UNROLL for (int i = 0; i < terms; ++i) {
        V value = Type::load(at[i] + v * bytes);
        if (is_masked) value = hn::IfThenElseZero(hn::LoadMaskBits(d, masks + v * pitch + i * mask_bytes), value);
        sum = Type::add(sum, value);
      }
      hn::StoreU(sum, d, sums + v * lanes);
    };
    std::int64_t v = 0;
    if (step.masks < 0) {
      for (; v < vectors; ++v) add(v, false);
      return;
    }
    for (; v + unroll <= vectors; v += unroll) PATCHFOLD_UNROLL for (int u = 0; u < unroll; ++u) add(v + u, true);
    for (; v < vectors; ++v) add(v, true);
  }

  static HWY_INLINE void take_step(const SumStep& step, const SumProgram& program, Lane* sums, const SumMap& map) {
    const D d;
    if (step.begins && step.count == 0)
      for (std::int64_t v = 0; v < step.vectors; ++v) hn::StoreU(hn::Zero(d), d, sums + v * lanes);
    bool begins = step.begins;
    for (std::int64_t first = 0, left = step.count; left > 0; begins = false) {
      const std::int64_t here = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
      switch (here) {
        case 1: add_terms<1>(step, program, first, begins, sums, map); break;
        case 2: add_terms<2>(step, program, first, begins, sums, map); break;
        case 4: add_terms<4>(step, program, first, begins, sums, map); break;
        default: add_terms<8>(step, program, first, begins, sums, map); break;
      }
      first += here;
      left -= here;
    }
  }

  static void take_steps(const SumProgram& program, const SumMap& map) {
    const D d;
    auto* const all = reinterpret_cast<Lane*>(is_sum ? map.to : map.sums);
    for (const SumStep& step : program.steps) {
      Lane* sums = all + step.to;
      if (map.begin - map.src > step.low || map.end - map.src < step.high) {
        take_step_at_edge(step, program, sums, map);
        continue;
      }
      take_step(step, program, sums, map);
    }
    if constexpr (is_sum) return;
    std::byte* to = map.to;
    for (std::int64_t i = 0; i < program.lanes; i += lanes, to += bytes) Type::store(hn::LoadU(d, all + i), to);
  }

  static void sum(const SumProgram& program, const SumMap& map) {
    if (!program.steps.empty()) return take_steps(program, map);
    const std::uint8_t* const masks = program.masks;
    const std::byte* ahead = map.ahead;
    for (const SumRun& run : program.runs) {
      const SumTerm* terms = program.terms + run.first;
      if (map.begin - map.src > run.low || map.end - map.src < run.high) {
        sum_at_edge(run, terms, masks, map);
        continue;
      }
      switch (run.vectors) {
        case 1: sum_run<1>(run, terms, masks, map, ahead); break;
        case 2: sum_run<2>(run, terms, masks, map, ahead); break;
        default: sum_run<4>(run, terms, masks, map, ahead); break;
      }
    }
  }
};

#endif

template <class Type>
const SumMapKernel* kernel_for() {
  using K = SumMapOf<Type>;
  static constexpr SumMapKernel kernel{K::lanes, sizeof(typename Type::Element), K::sum_size, K::mask_bytes, K::most_vectors,
                                       K::sum};
  return &kernel;
}

const SumMapKernel* SumMapKernelOf(DType dtype) {
  return visit_held(dtype, []<class T>(std::type_identity<T>) -> const SumMapKernel* {
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

HWY_EXPORT(SumMapKernelOf);

const SumMapKernel& sum_map_kernel(DType dtype) noexcept {
  return *HWY_DYNAMIC_DISPATCH(SumMapKernelOf)(dtype);
}

HWY_EXPORT(target);

const char* sum_map_target() noexcept {
  return HWY_DYNAMIC_DISPATCH(target)();
}

}  // namespace patchfold::kernels
#endif
