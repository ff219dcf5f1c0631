// SPDX-License-Identifier: Apache-2.0
// Planes to blocks: a few streams of small elements are interleaved.
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

class Join final : public WindowlessCopy {
 public:
  /// `aligned`: the destination begins a line.
  explicit Join(const Problem& problem, bool aligned = true) : WindowlessCopy(problem), finish_(kernels::Finish::none) {
    if (problem.verb == Verb::combine_sum) finish_ = kernels::finish_of(problem.dtype);
    // Elements of these types are finished one by one, not several in a unit.
    const bool single =
        finish_ == kernels::Finish::float16 || finish_ == kernels::Finish::bfloat16 || finish_ == kernels::Finish::boolean;
    if (single && unit_ != problem.element_size) return;
    streamed_ = take_streams(counted_, unit_, true);
    row_bytes_ = streamed_.ways.extent * streamed_.along.extent * unit_;
    const std::int64_t rows_apart = streamed_.rows.dst_stride;
    const auto ends_line = [&](std::int64_t bytes) { return store_ == Store::plain || bytes % line_bytes == 0; };
    whole_ = (aligned || store_ == Store::plain) && ends_line(row_bytes_) && ends_line(rows_apart);
    // Dims that step between two rows of a stream are counted inside a group of rows.
    DimList inside, outside;
    for (const Dim& dim : counted_) {
      whole_ &= ends_line(dim.dst_stride);
      (std::abs(dim.dst_stride) < rows_apart ? inside : outside).push_back(dim);
    }
    for (DimList* dims : {&inside, &outside})
      std::ranges::stable_sort(*dims, std::greater(), [](const Dim& dim) { return std::abs(dim.dst_stride); });
    // Rows that are put together first are put together with those between them, if they fill the destination.
    block_bytes_ = row_bytes_;
    const bool upwards = find(inside, [](const Dim& dim) { return dim.dst_stride < 0; }) < 0;
    const bool fill = upwards && row_bytes_ * count_tuples(inside) == rows_apart;
    if (!whole_ && fill && rows_apart <= most_block_bytes) {
      block_bytes_ = rows_apart;
      together_ = inside;
      inside = {};
    }
    const std::int64_t wanted = whole_ ? call_bytes / row_bytes_ : run_bytes / block_bytes_;
    group_ = std::clamp<std::int64_t>(wanted, 1, streamed_.rows.extent);
    groups_ = ceil_div(streamed_.rows.extent, group_);
    if (!whole_) scratch_per_piece_ = ceil_div(group_ * block_bytes_, line_bytes) * line_bytes;
    // Rows that are too long to be put together first are written through the cache, wherever they begin.
    if (!aligned && !fits()) {
      store_ = Store::plain;
      whole_ = true;
      scratch_per_piece_ = 0;
    }
    counted_ = outside;
    counted_.push_back({groups_, group_ * streamed_.rows.src_stride, group_ * rows_apart});
    for (const Dim& dim : inside) counted_.push_back(dim);
    inside_ = count_tuples(inside);
    rows_ = count_tuples(counted_);
    if (aligned && whole_ && store_ == Store::past_cache) misaligned_ = std::make_unique<Join>(problem, false);
  }

  bool fits() const noexcept { return streamed_.ways.extent > 1 && scratch_per_piece_ <= 2 * stage_bytes(); }

  void describe_choices(std::ostream& out) const override {
    out << "group     " << group_ << " rows of " << streamed_.ways.extent << " streams of " << streamed_.along.extent
        << " units of " << unit_ << " bytes" << (whole_ ? "" : ", put together in scratch memory") << "\nfetch     "
        << (store_ == Store::plain ? 0 : fetch_bytes) << " bytes ahead in each stream\nstore     " << name_of(store_)
        << '\n';
  }

 private:
  static constexpr std::int64_t call_bytes = 64 << 10;
  static constexpr std::int64_t most_block_bytes = 16 << 10;  ///< that stay in the first cache
  static constexpr std::int64_t fetch_bytes = 1024;           ///< ahead in each stream

  void run_row(const Row& at) const noexcept override {
    const std::int64_t first = at.index / inside_ % groups_ * group_;
    const std::int64_t rows = std::min(group_, streamed_.rows.extent - first);
    const bool beyond_cache = bytes_ > static_cast<double>(caches().l2);
    const std::int64_t prefetch = beyond_cache ? fetch_bytes : 0;
    Streams streams{streamed_.ways.extent,
                    streamed_.ways.src_stride,
                    streamed_.along.extent,
                    rows,
                    streamed_.rows.dst_stride,
                    streamed_.along.extent * unit_,
                    prefetch};
    if (whole_) return kernels::join(at.dst, at.src, unit_, streams, store_, finish_);
    streams.row_pitch = block_bytes_;
    Counter counter(together_, 0);
    for (std::int64_t i = count_tuples(together_); i > 0; --i, counter.next())
      kernels::join(at.scratch + counter.dst, at.src + counter.src, unit_, streams, Store::plain, finish_);
    Ahead ahead{};
    kernels::copy_rows(at.dst, streamed_.rows.dst_stride, at.scratch, block_bytes_, block_bytes_, rows, store_, ahead);
  }

  kernels::Finish finish_;
  Streamed streamed_{};
  std::int64_t row_bytes_ = 0;
  bool whole_ = true;             // rows are written from registers; otherwise by way of scratch memory, in blocks:
  DimList together_{};            // dims that step within a block
  std::int64_t block_bytes_ = 0;  // from a row to the next of the same streams
  std::int64_t group_ = 1;
  std::int64_t groups_ = 1;
  std::int64_t inside_ = 1;
};

}  // namespace

bool join_pays(const Problem& problem) {
  return streams_pay(problem, true);
}

std::unique_ptr<Compiled> make_join(const Problem& problem) {
  const bool copies = problem.verb != Verb::combine_sum || !problem.accumulate;
  return copies && problem.windows.empty() ? if_fits<Join>(problem) : nullptr;
}

}  // namespace patchfold::engine
