// SPDX-License-Identifier: Apache-2.0
// The loops of sum_map.hpp. sum_map.cpp compiles them for sums, mean_map.cpp for means; `Type` has the arithmetic.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "kernels/blocks-inl.hpp"
#include "kernels/stream.hpp"
#include "kernels/sum_map.hpp"

#if defined(PATCHFOLD_KERNELS_SUM_MAP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PATCHFOLD_KERNELS_SUM_MAP_INL
#undef PATCHFOLD_KERNELS_SUM_MAP_INL
#else
#define PATCHFOLD_KERNELS_SUM_MAP_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

/// Runs programs in plain loops. `Type` has a type Sum; nothing(), which begins a sum; add(sum, at); and finish(sum, lane, program,
/// map, to), which stores an element.
template <class Type>
struct SumMapOf {
  using Sum = typename Type::Sum;
  static constexpr std::int64_t lanes = 4;  // so that a run is longer than one element
  static constexpr std::int64_t size = Type::size;
  static constexpr std::int64_t sum_size = sizeof(Sum);
  static constexpr std::int64_t most_vectors = 4;
  static constexpr std::int64_t mask_bytes = 1;

  static void take_steps(const SumProgram& program, const SumMap& map) {
    auto* sums = reinterpret_cast<Sum*>(map.sums);
    for (const SumStep& step : program.steps)
      for (std::int64_t lane = 0; lane < step.vectors * lanes; ++lane) {
        if (step.begins) sums[step.to + lane] = Type::nothing();
        for (std::int64_t i = 0; i < step.count; ++i) {
          if (step.masks >= 0 && (program.masks[step.masks + lane / lanes * step.count + i] >> lane % lanes & 1) == 0)
            continue;
          Type::add(sums[step.to + lane], map.src + program.terms[step.first + i].offset + lane * size);
        }
      }
    for (std::int64_t lane = 0; lane < program.lanes; ++lane)
      Type::finish(sums[lane], lane, program, map, map.to + lane * size);
  }

  static void sum(const SumProgram& program, const SumMap& map) {
    if (!program.steps.empty()) return take_steps(program, map);
    for (const SumRun& run : program.runs)
      for (std::int64_t lane = 0; lane < run.vectors * lanes; ++lane) {
        Sum sum = Type::nothing();
        for (const SumTerm& term : std::span(program.terms + run.first, static_cast<std::size_t>(run.count)))
          if ((program.masks[term.masks + lane / lanes] >> lane % lanes & 1) != 0)
            Type::add(sum, map.src + term.offset + lane * size);
        Type::finish(sum, run.to + lane, program, map, map.to + (run.to + lane) * size);
      }
  }
};

#else

/// Runs programs with vectors. `Type` has vectors V of elements and accumulators Sums, which begin as nothing(); add(sums,
/// value); masked(mask, value), which adds nothing where the mask is not set; load_sums() and save_sums(); and finish(sums,
/// lane, program, map, to), which stores elements.
template <class Type>
struct SumMapOf {
  using D = typename Type::D;
  using V = typename Type::V;
  using Sums = typename Type::Sums;
  static constexpr std::int64_t lanes = hn::MaxLanes(D());
  static constexpr std::int64_t size = Type::size;
  static constexpr std::int64_t bytes = lanes * size;
  static constexpr std::int64_t sum_size = Type::sum_size;
  static constexpr std::int64_t sums_bytes = lanes * sum_size;
  static constexpr std::int64_t most_vectors = 4;
  static constexpr std::int64_t mask_bytes = lanes < 8 ? 1 : lanes / 8;

  /// Finishes sums in one loop over memory, if finishing takes many instructions: unrolled in each kernel, these instructions would
  /// be most of the code.
  static HWY_NOINLINE void finish_all(const std::byte* sums, std::int64_t lane, std::int64_t vectors,
                                      const SumProgram& program, const SumMap& map) {
    std::byte* to = map.to + lane * size;
    for (std::int64_t v = 0; v < vectors; ++v, sums += sums_bytes, lane += lanes, to += bytes)
      Type::finish(Type::load_sums(sums), lane, program, map, to);
  }

  template <int vectors>
  static HWY_INLINE void sum_run(const SumRun& run, const SumProgram& program, const SumMap& map, const std::byte*& ahead) {
    const D d;
    Sums sums[vectors];
    PATCHFOLD_UNROLL for (int v = 0; v < vectors; ++v) sums[v] = Type::nothing();
    const SumTerm* term = program.terms + run.first;
    for (const SumTerm* const end = term + run.count; term != end; ++term) {
      const std::byte* at = map.src + term->offset;
      const std::uint8_t* lanes_of = program.masks + term->masks;
      PATCHFOLD_UNROLL for (int v = 0; v < vectors; ++v) {
        const auto mask = hn::LoadMaskBits(d, lanes_of + v * mask_bytes);
        sums[v] = Type::add(sums[v], Type::masked(mask, Type::load(at + v * bytes)));
      }
      if (ahead < map.ahead_end) {
        PATCHFOLD_UNROLL for (std::int64_t k = 0; k < vectors * bytes; k += line_bytes) hwy::Prefetch(ahead + k);
        ahead += (vectors * bytes + line_bytes - 1) / line_bytes * line_bytes;
      }
    }
    if constexpr (Type::takes_steps_to_finish) {
      alignas(64) std::byte made[vectors * sums_bytes];
      PATCHFOLD_UNROLL for (int v = 0; v < vectors; ++v) Type::save_sums(sums[v], made + v * sums_bytes);
      finish_all(made, run.to, vectors, program, map);
    } else {
      PATCHFOLD_UNROLL for (int v = 0; v < vectors; ++v)
          Type::finish(sums[v], run.to + v * lanes, program, map, map.to + run.to * size + v * bytes);
    }
  }

