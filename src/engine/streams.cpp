// SPDX-License-Identifier: Apache-2.0
// Blocks to planes and planes to blocks: small elements that lie together on one side and in streams on the other.
#include <algorithm>
#include <array>
#include <ostream>

#include "engine/block_plan.hpp"
#include "engine/blocks.hpp"
#include "kernels/blocks.hpp"
#include "tensor/checked.hpp"

namespace patchfold::engine {
namespace {

using kernels::Ahead;
using kernels::line_bytes;
using kernels::Store;
using kernels::Streams;

/// Bytes that are worth writing past the cache in one go: partial lines at their ends are read first (arbitrary: 64 lines).
constexpr std::int64_t run_bytes = 4096;

/// Of the dims of a split or a join, those that the kernel takes. For a split "apart" is the destination, for a join the
/// source: the side where a stream is contiguous.
struct Streamed {
  Dim ways{};
  Dim along{};
  Dim rows{};  ///< continues the streams
};

std::int64_t apart(const Dim& dim, bool joins) {
  return joins ? dim.src_stride : dim.dst_stride;
}
std::int64_t together(const Dim& dim, bool joins) {
  return joins ? dim.dst_stride : dim.src_stride;
}

/// Takes the streams' dims out of `dims`; ways.extent is 1 if there are none.
Streamed take_streams(DimList& dims, std::int64_t unit, bool joins) {
  DimList rest = dims;
  Streamed streamed;
  streamed.ways = take(
      rest, find(rest, [&](const Dim& d) { return together(d, joins) == unit && kernels::has_vectors(unit, d.extent); }));
  if (streamed.ways.extent == 1) return {};
  streamed.along = take(rest, find(rest, [&](const Dim& d) {
                          return apart(d, joins) == unit && together(d, joins) == streamed.ways.extent * unit;
                        }));
  if (streamed.along.extent * unit * streamed.ways.extent < line_bytes) return {};
  streamed.rows = take(rest, find(rest, [&](const Dim& d) {
                         return apart(d, joins) == streamed.along.extent * unit && together(d, joins) > 0;
                       }));
  dims = rest;
  return streamed;
}

/// Source rows are split in groups of rows; what a group reads lies together, also where other dims step between its rows.
class Split final : public Blocks {
 public:
  explicit Split(const Problem& problem) : Blocks(problem), streamed_(take_streams(counted_, unit_, false)) {
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
    out << "tile      " << streamed_.ways.extent << " streams of " << group_ << " rows of " << streamed_.along.extent
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

class Join final : public Blocks {
 public:
  /// `aligned`: the destination begins a line.
  explicit Join(const Problem& problem, bool aligned = true) : Blocks(problem), finish_(kernels::Finish::none) {
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
    out << "tile      " << group_ << " rows of " << streamed_.ways.extent << " streams of " << streamed_.along.extent
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

std::unique_ptr<Compiled> make_split(const Problem& problem) {
  return problem.verb != Verb::combine_sum && problem.windows.empty() ? if_fits<Split>(problem) : nullptr;
}

std::unique_ptr<Compiled> make_join(const Problem& problem) {
  const bool copies = problem.verb != Verb::combine_sum || !problem.accumulate;
  return copies && problem.windows.empty() ? if_fits<Join>(problem) : nullptr;
}

}  // namespace patchfold::engine
