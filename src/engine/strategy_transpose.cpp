// SPDX-License-Identifier: Apache-2.0
// Matrices of small elements.
#include <algorithm>
#include <ostream>

#include "engine/strategy.hpp"
#include "engine/windowless.hpp"
#include "kernels/blocks.hpp"
#include "tensor/checked.hpp"

namespace patchfold::engine {
namespace {

using kernels::line_bytes;
using kernels::Store;

class Transpose final : public WindowlessCopy {
 public:
  explicit Transpose(const Problem& problem) : WindowlessCopy(problem) {
    if (!kernels::has_vectors(unit_, 2)) return;
    columns_ = take(counted_, find(counted_, [&](const Dim& d) { return d.dst_stride == unit_; }));
    lines_ = take(counted_, find(counted_, [&](const Dim& d) { return d.src_stride == unit_; }));
    // Blocks of the source's lines, so that threads can share one matrix and its columns stay in the cache.
    block_ = std::max<std::int64_t>(line_bytes / unit_, block_bytes / (columns_.extent * unit_) / 16 * 16);
    block_ = std::min(block_, lines_.extent);
    blocks_ = ceil_div(lines_.extent, block_);
    counted_.push_back({blocks_, block_ * unit_, block_ * lines_.dst_stride});
    rows_ = count_tuples(counted_);
    store_ = Store::plain;
  }

  bool fits() const noexcept { return columns_.extent >= least && lines_.extent >= least; }

  void describe_choices(std::ostream& out) const override {
    out << "block     " << block_ << " by " << columns_.extent << " units of " << unit_ << " bytes\nstore     "
        << name_of(store_) << '\n';
  }

 private:
  static constexpr std::int64_t block_bytes = 64 << 10;
  static constexpr std::int64_t least = 8;  ///< elements of a row or a column: fewer do not fill a block of registers

  void run_row(const Row& at) const noexcept override {
    const std::int64_t first = at.index % blocks_ * block_;
    kernels::transpose(at.dst, lines_.dst_stride, at.src, columns_.src_stride, unit_,
                       std::min(block_, lines_.extent - first), columns_.extent);
  }

  Dim columns_{};  // side by side in the destination
  Dim lines_{};    // side by side in the source
  std::int64_t block_ = 1;
  std::int64_t blocks_ = 1;
};

}  // namespace

std::unique_ptr<Compiled> make_transpose(const Problem& problem) {
  return problem.verb != Verb::combine_sum && problem.windows.empty() ? if_fits<Transpose>(problem) : nullptr;
}

}  // namespace patchfold::engine