  static V load_in(const SumMap& map, const std::byte* at) {
    return load_within<bytes>(at, map.begin, map.end, [](const std::byte* from) HWY_ATTR { return Type::load(from); });
  }

  static HWY_NOINLINE void sum_at_edge(const SumRun& run, const SumProgram& program, const SumMap& map) {
    const D d;
    for (int v = 0; v < run.vectors; ++v) {
      Sums sums = Type::nothing();
      const SumTerm* term = program.terms + run.first;
      for (const SumTerm* const end = term + run.count; term != end; ++term) {
        const auto mask = hn::LoadMaskBits(d, program.masks + term->masks + v * mask_bytes);
        sums = Type::add(sums, Type::masked(mask, load_in(map, map.src + term->offset + v * bytes)));
      }
      const std::int64_t lane = run.to + v * lanes;
      Type::finish(sums, lane, program, map, map.to + lane * size);
    }
  }

  static HWY_NOINLINE void take_step_at_edge(const SumStep& step, const SumProgram& program, std::byte* at,
                                             const SumMap& map) {
    const D d;
    const std::uint8_t* masks = program.masks + step.masks;
    for (std::int64_t v = 0; v < step.vectors; ++v, at += sums_bytes) {
      Sums sums = step.begins ? Type::nothing() : Type::load_sums(at);
      for (std::int64_t i = 0; i < step.count; ++i, masks += mask_bytes) {
        V value = load_in(map, map.src + program.terms[step.first + i].offset + v * bytes);
        if (step.masks >= 0) value = Type::masked(hn::LoadMaskBits(d, masks), value);
        sums = Type::add(sums, value);
      }
      Type::save_sums(sums, at);
    }
  }

  /// Adds `terms` terms of a step, from term `first` on, a few vectors at a time. The fewer instructions a line takes, the more of
  /// the following lines the processor prefetches.
  template <int terms>
  static HWY_NOINLINE void add_terms(const SumStep& step, const SumProgram& program, std::int64_t first, bool begins,
                                     std::byte* all, const SumMap& map) {
    const D d;
    constexpr int unroll = terms == 1 ? 4 : terms == 2 ? 2 : 1;
    const std::byte* at[terms];
    PATCHFOLD_UNROLL for (int i = 0; i < terms; ++i) at[i] = map.src + program.terms[step.first + first + i].offset;
    const std::int64_t pitch = step.count * mask_bytes, vectors = step.vectors;
    const std::uint8_t* masks = program.masks + step.masks + first * mask_bytes;
    const auto add = [&](std::int64_t v, bool is_masked) HWY_ATTR {
      Sums sums = begins ? Type::nothing() : Type::load_sums(all + v * sums_bytes);
      PATCHFOLD_UNROLL for (int i = 0; i < terms; ++i) {
        V value = Type::load(at[i] + v * bytes);
        if (is_masked) value = Type::masked(hn::LoadMaskBits(d, masks + v * pitch + i * mask_bytes), value);
        sums = Type::add(sums, value);
      }
      Type::save_sums(sums, all + v * sums_bytes);
    };
    std::int64_t v = 0;
    if (step.masks < 0) {
      for (; v < vectors; ++v) add(v, false);
      return;
    }
    for (; v + unroll <= vectors; v += unroll) PATCHFOLD_UNROLL for (int u = 0; u < unroll; ++u) add(v + u, true);
    for (; v < vectors; ++v) add(v, true);
  }

  static HWY_INLINE void take_step(const SumStep& step, const SumProgram& program, std::byte* sums, const SumMap& map) {
    if (step.begins && step.count == 0)
      for (std::int64_t v = 0; v < step.vectors; ++v) Type::save_sums(Type::nothing(), sums + v * sums_bytes);
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
    std::byte* const all = Type::finishes_in_place ? map.to : map.sums;
    for (const SumStep& step : program.steps) {
      std::byte* sums = all + step.to * sum_size;
      if (map.begin - map.src > step.low || map.end - map.src < step.high)
        take_step_at_edge(step, program, sums, map);
      else
        take_step(step, program, sums, map);
    }
    if constexpr (!Type::finishes_in_place) finish_all(all, 0, (program.lanes + lanes - 1) / lanes, program, map);
  }

  static void sum(const SumProgram& program, const SumMap& map) {
    if (!program.steps.empty()) return take_steps(program, map);
    const std::byte* ahead = map.ahead;
    for (const SumRun& run : program.runs) {
      if (map.begin - map.src > run.low || map.end - map.src < run.high) {
        sum_at_edge(run, program, map);
        continue;
      }
      switch (run.vectors) {
        case 1: sum_run<1>(run, program, map, ahead); break;
        case 2: sum_run<2>(run, program, map, ahead); break;
        default: sum_run<4>(run, program, map, ahead); break;
      }
    }
  }
};

#endif

template <class Type>
const SumMapKernel* sum_map_kernel_for() {
  using K = SumMapOf<Type>;
  static constexpr SumMapKernel kernel{K::lanes, K::size, K::sum_size, K::mask_bytes, K::most_vectors, K::sum};
  return &kernel;
}

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
