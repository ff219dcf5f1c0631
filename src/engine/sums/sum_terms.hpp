// SPDX-License-Identifier: Apache-2.0
// The terms of a sum in their order: where the column of each tuple of taps lies, in ascending order of the taps.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "engine/problem.hpp"
#include "engine/sums/sum_phase.hpp"
#include "engine/window.hpp"
#include "kernels/panel.hpp"

namespace patchfold::engine {

/// The taps of each window that point at some rows. Those of the window along the row differ by phase and are not here.
using RowTaps = std::array<Taps, max_axes>;

struct SumTerms {
  std::span<const kernels::PanelTerm> terms{};
  std::int64_t low = 0;  ///< of their offsets
  std::int64_t high = 0;
};

/// Lists the terms of a phase. `along` is the window along the row, or -1; `list` and `offsets` hold as many items as there
/// are tuples of taps.
inline SumTerms list_terms(const RowTaps& taps, int windows, int along, const SumPhase& phase, kernels::PanelTerm* list,
                           std::int64_t* offsets) noexcept {
  const auto expand = [&](int from, int to, std::int64_t* at) {
    std::int64_t count = 1;
    at[0] = 0;
    for (int i = from; i < to && count > 0; ++i) {
      const Taps& t = taps[static_cast<std::size_t>(i)];
      // In place, from the end: each offset becomes as many as the window has taps.
      for (std::int64_t k = count - 1; k >= 0; --k)
        for (std::int64_t q = t.count - 1; q >= 0; --q) at[k * t.count + q] = at[k] + t.offset + q * t.step;
      count *= t.count;
    }
    return count;
  };
  const std::int64_t befores = expand(0, std::max(0, along), offsets);
  std::int64_t* after = offsets + befores;
  const std::int64_t afters = expand(along + 1, windows, after);
  std::size_t count = 0;
  SumTerms terms;
  for (std::int64_t b = 0; b < befores; ++b)
    for (std::size_t t = 0; t < phase.taps.size(); ++t)
      for (std::int64_t a = 0; a < afters; ++a) {
        const std::int64_t offset = offsets[b] + phase.taps[t].offset + after[a];
        terms.low = count == 0 ? offset : std::min(terms.low, offset);
        terms.high = count == 0 ? offset : std::max(terms.high, offset);
        list[count++] = {offset, static_cast<std::int64_t>(t)};
      }
  terms.terms = {list, count};
  return terms;
}

}  // namespace patchfold::engine
