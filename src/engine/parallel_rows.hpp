// SPDX-License-Identifier: Apache-2.0
// Shares rows of work out over threads, for work that is not a Problem, such as merging tiles.
#pragma once

#include <cstdint>

#include "patchfold/plan.hpp"

namespace patchfold::engine {

/// Calls work(first, last) for ranges that cover [0, rows). Several threads take part if `bytes`, the number of bytes that all rows
/// read and write, is enough for several pieces. work() runs with the default floating-point environment.
Status parallel_rows(std::int64_t rows, double bytes,
                     void (*work)(void* context, std::int64_t first, std::int64_t last) noexcept, void* context,
                     Executor& executor) noexcept;

template <class F>
Status parallel_rows(std::int64_t rows, double bytes, F&& work, Executor& executor) noexcept {
  return parallel_rows(
      rows, bytes,
      [](void* context, std::int64_t first, std::int64_t last) noexcept {
        (*static_cast<std::remove_reference_t<F>*>(context))(first, last);
      },
      &work, executor);
}

}  // namespace patchfold::engine
