// SPDX-License-Identifier: Apache-2.0
// Blocks to planes: small elements that lie together in the source go to a few streams of the destination.
#include <algorithm>
#include <functional>
#include <ostream>

#include "engine/copies/copies.hpp"
#include "engine/copies/streams.hpp"
#include "kernels/blocks.hpp"
#include "tensor/checked.hpp"

namespace patchfold::engine {
namespace {

using kernels::Ahead;
using kernels::line_bytes;
using kernels::Store;
using kernels::Streams;

/// Source rows are split in groups of rows; what a group reads lies together, also where other dims step between its rows.
class Split final : public WindowlessCopy {
 public:
  explicit Split(const Problem& problem) : WindowlessCopy(problem), streamed_(take_streams(counted_, unit_, false)) {
    const std::int64_t row_bytes = streamed_.along.extent * unit_;
    const std::int64_t wanted = std::max<std::int64_t>(1, run_bytes / row_bytes);
    groups_ = ceil_div(streamed_.rows.extent, wanted);
    group_ = ceil_div(streamed_.rows.extent, groups_);
    groups_ = ceil_div(streamed_.rows.extent, group_);
    // Dims that step within a row of the source are counted inside a group, all others outside.
    DimList inside, outside;
    for (const Dim& dim : counted_)
      (streamed_.rows.extent > 1 && std::abs(dim.src_stride) < streamed_.rows.src_stride ? inside : outside).push_back(dim);
    std::ranges::stable_sort(outside, std::greater(), [](const Dim& dim) { return std::abs(dim.src_stride); });
    inside_ = count_tuples(inside);
    counted_ = outside;
    counted_.push_back({groups_, group_ * streamed_.rows.src_stride, group_ * streamed_.rows.dst_stride});
    for (const Dim& dim : inside) counted_.push_back(dim);
    rows_ = count_tuples(counted_);
    stream_pitch_ = group_ * row_bytes + line_bytes;
    if (store_ == Store::past_cache) scratch_per_piece_ = ceil_div(streamed_.ways.extent * stream_pitch_, 64) * 64;
    rows_ahead_ = std::max<std::int64_t>(1, fetch_bytes / (row_bytes * streamed_.ways.extent));
  }

  bool fits() const noexcept { return streamed_.ways.extent > 1 && scratch_per_piece_ <= 2 * stage_bytes(); }

  void describe_choices(std::ostream& out) const override {
    out << "group     " << streamed_.ways.extent << " streams of " << group_ << " rows of " << streamed_.along.extent
        << " units of " << unit_ << " bytes\nfetch     " << (store_ == Store::plain ? 0 : rows_ahead_)
        << " rows ahead\nstore     " << name_of(store_) << '\n';
  }

 private:
  static constexpr std::int64_t fetch_bytes = 8192;  ///< of the rows that are split, fetched ahead

  void run_row(const Row& at) const noexcept override {
    const std::int64_t first = at.index / inside_ % groups_ * group_;
    const std::int64_t rows = std::min(group_, streamed_.rows.extent - first);
    const std::int64_t row_bytes = streamed_.along.extent * unit_;
    Streams streams{streamed_.ways.extent,
                    streamed_.ways.dst_stride,
                    streamed_.along.extent,
                    rows,
                    streamed_.rows.src_stride,
                    row_bytes,
                    0};
    if (store_ == Store::plain) return kernels::split(at.dst, at.src, unit_, streams, store_);
    streams.prefetch = rows_ahead_ * streamed_.rows.src_stride;
    const std::int64_t bytes = rows * row_bytes;
    const auto lines =
        reinterpret_cast<std::uintptr_t>(at.dst) | static_cast<std::uintptr_t>(streamed_.ways.dst_stride | bytes);
    if (lines % line_bytes == 0 && kernels::streams_whole(unit_, streams))
      return kernels::split(at.dst, at.src, unit_, streams, store_);
    streams.pitch = stream_pitch_;
    kernels::split(at.scratch, at.src, unit_, streams, Store::plain);
    Ahead ahead{};
    for (std::int64_t way = 0; way < streams.ways; ++way)
      kernels::copy_rows(at.dst + way * streamed_.ways.dst_stride, bytes, at.scratch + way * stream_pitch_, bytes, bytes, 1,
                         store_, ahead);
  }

  Streamed streamed_;
  std::int64_t group_ = 1;
  std::int64_t groups_ = 1;
  std::int64_t inside_ = 1;  // tuples of dims counted inside a group
  std::int64_t stream_pitch_ = 0;
  std::int64_t rows_ahead_ = 1;
};

}  // namespace

bool split_pays(const Problem& problem) {
  return streams_pay(problem, false);
}

std::unique_ptr<Compiled> make_split(const Problem& problem) {
  return problem.verb != Verb::combine_sum && problem.windows.empty() ? if_fits<Split>(problem) : nullptr;
}

}  // namespace patchfold::engine
