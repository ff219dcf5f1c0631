// SPDX-License-Identifier: Apache-2.0
// What the copies without windows share: split, join, gather, strided.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/compiled.hpp"
#include "engine/machine.hpp"
#include "engine/normalise.hpp"
#include "engine/problem.hpp"
#include "engine/walk.hpp"

namespace patchfold::engine {

/// A copy of a problem that has dims only. In the normal form dims are ordered by destination stride. A strategy takes two
/// or three dims out of `counted_` for its kernel and sets `rows_`; each tuple of the dims that are left is a row of work.
class WindowlessCopy : public Compiled {
 public:
  explicit WindowlessCopy(const Problem& problem) : Compiled(problem), counted_(problem.dims), store_(store_of(problem)) {
    bytes_ = 2.0 * static_cast<double>(problem.element_size);
    for (const Dim& dim : problem.dims) bytes_ *= static_cast<double>(dim.extent);
    Problem rest = problem;
    unit_ = take_unit(rest);
    counted_ = rest.dims;
  }

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte* scratch) const noexcept override {
    Counter counter(counted_, first);
    const std::byte* src_end = src + problem_.src_range.end;
    src += problem_.src_offset;
    dst += problem_.dst_offset;
    for (std::int64_t row = first; row < last; ++row) {
      const Counter here = counter;
      counter.next();
      run_row({src + here.src, dst + here.dst, row, row + 1 < last ? src + counter.src : nullptr, src_end, scratch});
    }
    if (store_ == kernels::Store::past_cache) kernels::finish_stores();
  }

 protected:
  struct Row {
    const std::byte* src = nullptr;
    std::byte* dst = nullptr;
    std::int64_t index = 0;
    const std::byte* next_src = nullptr;  ///< where the next row begins, if there is one
    const std::byte* src_end = nullptr;   ///< of the tensor
    std::byte* scratch = nullptr;
  };
  virtual void run_row(const Row& row) const noexcept = 0;

  std::int64_t unit_ = 1;
  DimList counted_;
  kernels::Store store_;
};

}  // namespace patchfold::engine
