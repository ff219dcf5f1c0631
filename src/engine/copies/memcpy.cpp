// SPDX-License-Identifier: Apache-2.0
// The strategy "memcpy": one contiguous run of bytes on both sides, cut into rows of a fixed size, so that threads can
// share it.
#include <algorithm>

#include "base/checked.hpp"
#include "engine/copies/copies.hpp"
#include "engine/machine.hpp"
#include "engine/normalise.hpp"
#include "engine/rows.hpp"
#include "kernels/stream.hpp"

namespace patchfold::engine {
namespace {

/// A plan of the strategy. The source is one unit without gaps, and so is the destination.
class Memcpy final : public Compiled {
 public:
  explicit Memcpy(Problem problem) : Compiled(problem), store_(store_of(problem)) {
    size_ = take_unit(problem);
    rows_ = ceil_div(size_, chunk_bytes);
    bytes_ = 2.0 * static_cast<double>(size_);
  }

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte*) const noexcept override {
    const std::int64_t begin = first * chunk_bytes;
    const std::int64_t bytes = std::min(last * chunk_bytes, size_) - begin;
    kernels::Ahead ahead{};
    kernels::copy_rows(dst + problem_.dst_offset + begin, bytes, src + problem_.src_offset + begin, bytes, bytes, 1, store_,
                       ahead);
    if (store_ == kernels::Store::past_cache) kernels::finish_stores();
  }

 private:
  std::int64_t size_ = 0;
  kernels::Store store_;
};

}  // namespace

std::unique_ptr<Compiled> make_memcpy(const Problem& problem) {
  if (problem.verb == Verb::combine_sum || !problem.windows.empty()) return nullptr;
  Problem rest = problem;
  take_unit(rest);
  return rest.dims.empty() ? std::make_unique<Memcpy>(problem) : nullptr;
}

}  // namespace patchfold::engine
