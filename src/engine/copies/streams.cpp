// SPDX-License-Identifier: Apache-2.0
// The strategy "streams": blocks to planes and back. Small elements lie together on one side and form a few streams on the other
// side. A split reads rows and writes streams, a join reads streams and writes rows; elements are rearranged in registers.
#include <algorithm>
#include <functional>
#include <optional>
#include <ostream>

#include "base/checked.hpp"
#include "engine/copies/copies.hpp"
#include "engine/machine.hpp"
#include "engine/normalise.hpp"
#include "engine/scratch_copy.hpp"
#include "engine/walk.hpp"
#include "kernels/blocks.hpp"

namespace patchfold::engine {
namespace {

using kernels::line_bytes;
using kernels::Store;

/// The dims of one call of a kernel. A row lies on the side where elements lie together, and holds `along` times one element
/// of each of the `ways` streams. From row to row, along the dim `rows`, the streams continue.
struct StreamDims {
  bool joins = false;
  std::int64_t unit = 1;
  Dim ways{}, along{}, rows{};
  DimList outside{}, inside{};  ///< the other dims; those in `inside` have shorter steps than `rows`
  std::int64_t stream_bytes() const noexcept { return along.extent * unit; }  ///< bytes of a stream in a row
  std::int64_t row_bytes() const noexcept { return ways.extent * stream_bytes(); }
  std::int64_t together(const Dim& dim) const noexcept { return joins ? dim.dst_stride : dim.src_stride; }
  std::int64_t apart(const Dim& dim) const noexcept { return joins ? dim.src_stride : dim.dst_stride; }
};

std::optional<StreamDims> find_streams(const Problem& problem, bool joins) {
  if (!problem.windows.empty() || (problem.verb == Verb::combine_sum && (!joins || problem.accumulate))) return std::nullopt;
  Problem rest = problem;
  StreamDims dims;
  dims.joins = joins;
  const std::int64_t unit = dims.unit = take_unit(rest);
  if (problem.verb == Verb::combine_sum && unit != problem.element_size) {
    // A unit of several elements can be finished only by Finish::none, float32 and float64.
    using kernels::Finish;
    const Finish finish = kernels::finish_of(problem.dtype);
    if (finish != Finish::none && finish != Finish::float32 && finish != Finish::float64) return std::nullopt;
  }
  dims.ways =
      take(rest.dims,
           find(rest.dims, [&](const Dim& d) { return dims.together(d) == unit && kernels::has_vectors(unit, d.extent); }));
  if (dims.ways.extent == 1) return std::nullopt;
  dims.along = take(rest.dims, find(rest.dims, [&](const Dim& d) {
                      return dims.apart(d) == unit && dims.together(d) == dims.ways.extent * unit;
                    }));
  if (dims.row_bytes() < line_bytes) return std::nullopt;
  dims.rows =
      take(rest.dims,
           find(rest.dims, [&](const Dim& d) { return dims.apart(d) == dims.stream_bytes() && dims.together(d) > 0; }));
  for (const Dim& dim : rest.dims)
    (std::abs(dims.together(dim)) < dims.together(dims.rows) ? dims.inside : dims.outside).push_back(dim);
  std::ranges::stable_sort(dims.outside, std::greater(), [&](const Dim& dim) { return std::abs(dims.together(dim)); });
  return dims;
}

/// Returns whether streams are faster than bricks (strategy "strided").
///   rows              must continue the streams, or a single row must be long
///   2 to 4 streams    are faster if a row fills a vector, except when 3 are split past the cache. Within the cache a split is not
///                     faster than bricks, but bricks take longer to plan
///   all others        are faster past the cache only, if a row has a few lines: 256 bytes, or one line for two or three
///                     streams of elements of 1 or 2 bytes
bool pay(const Problem& problem, const StreamDims& dims) {
  // Bytes of the shortest row for which few streams are faster (arbitrary: two vectors of SSE4), and of the shortest row that is
  // worth a call of its own.
  constexpr std::int64_t shortest = 32, shortest_single = 1024;
  const std::int64_t ways = dims.ways.extent, row_bytes = dims.stream_bytes();
  if (dims.rows.extent == 1 && row_bytes < shortest_single) return false;
  const bool past_cache = store_of(problem) == Store::past_cache;
  constexpr double small = 1 << 20;  // bytes
  const bool few = ways == 2 || ways == 4 || (ways == 3 && (dims.joins || !past_cache));
  if (few && (dims.joins || past_cache || spanned_bytes(problem) < small) &&
      row_bytes >= std::max(shortest, kernels::vector_bytes()))
    return true;
  return past_cache && row_bytes >= (dims.unit <= 2 && ways <= 3 ? line_bytes : 256);
}

/// Returns the dims for splitting or joining, whichever pays, or else the first of them that fits.
std::optional<StreamDims> choose(const Problem& problem) {
  std::optional<StreamDims> split = find_streams(problem, false), join = find_streams(problem, true);
  return split && (!join || pay(problem, *split) || !pay(problem, *join)) ? split : join;
}

/// A plan of the strategy. Rows are handled in groups, and each group is written past the cache at once: the streams of some rows
/// (split), or neighbouring rows (join). If the destination does not begin a line, lines are put together in scratch memory first.
class StreamCopy final : public Compiled {
 public:
  StreamCopy(const Problem& problem, const StreamDims& dims) : Compiled(problem), dims_(dims), store_(store_of(problem)) {
    if (problem.verb == Verb::combine_sum) finish_ = kernels::finish_of(problem.dtype);
    block_bytes_ = dims_.joins ? dims_.row_bytes() : dims_.stream_bytes();
    counted_ = dims_.outside;
    DimList inside = dims_.inside;
    const std::int64_t apart = dims_.together(dims_.rows);
    const bool upwards = find(inside, [](const Dim& dim) { return dim.dst_stride < 0; }) < 0;
    const bool past_cache = store_ == Store::past_cache;
    if (dims_.joins && past_cache && upwards && dims_.row_bytes() * count_tuples(inside) == apart &&
        apart <= most_block_bytes) {
      block_bytes_ = apart;
      together_ = std::exchange(inside, {});
    }
    const std::int64_t most = !dims_.joins ? most_stream_bytes : past_cache ? most_block_bytes : most_call_bytes;
    group_ = std::clamp<std::int64_t>(most / block_bytes_, 1, dims_.rows.extent);
    group_ = ceil_div(dims_.rows.extent, ceil_div(dims_.rows.extent, group_));
    groups_ = ceil_div(dims_.rows.extent, group_);
    counted_.push_back({groups_, group_ * dims_.rows.src_stride, group_ * dims_.rows.dst_stride});
    for (const Dim& dim : inside) counted_.push_back(dim);
    inside_ = count_tuples(inside);
    rows_ = count_tuples(counted_);
    bytes_ = 2.0 * static_cast<double>(dims_.row_bytes()) *
             static_cast<double>(dims_.rows.extent * count_tuples(dims_.inside) * count_tuples(dims_.outside));
    pitch_ = group_ * block_bytes_ + line_bytes;
    const std::int64_t scratch = dims_.joins ? pitch_ : dims_.ways.extent * pitch_;
    // A group that is too long for scratch memory is written through the cache.
    if (past_cache && scratch <= 2 * stage_bytes()) scratch_per_piece_ = whole_lines(scratch);
  }

