// SPDX-License-Identifier: Apache-2.0
// What the strategies that work band by band share.
#pragma once

#include <cstdlib>
#include <memory>
#include <vector>

#include "engine/compiled.hpp"
#include "engine/normalise.hpp"
#include "engine/table.hpp"
#include "kernels/stream.hpp"
#include "tensor/checked.hpp"

namespace patchfold::engine {

/// Whether no number of a problem is so large that the arithmetic of bands could overflow.
inline bool are_near(const Problem& problem) noexcept {
  constexpr std::int64_t far = std::int64_t{1} << 30;
  for (const Window& w : problem.windows)
    if (w.kernel < 1 || w.positions < 1 || w.extent < 1 || w.dilation < 1 || w.kernel > far || w.positions > far ||
        w.extent > far || w.dilation > far || w.stride > far || std::abs(w.pad_begin) > far)
      return false;
  return true;
}

/// Bytes that the tensors of a problem span.
inline double spanned_bytes(const Problem& problem) noexcept {
  const auto size = [](ByteRange range) { return static_cast<double>(range.end - range.begin); };
  return size(problem.src_range) + size(problem.dst_range);
}

/// Bytes of both tensors below which the plans of bands of sums take longer than they save.
inline constexpr double least_banded = 32 << 10;

/// The next number of bytes that is whole lines.
inline std::int64_t whole_lines(std::int64_t bytes) noexcept {
  return ceil_div(bytes, kernels::line_bytes) * kernels::line_bytes;
}

/// A copy between a tensor and scratch memory, of elements as `problem` has them. `written`: bytes of the whole tensor of
/// which it writes a part, 0 if it writes scratch memory; they tell whether to write past the cache. `accumulate`: it adds
/// to what is there.
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
