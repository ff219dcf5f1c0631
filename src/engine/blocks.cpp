// SPDX-License-Identifier: Apache-2.0
// Movements without windows. In the normal form dims are ordered by destination stride; a kernel takes two or three of them,
// the others are counted.
#include "engine/blocks.hpp"

#include <algorithm>
#include <array>
#include <ostream>

#include "engine/machine.hpp"
#include "engine/normalise.hpp"
#include "engine/rows.hpp"
#include "kernels/blocks.hpp"

namespace patchfold::engine {
namespace {

using kernels::Ahead;
using kernels::line_bytes;
using kernels::Store;
using kernels::Streams;

/// Bytes that are worth writing past the cache in one go: partial lines at their ends are read first (arbitrary: 64 lines).
constexpr std::int64_t run_bytes = 4096;

using DimList = FixedList<Dim, 2 * max_rank>;

int find(const DimList& dims, auto&& wanted) {
  for (int i = dims.size() - 1; i >= 0; --i)
    if (wanted(dims[i])) return i;
  return -1;
}

Dim take(DimList& dims, int i) {
  if (i < 0) return {};
  const Dim dim = dims[i];
  dims.erase(i);
  return dim;
}

/// Counts through the tuples of dims and keeps where they stand on both sides.
class Counter {
 public:
  Counter(const DimList& dims, std::int64_t start) noexcept : dims_(dims) {
    for (int i = dims.size() - 1; i >= 0; --i) {
      auto& index = index_[static_cast<std::size_t>(i)];
      index = start % dims[i].extent;
      start /= dims[i].extent;
      src += index * dims[i].src_stride;
      dst += index * dims[i].dst_stride;
    }
  }
  void next() noexcept {
    for (int i = dims_.size() - 1; i >= 0; --i) {
      const Dim& dim = dims_[i];
      src += dim.src_stride;
      dst += dim.dst_stride;
      if (++index_[static_cast<std::size_t>(i)] < dim.extent) return;
      index_[static_cast<std::size_t>(i)] = 0;
      src -= dim.extent * dim.src_stride;
      dst -= dim.extent * dim.dst_stride;
    }
  }

  std::int64_t src = 0;
  std::int64_t dst = 0;