  void describe_choices(std::ostream& out) const override {
    out << "group     " << group_ << " rows of " << dims_.ways.extent << " streams of " << dims_.along.extent << " units of "
        << dims_.unit << " bytes, " << (dims_.joins ? "joined" : "split") << "\nstore     " << name_of(store_) << '\n';
  }

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte* scratch) const noexcept override {
    Counter counter(counted_, first);
    src += problem_.src_offset;
    dst += problem_.dst_offset;
    for (std::int64_t row = first; row < last; ++row, counter.next()) {
      const std::int64_t done = row / inside_ % groups_ * group_, rows = std::min(group_, dims_.rows.extent - done);
      dims_.joins ? join(src + counter.src, dst + counter.dst, rows, scratch)
                  : split(src + counter.src, dst + counter.dst, rows, scratch);
    }
    if (store_ == Store::past_cache) kernels::finish_stores();
  }

 private:
  static constexpr std::int64_t most_stream_bytes = 4096;     ///< of one write; lines that it fills in part are read first
  static constexpr std::int64_t most_block_bytes = 16 << 10;  ///< written at a time, so that they stay in the first cache
  static constexpr std::int64_t most_call_bytes = 64 << 10;   ///< joined in one call within the cache
  static constexpr std::int64_t split_ahead = 8192;           ///< bytes of rows that are prefetched by a split
  static constexpr std::int64_t join_ahead = 1024;            ///< bytes of each stream that are prefetched by a join

