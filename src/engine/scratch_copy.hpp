// SPDX-License-Identifier: Apache-2.0
// Copies between tensors and scratch memory, for the strategies that work band by band.
#pragma once

#include <memory>
#include <vector>

#include "base/checked.hpp"
#include "engine/compiled.hpp"
#include "engine/normalise.hpp"
#include "engine/table.hpp"
#include "engine/window.hpp"
#include "kernels/stream.hpp"

namespace patchfold::engine {

/// Returns the bytes that the tensors of a problem span.
inline double spanned_bytes(const Problem& problem) noexcept {
  const auto size = [](ByteRange range) { return static_cast<double>(range.end - range.begin); };
  return size(problem.src_range) + size(problem.dst_range);
}

/// Returns a number of bytes rounded up to whole lines.
inline std::int64_t whole_lines(std::int64_t bytes) noexcept {
  return ceil_div(bytes, kernels::line_bytes) * kernels::line_bytes;
}

/// Returns the bytes from row to row of scratch memory: whole lines, but not whole pages. Rows whole pages apart fall into few sets
/// of a cache.
inline std::int64_t stage_pitch(std::int64_t bytes) noexcept {
  constexpr std::int64_t page = 4096;
  const std::int64_t lines = whole_lines(bytes);
  return lines % page == 0 ? lines + kernels::line_bytes : lines;
}

/// Returns the plan of a copy between a tensor and scratch memory, of elements as in `problem`. `written` decides whether the copy
/// writes past the cache: it is the number of bytes of the whole tensor that is written, or 0 for a copy to scratch memory.
/// `accumulate`: the copy adds to the elements of the destination.
inline std::unique_ptr<Compiled> plan_copy(const Problem& problem, const std::vector<Dim>& axes, std::int64_t written,
                                           bool accumulate = false) {
  Problem copy;
  copy.verb = accumulate ? Verb::combine_sum : Verb::extract;
  copy.accumulate = accumulate;
  copy.dtype = problem.dtype;
  copy.element_size = problem.element_size;
  ByteRange src{0, copy.element_size}, dst{0, copy.element_size};
  for (const Dim& axis : axes) {
    copy.dims.push_back(axis);
    const auto extend = [&](ByteRange& range, std::int64_t reach) { (reach < 0 ? range.begin : range.end) += reach; };
    extend(src, (axis.extent - 1) * axis.src_stride);
    extend(dst, (axis.extent - 1) * axis.dst_stride);
  }
  if (dst.end - dst.begin < written) dst.end = dst.begin + written;
  copy.src_range = src;
  copy.dst_range = dst;
  return plan_normal(merge_dims(drop_single(copy)));
}

}  // namespace patchfold::engine