 private:
  const DimList& dims_;
  std::array<std::int64_t, 2 * max_rank> index_;
};

std::int64_t count_tuples(const DimList& dims) noexcept {
  std::int64_t count = 1;
  for (const Dim& dim : dims) count *= dim.extent;
  return count;
}

class Blocks : public Compiled {
 public:
  explicit Blocks(const Problem& problem) : Compiled(problem), counted_(problem.dims), store_(store_of(problem)) {
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
    if (store_ == Store::past_cache) kernels::finish_stores();
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
  Store store_;
};

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
  explicit Join(const Problem& problem) : Blocks(problem), finish_(kernels::Finish::none) {
    if (problem.verb == Verb::combine_sum) finish_ = kernels::finish_of(problem.dtype);
    // Elements of these types are finished one by one, not several in a unit.
    const bool single = finish_ == kernels::Finish::float16 || finish_ == kernels::Finish::bfloat16 ||
                        finish_ == kernels::Finish::boolean;
    if (single && unit_ != problem.element_size) return;
    streamed_ = take_streams(counted_, unit_, true);
    row_bytes_ = streamed_.ways.extent * streamed_.along.extent * unit_;
    whole_ = store_ == Store::plain || row_bytes_ % line_bytes == 0;
    for (const Dim& dim : counted_) whole_ &= store_ == Store::plain || dim.dst_stride % line_bytes == 0;
    whole_ &= store_ == Store::plain || streamed_.rows.dst_stride % line_bytes == 0;
    if (!whole_) {
      // Rows are put together as they lie in the destination, some at a time.
      if (streamed_.rows.extent > 1) counted_.push_back(streamed_.rows);
      streamed_.rows = {};
      streamed_.rows = take(counted_, find(counted_, [&](const Dim& dim) { return dim.dst_stride == row_bytes_; }));
      together_ = std::max<std::int64_t>(1, run_bytes / row_bytes_);
      scratch_per_piece_ = ceil_div(together_ * row_bytes_, line_bytes) * line_bytes;
    }
    // What one call takes, so that threads can share a problem of few rows.
    const std::int64_t wanted = std::max<std::int64_t>(together_, call_bytes / row_bytes_);
    group_ = std::min(wanted, streamed_.rows.extent);
    groups_ = ceil_div(streamed_.rows.extent, group_);
    std::ranges::stable_sort(counted_, std::greater(), [](const Dim& dim) { return std::abs(dim.dst_stride); });
    const Dim groups{groups_, group_ * streamed_.rows.src_stride, group_ * streamed_.rows.dst_stride};
    DimList counted;
    bool placed = false;
    for (const Dim& dim : counted_) {
      if (!placed && std::abs(dim.dst_stride) < streamed_.rows.dst_stride) {
        counted.push_back(groups);
        inside_ = 1;
        placed = true;
      }
      counted.push_back(dim);
      inside_ *= dim.extent;
    }
    if (!placed) {
      counted.push_back(groups);
      inside_ = 1;
    }
    counted_ = counted;
    rows_ = count_tuples(counted_);
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
  static constexpr std::int64_t fetch_bytes = 2048;  ///< ahead in each stream

  void run_row(const Row& at) const noexcept override {
    const std::int64_t first = at.index / inside_ % groups_ * group_;
    const std::int64_t rows = std::min(group_, streamed_.rows.extent - first);
    const std::int64_t prefetch = store_ == Store::past_cache ? fetch_bytes : 0;
    Streams streams{streamed_.ways.extent,
                    streamed_.ways.src_stride,
                    streamed_.along.extent,
                    rows,
                    streamed_.rows.dst_stride,
                    streamed_.along.extent * unit_,
                    prefetch};
    if (whole_) return kernels::join(at.dst, at.src, unit_, streams, store_, finish_);
    streams.rows = 1;
    for (std::int64_t from = 0; from < rows; from += together_) {
      const std::int64_t here = std::min(together_, rows - from);
      for (std::int64_t i = 0; i < here; ++i)
        kernels::join(at.scratch + i * row_bytes_, at.src + (from + i) * streamed_.rows.src_stride, unit_, streams,
                      Store::plain, finish_);
      Ahead ahead{};
      kernels::copy_rows(at.dst + from * row_bytes_, row_bytes_ * here, at.scratch, row_bytes_ * here, row_bytes_ * here, 1,
                         store_, ahead);
    }
  }

  kernels::Finish finish_;
  Streamed streamed_{};
  std::int64_t row_bytes_ = 0;
  bool whole_ = true;          // rows are written from registers
  std::int64_t together_ = 1;  // rows put together in scratch memory otherwise
  std::int64_t group_ = 1;
  std::int64_t groups_ = 1;
  std::int64_t inside_ = 1;
};

class Transpose final : public Blocks {
 public:
  explicit Transpose(const Problem& problem) : Blocks(problem) {
    if (!kernels::has_vectors(unit_, 2)) return;
    columns_ = take(counted_, find(counted_, [&](const Dim& d) { return d.dst_stride == unit_; }));
    lines_ = take(counted_, find(counted_, [&](const Dim& d) { return d.src_stride == unit_; }));
    // Blocks of the source's lines, so that threads can share one matrix and its columns stay in the cache.
    block_ = std::max<std::int64_t>(line_bytes / unit_, block_bytes / (columns_.extent * unit_) / 16 * 16);
    blocks_ = ceil_div(lines_.extent, block_);
    counted_.push_back({blocks_, block_ * unit_, block_ * lines_.dst_stride});
    rows_ = count_tuples(counted_);
    store_ = Store::plain;
  }

