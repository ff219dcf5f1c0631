// SPDX-License-Identifier: Apache-2.0
// Problems whose tensors need not be row-major in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "patchfold/table.hpp"

namespace patchfold::bench {

/// The layout of a tensor in memory. The last two axes are called H and W.
enum class MemoryLayout : std::uint8_t {
  plain,          ///< row-major
  channels_last,  ///< axis 1 is the last one in memory
  swapped,        ///< H and W are exchanged in memory
  flipped,        ///< the last row comes first in memory
  mirrored,       ///< the last element of each row comes first in memory
  cropped,        ///< before each row one element is skipped, after it two
  every_second,   ///< every second element is skipped
  tokens,         ///< for columns: one patch after another, each with its elements side by side
};

}  // namespace patchfold::bench

template <>
inline constexpr auto patchfold::words<patchfold::bench::MemoryLayout> = [] {
  using enum bench::MemoryLayout;
  return std::to_array<Word<bench::MemoryLayout>>({{plain, "plain"},
                                                   {channels_last, "channels_last"},
                                                   {swapped, "swapped"},
                                                   {flipped, "flipped"},
                                                   {mirrored, "mirrored"},
                                                   {cropped, "cropped"},
                                                   {every_second, "every_second"},
                                                   {tokens, "tokens"}});
}();

namespace patchfold::bench {

/// Where a tensor's elements lie in a piece of memory.
struct Placement {
  Dims strides{};          ///< in bytes
  std::size_t offset = 0;  ///< bytes from the beginning of the memory to the element with index 0 on all axes
  std::size_t bytes = 0;   ///< size of the memory, gaps included
};

/// Returns where the elements lie. Throws Error(usage) if the layout exchanges or reverses an axis that the shape lacks, and
/// Error(overflow).
Placement place(MemoryLayout layout, const Dims& shape, std::size_t element_size);

/// A problem and the layout of each of its tensors. Its text is a problem string, then src=LAYOUT and dst=LAYOUT for layouts that
/// are not plain.
struct PlacedProblem {
  ProblemText problem{};
  MemoryLayout src = MemoryLayout::plain;
  MemoryLayout dst = MemoryLayout::plain;
};

/// Returns the problem that a text describes. Throws Error(usage), as parse_problem() does, if the text describes none, or
/// names an unknown layout.
PlacedProblem parse_placed(std::string_view text);
std::string to_string(const PlacedProblem& placed);

/// The plan of a placed problem, and the sizes of the memory that it needs.
struct PlacedPlan {
  Plan plan{};
  Placement src{};
  Placement dst{};

  /// Runs the plan on memory that begins at `src_memory` and `dst_memory`. Throws Error if the run fails.
  void run(const std::byte* src_memory, std::byte* dst_memory, Executor& executor, std::string_view op) const {
    throw_if_failed(plan.run(src_memory + src.offset, dst_memory + dst.offset, executor), op);
  }
};

/// Returns the plan of a problem. Throws Error for a problem that cannot be planned.
PlacedPlan plan_of(const PlacedProblem& placed);

}  // namespace patchfold::bench