  kernels::Streams streams(std::int64_t rows) const noexcept {
    return {dims_.ways.extent,
            dims_.apart(dims_.ways),
            dims_.along.extent,
            rows,
            dims_.together(dims_.rows),
            dims_.stream_bytes(),
            0};
  }

  /// Returns whether the kernel writes to `dst` itself: if there is no scratch memory, or if it can write whole lines. For
  /// whole lines, `dst` must begin a line, and `step` must be a multiple of a line.
  bool is_whole(const std::byte* dst, std::int64_t step, const kernels::Streams& streams) const noexcept {
    const auto lines = reinterpret_cast<std::uintptr_t>(dst) | static_cast<std::uintptr_t>(step);
    return scratch_per_piece_ == 0 || (lines % line_bytes == 0 && kernels::streams_whole(dims_.unit, streams));
  }

  void split(const std::byte* src, std::byte* dst, std::int64_t rows, std::byte* scratch) const noexcept {
    kernels::Streams streams = this->streams(rows);
    const std::int64_t bytes = rows * dims_.stream_bytes();
    if (store_ == Store::past_cache)
      streams.prefetch = std::max<std::int64_t>(1, split_ahead / dims_.row_bytes()) * dims_.rows.src_stride;
    if (is_whole(dst, streams.pitch | bytes, streams)) return kernels::split(dst, src, dims_.unit, streams, store_);
    const std::int64_t pitch = std::exchange(streams.pitch, pitch_);
    kernels::split(scratch, src, dims_.unit, streams, Store::plain);
    kernels::Ahead nothing{};
    for (std::int64_t way = 0; way < streams.ways; ++way)
      kernels::copy_rows(dst + way * pitch, bytes, scratch + way * pitch_, bytes, bytes, 1, store_, nothing);
  }

  void join(const std::byte* src, std::byte* dst, std::int64_t rows, std::byte* scratch) const noexcept {
    kernels::Streams streams = this->streams(rows);
    if (bytes_ > static_cast<double>(caches().l2)) streams.prefetch = join_ahead;
    const bool whole = is_whole(dst, streams.row_pitch | dims_.row_bytes(), streams);
    if (!whole) streams.row_pitch = block_bytes_;
    Counter counter(together_, 0);
    for (std::int64_t i = count_tuples(together_); i > 0; --i, counter.next())
      kernels::join((whole ? dst : scratch) + counter.dst, src + counter.src, dims_.unit, streams,
                    whole ? store_ : Store::plain, finish_);
    kernels::Ahead nothing{};
    if (!whole) kernels::copy_rows(dst, dims_.rows.dst_stride, scratch, block_bytes_, block_bytes_, rows, store_, nothing);
  }

  StreamDims dims_;
  kernels::Finish finish_ = kernels::Finish::none;
  Store store_;
  DimList counted_{}, together_{};  // dims that number groups, and dims that step within a block
  std::int64_t block_bytes_ = 0;    // bytes from a row to the next row of the same streams
  std::int64_t group_ = 1, groups_ = 1, inside_ = 1;
  std::int64_t pitch_ = 0;  // bytes between streams in scratch memory
};

}  // namespace

bool streams_pay(const Problem& problem) {
  const std::optional<StreamDims> dims = choose(problem);
  return dims && pay(problem, *dims);
}

std::unique_ptr<Compiled> make_streams(const Problem& problem) {
  const std::optional<StreamDims> dims = choose(problem);
  return dims ? std::make_unique<StreamCopy>(problem, *dims) : nullptr;
}

}  // namespace patchfold::engine