  bool fits() const noexcept { return columns_.extent >= least && lines_.extent >= least; }

  void describe_choices(std::ostream& out) const override {
    out << "tile      " << block_ << " by " << columns_.extent << " units of " << unit_ << " bytes\nstore     "
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

class Gather final : public Blocks {
 public:
  explicit Gather(const Problem& problem) : Blocks(problem) {
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
    block_ = std::max<std::int64_t>(1, block_bytes / group / line_bytes * line_bytes);
    blocks_ = ceil_div(steps_.extent, block_);
    if (std::min(block_, steps_.extent) * group < line_bytes * 8) store_ = Store::plain;
    // Dims inside of which the same part of the source is read again, before the next part is.
    const std::int64_t reach = std::abs(steps_.src_stride) * std::min(block_, steps_.extent);
    again_ = blocks_;
    for (int i = counted_.size() - 1; i >= 0 && std::abs(counted_[i].src_stride) < reach; --i) again_ *= counted_[i].extent;
    if (blocks_ > 1) again_ = 1;
    counted_.push_back({blocks_, block_ * steps_.src_stride, block_ * group});
    rows_ = count_tuples(counted_);
    fits_ = true;
  }

  bool fits() const noexcept { return fits_; }

  void describe_choices(std::ostream& out) const override {
    out << "tile      " << std::min(block_, steps_.extent) << " groups of " << ways_.extent << " pieces of " << unit_
        << " bytes\nfetch     " << (store_ == Store::plain ? "nothing" : "the part of the source that is next")
        << "\nstore     " << name_of(store_) << '\n';
  }

 private:
  static constexpr std::int64_t most_ways = 32;
  static constexpr std::int64_t block_bytes = 256 << 10;

  void run_row(const Row& at) const noexcept override {
    const std::int64_t first = at.index % blocks_ * block_;
    const std::int64_t count = std::min(block_, steps_.extent - first);
    Ahead ahead{};
    if (store_ == Store::past_cache && at.next_src != nullptr && at.index % again_ == again_ - 1)
      ahead = ahead_of(at.next_src, count);
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
    ahead.row_lines = ceil_div(row_bytes, line_bytes);
    const bool rows = ways_.src_stride >= row_bytes;
    ahead.pitch = ways_.src_stride;
    ahead.rows = rows ? ways_.extent : 1;
    ahead.spread_over(count * ways_.extent * unit_ / line_bytes);
    return ahead;
  }

  Dim ways_{};
  Dim steps_{};
  std::int64_t block_ = 1;
  std::int64_t blocks_ = 1;
  std::int64_t again_ = 1;  // calls that read the same part of the source
  bool fits_ = false;
};

bool moves_dims(const Problem& problem) {
  return problem.verb != Verb::combine_sum && problem.windows.empty();
}

template <class Plan>
std::unique_ptr<Compiled> if_fits(const Problem& problem) {
  auto plan = std::make_unique<Plan>(problem);
  return plan->fits() ? std::move(plan) : nullptr;
}

}  // namespace

std::unique_ptr<Compiled> make_split(const Problem& problem) {
  return moves_dims(problem) ? if_fits<Split>(problem) : nullptr;
}

std::unique_ptr<Compiled> make_join(const Problem& problem) {
  const bool single_terms = problem.verb == Verb::combine_sum && problem.windows.empty() && !problem.accumulate;
  return moves_dims(problem) || single_terms ? if_fits<Join>(problem) : nullptr;
}

std::unique_ptr<Compiled> make_transpose(const Problem& problem) {
  return moves_dims(problem) ? if_fits<Transpose>(problem) : nullptr;
}

std::unique_ptr<Compiled> make_gather(const Problem& problem) {
  return moves_dims(problem) ? if_fits<Gather>(problem) : nullptr;
}

}  // namespace patchfold::engine
