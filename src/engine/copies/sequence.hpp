// SPDX-License-Identifier: Apache-2.0
// Problems that are cut into parts.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/compiled.hpp"

namespace patchfold::engine {

/// Plans one after the other: their rows count through all of them.
class Sequence final : public Compiled {
 public:
  explicit Sequence(const Problem& problem) : Compiled(problem) {}

  void add(std::unique_ptr<Compiled> part) {
    rows_ += part->rows();
    bytes_ += part->bytes();
    scratch_per_piece_ = std::max(scratch_per_piece_, part->scratch_per_piece());
    ends_.push_back(rows_);
    parts_.push_back(std::move(part));
  }

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte* scratch) const noexcept override {
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < parts_.size(); begin = ends_[i++]) {
      const std::int64_t from = std::max(first, begin), to = std::min(last, ends_[i]);
      if (from < to) parts_[i]->run_rows(src, dst, from - begin, to - begin, scratch);
    }
  }

 private:
  std::vector<std::unique_ptr<Compiled>> parts_{};
  std::vector<std::int64_t> ends_{};
};

}  // namespace patchfold::engine
