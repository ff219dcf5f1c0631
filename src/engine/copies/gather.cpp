// SPDX-License-Identifier: Apache-2.0
// Pieces of any size, collected from the source in the order of the destination.
#include <algorithm>
#include <array>
#include <ostream>

#include "engine/copies/copies.hpp"
#include "engine/copies/planes.hpp"
#include "engine/copies/windowless.hpp"
#include "kernels/blocks.hpp"
#include "tensor/checked.hpp"

namespace patchfold::engine {
namespace {

using kernels::Ahead;
using kernels::line_bytes;
using kernels::Store;

class Gather final : public WindowlessCopy {
 public:
  explicit Gather(const Problem& problem) : WindowlessCopy(problem) {
    const Dim inner = take(counted_, find(counted_, [&](const Dim& d) { return d.dst_stride == unit_; }));
    if (inner.extent == 1) return;
    steps_ = inner;
    const int outer = find(counted_, [&](const Dim& d) { return d.dst_stride == inner.extent * unit_; });
    if (inner.extent <= most_ways && outer >= 0) {
      ways_ = inner;
      steps_ = take(counted_, outer);
    }
    const std::int64_t group = ways_.extent * unit_;
    // Long runs are cut so that threads can share them.
    block_ = std::clamp<std::int64_t>(block_bytes / group / line_bytes * line_bytes, 1, steps_.extent);
    blocks_ = ceil_div(steps_.extent, block_);
    if (block_ * group < line_bytes * 8) store_ = Store::plain;
    // The innermost dims read the same part of the source again and again, before the next part is read.
    const std::int64_t reach = std::abs(steps_.src_stride) * block_;
    int i = counted_.size() - 1;
    for (; blocks_ == 1 && ways_.extent == 1 && i >= 0 && std::abs(counted_[i].src_stride) < reach; --i)
      again_ *= counted_[i].extent;
    if (i >= 0) next_part_ = counted_[i].src_stride;
    counted_.push_back({blocks_, block_ * steps_.src_stride, block_ * group});
    rows_ = count_tuples(counted_);
    fits_ = true;
  }

  bool fits() const noexcept { return fits_; }

  void describe_choices(std::ostream& out) const override {
    out << "block     " << block_ << " groups of " << ways_.extent << " pieces of " << unit_ << " bytes\nfetch     "
        << (store_ == Store::plain ? "nothing" : "the part of the source that is next") << "\nstore     " << name_of(store_)
        << '\n';
  }

 private:
  static constexpr std::int64_t most_ways = 32;
  static constexpr std::int64_t block_bytes = 256 << 10;

  void run_row(const Row& at) const noexcept override {
    const std::int64_t first = at.index % blocks_ * block_;
    const std::int64_t count = std::min(block_, steps_.extent - first);
    Ahead ahead{};
    if (store_ == Store::past_cache && at.next_src != nullptr)
      ahead = again_ == 1 ? ahead_of(at.next_src, count) : share_of_next(at, count);
    if (ways_.extent == 1 && unit_ >= 2 * line_bytes)
      return kernels::copy_rows(at.dst, unit_, at.src, steps_.src_stride, unit_, count, store_, ahead);
    std::array<const std::byte*, most_ways> rows;
    for (std::int64_t way = 0; way < ways_.extent; ++way)
      rows[static_cast<std::size_t>(way)] = at.src + way * ways_.src_stride;
    kernels::gather(at.dst, {rows.data(), ways_.extent, steps_.src_stride, unit_, at.src_end}, count, store_, ahead);
  }

  Ahead ahead_of(const std::byte* src, std::int64_t count) const noexcept {
    Ahead ahead;
    ahead.group = src;
    const std::int64_t row_bytes = std::max(unit_, count * steps_.src_stride);
    // Where pieces lie far apart, most lines of the row are not read, and fetching them all takes far longer than it saves.
    if (row_bytes > 4 * count * ways_.extent * unit_) return {};
    ahead.row_lines = ceil_div(row_bytes, line_bytes);
    const bool rows = ways_.src_stride >= row_bytes;
    ahead.pitch = ways_.src_stride;
    ahead.rows = rows ? ways_.extent : 1;
    ahead.spread_over(count * ways_.extent * unit_ / line_bytes);
    return ahead;
  }

  /// Of the part of the source that is next, what this one of the calls that read the same part fetches.
  Ahead share_of_next(const Row& at, std::int64_t count) const noexcept {
    Ahead ahead;
    ahead.rows = 1;
    ahead.row_lines = ceil_div(count * std::abs(steps_.src_stride), again_ * line_bytes);
    ahead.group = at.src + next_part_ + at.index % again_ * ahead.row_lines * line_bytes;
    ahead.spread_over(count * unit_ / line_bytes);
    return ahead;
  }

  Dim ways_{};
  Dim steps_{};
  std::int64_t block_ = 1;
  std::int64_t blocks_ = 1;
  std::int64_t again_ = 1;      // calls that read the same part of the source
  std::int64_t next_part_ = 0;  // bytes to the part that is read after them
  bool fits_ = false;
};

}  // namespace

bool gather_pays(const Problem& problem) {
  // Bytes of a piece, and of the destination that pieces fill without a break: less is faster by way of bricks.
  constexpr std::int64_t least_piece = 12, least_run = 8 << 10;
  Problem rest = problem;
  std::int64_t run = take_unit(rest);
  if (run > longest_plane_unit) return true;
  if (run < least_piece || store_of(problem) != Store::past_cache) return false;
  // The innermost dim, and the one that continues it.
  for (int i = rest.dims.size() - 1; i >= std::max(0, rest.dims.size() - 2) && rest.dims[i].dst_stride == run; --i)
    run *= rest.dims[i].extent;
  return run >= least_run;
}

std::unique_ptr<Compiled> make_gather(const Problem& problem) {
  return problem.verb != Verb::combine_sum && problem.windows.empty() ? if_fits<Gather>(problem) : nullptr;
}

}  // namespace patchfold::engine
