// SPDX-License-Identifier: Apache-2.0
// Sums in gather form, many rows at a time. A row is either the image along one window, taken phase by phase, or the
// elements of a position that lie together, as channels last do; rows are the coordinates of another window. For rows that
// meet the same taps a tile of registers sums all terms, each a column read in long runs. Sums wait in scratch memory until
// the rows of a band are complete and leave as whole lines.
#include "engine/sum_tiles.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <span>

#include "engine/machine.hpp"
#include "engine/normalise.hpp"
#include "engine/rows.hpp"
#include "engine/stage_rows.hpp"
#include "engine/tile_phase.hpp"
#include "engine/tile_rows.hpp"
#include "kernels/blocks.hpp"
#include "kernels/piece.hpp"
#include "kernels/sum.hpp"

namespace patchfold::engine {
namespace {

using kernels::Ahead;
using kernels::line_bytes;
using kernels::Store;
using kernels::TileTerm;

constexpr std::int64_t most_terms = 16384;  ///< of a tile, over all windows (arbitrary)
constexpr std::int64_t most_stride = 32;    ///< along a row: phases are interleaved at once (arbitrary)
constexpr std::int64_t run_bytes = 16384;   ///< of a band of short rows: enough for whole lines (arbitrary)

struct Choice {
  std::int64_t unit = 1;  ///< bytes that lie together on both sides
  int along = -1;         ///< window that the row runs along; -1: the row is the unit
  int across = -1;        ///< window whose coordinates are rows; -1: there is one row
};

std::optional<Choice> choose(const Problem& problem) {
  if (problem.verb != Verb::combine_sum || problem.accumulate || problem.windows.empty()) return std::nullopt;
  Problem rest = problem;
  Choice choice;
  choice.unit = take_unit(rest);
  double terms = 1;
  for (const Window& w : problem.windows) {
    terms *= static_cast<double>(w.kernel);
    // Shifts and reaches stay far from the limits of 64 bits.
    constexpr std::int64_t far = std::int64_t{1} << 40;
    if (w.kernel > 1024 || w.kernel == 0 || w.positions == 0 || w.stride > far || w.dilation > far || w.positions > far ||
        std::abs(w.pad_begin) > far || w.extent > far)
      return std::nullopt;
    if (w.dilation == 0) return std::nullopt;
  }
  if (terms > static_cast<double>(most_terms)) return std::nullopt;
  for (int i = 0; i < problem.windows.size(); ++i) {
    const Window& w = problem.windows[i];
    if (choice.unit == problem.element_size && w.image_stride == choice.unit && w.position_stride == choice.unit &&
        w.stride <= most_stride && w.extent > 1)
      choice.along = i;
  }
  // A row of few bytes leaves most of a vector empty.
  const std::int64_t row_bytes = choice.along < 0 ? choice.unit : problem.windows[choice.along].extent * choice.unit;
  if (row_bytes < line_bytes / 2) return std::nullopt;
  for (int i = 0; i < problem.windows.size(); ++i) {
    const Window& w = problem.windows[i];
    if (i == choice.along || w.image_stride <= 0 || w.position_stride <= 0) continue;
    if (choice.across < 0 || w.image_stride < problem.windows[choice.across].image_stride) choice.across = i;
  }
  return choice;
}

class SumTiles final : public Compiled {
 public:
  SumTiles(const Problem& problem, const Choice& choice)
      : Compiled(problem),
        kernel_(&kernels::tile_kernel(problem.dtype)),
        along_(choice.along),
        across_(choice.across),
        store_(store_of(problem)) {
    take_unit(problem_);
    element_ = problem_.element_size;
    const std::int64_t parts = element_ / kernel_->lane_size;
    if (along_ >= 0) {
      phases_ = phases_of(problem_.windows[along_], parts, kernel_->lane_size);
      row_bytes_ = problem_.windows[along_].extent * element_;
    } else {
      TilePhase whole;
      whole.lanes = choice.unit / kernel_->lane_size;
      whole.taps.push_back({0, 0, whole.lanes});
      phases_.push_back(std::move(whole));
      row_bytes_ = choice.unit;
    }
    for (TilePhase& phase : phases_) {
      phase.cut(kernel_->lanes);
      phase_pitch_ = std::max(phase_pitch_, ceil_div(phase.lanes, kernel_->lanes) * kernel_->lanes * kernel_->lane_size);
      widest_ = std::max(widest_, phase.chunks.front().vectors);
    }
    phase_pitch_ = ceil_div(phase_pitch_, line_bytes) * line_bytes;
    sums_pitch_ = stage_pitch(static_cast<std::int64_t>(phases_.size()) * phase_pitch_);
    for (int i = 0; i < problem_.windows.size(); ++i) solvers_[static_cast<std::size_t>(i)] = TapSolver(problem_.windows[i]);
    plan_rows_across();
    plan_outer();
    plan_scratch();
    plan_fetches();
  }

  bool fits() const noexcept { return scratch_per_piece_ <= most_scratch; }

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte* scratch) const noexcept override {
    const Source source{src, src + problem_.src_range.begin, src + problem_.src_range.end};
    Band band, next;
    place(band, first);
    for (std::int64_t row = first; row < last; ++row) {
      Ahead ahead{};
      if (row + 1 < last) {
        place(next, row + 1);
        if (fetches_bands_) {
          ahead = ahead_of(src, next);
          ahead.spread_over(band.rows * row_bytes_ / line_bytes * (phases_.size() > 1 ? 2 : 1));
        }
      }
      run_band(source, dst, band, ahead, scratch);
      std::swap(band, next);
    }
    if (store_ == Store::past_cache) kernels::finish_stores();
  }

 private:
  static constexpr std::int64_t most_scratch = 512 << 10;
  static constexpr std::int64_t least_ahead = 2048;  ///< bytes
  static constexpr std::int64_t positions_ahead = 8;
  static constexpr std::int64_t joined_bytes = 8 << 10;  ///< that stay in the first cache
  const std::int64_t rows_wanted =
      getenv("RW") ? atoi(getenv("RW")) : 24;  ///< of a band: fewer shorten the runs in which columns are read

  using Offsets = std::array<Taps, max_axes>;

  /// A place in the columns, and what of them may be read.
  struct Source {
    const std::byte* at = nullptr;
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
  };

  /// The coordinates of a band: of one residue, or, where rows are short, of all of them.
  void plan_rows_across() {
    if (across_ < 0) {
      classes_.push_back({{0, 1, {1, 0, 0}}});
      extent_ = 1;
      return;
    }
    const Window& y = problem_.windows[across_];
    extent_ = y.extent;
    stride_ = std::min(y.stride, y.extent);
    for (std::int64_t residue = 0; residue < stride_; ++residue)
      classes_.push_back(rows_of(y, solvers_[static_cast<std::size_t>(across_)], residue));
    separate_ = stride_ > 2 && row_bytes_ >= 2048;
  }

  void plan_outer() {
    for (const Dim& dim : problem_.dims) outer_.push_back({Axis::Kind::dim, -1, dim.extent, dim.src_stride, dim.dst_stride});
    for (int i = 0; i < problem_.windows.size(); ++i)
      if (i != along_ && i != across_)
        outer_.push_back({Axis::Kind::coordinate, i, problem_.windows[i].extent, 0, problem_.windows[i].image_stride});
    std::ranges::stable_sort(outer_,
                             [](const Axis& a, const Axis& b) { return std::abs(a.dst_stride) > std::abs(b.dst_stride); });
    // Bands of whole tiles, and of whole lines where rows lie side by side.
    const std::int64_t tile = kernel_->rows(widest_);
    const std::int64_t step = separate_ ? 1 : stride_;
    const std::int64_t rows = separate_ ? ceil_div(extent_, stride_) : extent_;
    std::int64_t wanted = std::max(tile, rows_wanted / tile * tile) * step;
    const std::int64_t room =
        std::max<std::int64_t>(1, stage_bytes() / (sums_pitch_ + (phases_.size() > 1 ? row_bytes_ : 0)));
    wanted = std::min(wanted, room);
    if (along_ < 0) wanted = std::min(room, std::max(wanted, run_bytes / row_bytes_));
    band_ = std::min(wanted, rows);
    bands_ = ceil_div(rows, band_);
    rows_ = count_tuples(outer_) * bands_ * (separate_ ? stride_ : 1);
    const auto size = [](ByteRange range) { return static_cast<double>(range.end - range.begin); };
    bytes_ = size(problem_.src_range) + size(problem_.dst_range);
  }

  void plan_fetches() {
    if (store_ == Store::plain || across_ < 0) return;
    const Window& y = problem_.windows[across_];
    // One tile ahead, and not less than what the memory takes to answer. Positions that lie apart are a tile of their own.
    const std::int64_t rows = along_ < 0 ? positions_ahead : kernel_->rows(widest_);
    prefetch_ = std::max(least_ahead, rows * y.position_stride);
    // While phases are interleaved nothing would be read: then the next band is fetched, if it is small.
    double columns = static_cast<double>(band_ / y.stride + y.kernel) * static_cast<double>(y.position_stride * y.kernel);
    if (along_ >= 0) columns *= static_cast<double>(problem_.windows[along_].kernel);
    fetches_bands_ = phases_.size() > 1 && columns < static_cast<double>(caches().l2) / 4;
  }

  void plan_scratch() {
    std::int64_t before = 1, after = 1, along = 1;
    for (int i = 0; i < problem_.windows.size(); ++i)
      (i < along_ ? before : i == along_ ? along : after) *= problem_.windows[i].kernel;
    most_before_ = before;
    most_after_ = after;
    sums_at_ = ceil_div((before * after * along) * static_cast<std::int64_t>(sizeof(TileTerm)) +
                            (before + after) * static_cast<std::int64_t>(sizeof(std::int64_t)),
                        line_bytes) *
               line_bytes;
    joined_at_ = sums_at_ + band_ * sums_pitch_;
    if (phases_.size() > 1) {
      // Rows that end at the end of a line together.
      const std::int64_t whole = line_bytes / std::gcd(row_bytes_, line_bytes);
      joined_rows_ = std::min(band_, ceil_div(joined_bytes, row_bytes_ * whole) * whole);
    }
    scratch_per_piece_ = joined_at_ + ceil_div(joined_rows_ * row_bytes_, line_bytes) * line_bytes;
  }

  /// Rows of the image that are summed and written together: the coordinates first, first + step, .. before `end`.
  struct Band {
    std::int64_t src = 0;
    std::int64_t dst = 0;
    std::int64_t residue = 0;
    std::int64_t first = 0;
    std::int64_t end = 0;
    std::int64_t rows = 0;
    Offsets taps{};  ///< of the windows that are not across or along
  };

  void place(Band& band, std::int64_t row) const noexcept {
    const std::int64_t step = separate_ ? stride_ : 1;
    const std::int64_t index = row % bands_;
    row /= bands_;
    band.residue = separate_ ? row % stride_ : 0;
    if (separate_) row /= stride_;
    band.src = problem_.src_offset;
    band.dst = problem_.dst_offset;
    for (int i = outer_.size() - 1; i >= 0; --i) {
      const Axis& axis = outer_[i];
      const std::int64_t here = axis.extent == 1 ? 0 : row % axis.extent;
      row /= axis.extent;
      band.src += here * axis.src_stride;
      band.dst += here * axis.dst_stride;
      if (axis.window >= 0)
        band.taps[static_cast<std::size_t>(axis.window)] = solvers_[static_cast<std::size_t>(axis.window)].at(here);
    }
    band.first = index * band_ * step + band.residue;
    band.end = std::min(extent_, band.first + band_ * step);
    band.rows = std::max<std::int64_t>(0, ceil_div(band.end - band.first, step));
    if (across_ >= 0) band.dst += band.first * problem_.windows[across_].image_stride;
  }

  void run_band(const Source& src, std::byte* dst, Band& band, Ahead& ahead, std::byte* scratch) const noexcept {
    if (band.rows == 0) return;
    const std::int64_t residues = separate_ ? 1 : std::min(stride_, band.end - band.first);
    for (std::int64_t r = 0; r < residues; ++r) {
      const auto& runs = classes_[static_cast<std::size_t>(separate_ ? band.residue : (band.first + r) % stride_)];
      for (const TileRows& run : runs) sum_run({src.at + band.src, src.begin, src.end}, run, band, scratch);
    }
    write_band(dst + band.dst, band.rows, scratch, ahead);
  }

  /// What a band reads: a run of each column, one after the other, for each tap of one other window.
  Ahead ahead_of(const std::byte* src, const Band& band) const noexcept {
    if (band.rows == 0 || across_ < 0) return {};
    const Window& y = problem_.windows[across_];
    const std::int64_t first =
        std::max<std::int64_t>(0, floor_div(band.first + y.pad_begin - (y.kernel - 1) * y.dilation, y.stride));
    const std::int64_t end = std::min(y.positions, floor_div(band.end - 1 + y.pad_begin, y.stride) + 1);
    Ahead ahead;
    if (end <= first) return {};
    ahead.group = src + band.src + first * y.position_stride;
    ahead.row_lines = ceil_div((end - first) * y.position_stride, line_bytes);
    ahead.rows = y.kernel;
    ahead.pitch = y.tap_stride;
    if (along_ >= 0) {
      const Window& x = problem_.windows[along_];
      ahead.rows *= x.kernel;
      ahead.pitch = x.tap_stride;
    }
    for (int i = 0; i < problem_.windows.size(); ++i) {
      if (i == along_ || i == across_) continue;
      const Taps& taps = band.taps[static_cast<std::size_t>(i)];
      ahead.group += taps.offset;
      ahead.groups = taps.count;
      ahead.group_pitch = taps.step;
    }
    return ahead;
  }

  /// Sums the rows of a run that lie in the band.
  void sum_run(Source src, const TileRows& run, Band& band, std::byte* scratch) const noexcept {
    const std::int64_t skipped = run.first >= band.first ? 0 : ceil_div(band.first - run.first, stride_);
    const std::int64_t begin = run.first + skipped * stride_;
    if (skipped >= run.count || begin >= band.end) return;
    const std::int64_t rows = std::min(run.count - skipped, ceil_div(band.end - begin, stride_));
    const std::int64_t step = separate_ ? stride_ : 1;
    std::int64_t src_pitch = 0;
    if (across_ >= 0) {
      src_pitch = problem_.windows[across_].position_stride;
      band.taps[static_cast<std::size_t>(across_)] = run.taps;
      src.at += skipped * src_pitch;
    }
    auto* terms = reinterpret_cast<TileTerm*>(scratch);
    auto* before = reinterpret_cast<std::int64_t*>(scratch + sums_at_) - (most_before_ + most_after_);
    std::int64_t* after = before + most_before_;
    const std::int64_t befores = offsets(band.taps, 0, std::max(0, along_), before);
    const std::int64_t afters = offsets(band.taps, along_ + 1, problem_.windows.size(), after);
    std::byte* sums = scratch + sums_at_ + (begin - band.first) / step * sums_pitch_;
    for (std::size_t i = 0; i < phases_.size(); ++i) {
      const TilePhase& phase = phases_[i];
      std::int64_t count = 0;
      for (std::int64_t b = 0; b < befores; ++b)
        for (std::size_t t = 0; t < phase.taps.size(); ++t)
          for (std::int64_t a = 0; a < afters; ++a)
            terms[count++] = {src.at + before[b] + phase.taps[t].offset + after[a], static_cast<std::int64_t>(t)};
      sum_phase(src, phase, {terms, static_cast<std::size_t>(count)}, rows, src_pitch, stride_ / step,
                sums + static_cast<std::int64_t>(i) * phase_pitch_);
    }
  }

  /// Byte offsets of the tuples of taps of the windows [from, to), in ascending order; none if one of them has no tap.
  std::int64_t offsets(const Offsets& taps, int from, int to, std::int64_t* list) const noexcept {
    std::int64_t count = 1;
    list[0] = 0;
    for (int i = from; i < to; ++i) {
      const Taps& t = taps[static_cast<std::size_t>(i)];
      // In place, from the end: each offset becomes as many as the window has taps.
      for (std::int64_t k = count - 1; k >= 0; --k)
        for (std::int64_t q = t.count - 1; q >= 0; --q) list[k * t.count + q] = list[k] + t.offset + q * t.step;
      count *= t.count;
      if (count == 0) return 0;
    }
    return count;
  }

  void sum_phase(const Source& src, const TilePhase& phase, std::span<const TileTerm> terms, std::int64_t rows,
                 std::int64_t src_pitch, std::int64_t rows_apart, std::byte* sums) const noexcept {
    const std::int64_t vector = kernel_->lanes * kernel_->lane_size;
    kernels::Tile tile;
    tile.terms = terms.data();
    tile.count = static_cast<std::int64_t>(terms.size());
    tile.begin = src.begin;
    tile.end = src.end;
    tile.prefetch = prefetch_;
    if (rows == 1) {
      // Neighbouring chunks stand in for the rows of a tile.
      for (const TileChunk& chunk : phase.chunks) {
        aim(tile, chunk, sums);
        tile.rows = chunk.repeats;
        tile.src_pitch = tile.to_pitch = chunk.vectors * vector;
        kernel_->sum(tile);
      }
      return;
    }
    // A few rows at a time over their whole length, so that columns are read in the order in which they lie.
    const std::int64_t group = phase.chunks.size() == 1 && phase.chunks.front().repeats == 1 ? rows : kernel_->rows(widest_);
    for (std::int64_t row = 0; row < rows; row += group)
      for (const TileChunk& chunk : phase.chunks) {
        aim(tile, chunk, sums);
        tile.rows = std::min(group, rows - row);
        tile.src_pitch = src_pitch;
        tile.to_pitch = rows_apart * sums_pitch_;
        tile.offset += row * src_pitch;
        tile.to += row * tile.to_pitch;
        for (std::int64_t k = 0; k < chunk.repeats; ++k) {
          kernel_->sum(tile);
          tile.offset += chunk.vectors * vector;
          tile.to += chunk.vectors * vector;
        }
      }
  }

  /// At the first chunk of the first row.
  void aim(kernels::Tile& tile, const TileChunk& chunk, std::byte* sums) const noexcept {
    const std::int64_t vector = kernel_->lanes * kernel_->lane_size;
    tile.masks = chunk.masks.data();
    tile.vectors = chunk.vectors;
    tile.offset = chunk.first * vector;
    tile.to = sums + chunk.first * vector;
  }

  /// Rows of sums go to the image, `step` coordinates apart.
  void write_band(std::byte* dst, std::int64_t rows, std::byte* scratch, Ahead& ahead) const noexcept {
    const std::int64_t step = separate_ ? stride_ : 1;
    const std::int64_t pitch = across_ < 0 ? row_bytes_ : step * problem_.windows[across_].image_stride;
    const bool joins = phases_.size() > 1;
    const std::int64_t group = joins ? joined_rows_ : rows;
    const std::int64_t from_pitch = joins ? row_bytes_ : sums_pitch_;
    for (std::int64_t row = 0; row < rows; row += group) {
      const std::int64_t here = std::min(group, rows - row);
      const std::byte* from = scratch + sums_at_ + row * sums_pitch_;
      if (joins) {
        join_rows(scratch + joined_at_, from, here);
        from = scratch + joined_at_;
      }
      if (row_bytes_ < 2 * line_bytes && pitch == row_bytes_ && store_ == Store::past_cache)
        kernels::gather(dst + row * pitch, {&from, 1, from_pitch, row_bytes_, scratch + scratch_per_piece_}, here, store_,
                        ahead);
      else
        kernels::copy_rows(dst + row * pitch, pitch, from, from_pitch, row_bytes_, here, store_, ahead);
    }
  }

  void join_rows(std::byte* to, const std::byte* sums, std::int64_t count) const noexcept {
    const auto ways = static_cast<std::int64_t>(phases_.size());
    const std::int64_t whole = row_bytes_ / element_ / ways;  // elements that every phase has
    const std::int64_t rest = row_bytes_ / element_ % ways;
    const bool vectors = kernels::has_vectors(element_, ways);
    if (vectors)
      kernels::join(to, sums, element_, {ways, phase_pitch_, whole, count, row_bytes_, sums_pitch_, 0}, Store::plain,
                    kernels::Finish::none);
    if (vectors && rest == 0) return;
    for (std::int64_t row = 0; row < count; ++row, to += row_bytes_, sums += sums_pitch_) {
      std::array<const std::byte*, most_stride> rows;
      for (std::int64_t i = 0; i < ways; ++i) rows[static_cast<std::size_t>(i)] = sums + i * phase_pitch_;
      Ahead none{};
      if (!vectors) kernels::gather(to, {rows.data(), ways, element_, element_, sums}, whole, Store::plain, none);
      for (std::int64_t i = 0; i < rest; ++i)
        kernels::copy_piece(to + (whole * ways + i) * element_, rows[static_cast<std::size_t>(i)] + whole * element_,
                            element_);
    }
  }

  const kernels::TileKernel* kernel_;
  int along_;
  int across_;
  Store store_;
  std::int64_t element_ = 1;
  std::vector<TilePhase> phases_{};
  std::int64_t widest_ = 1;       // vectors of the widest chunk
  std::int64_t row_bytes_ = 0;    // of the image
  std::int64_t phase_pitch_ = 0;  // of the sums of a row
  std::int64_t sums_pitch_ = 0;   // of a row of sums
  std::array<TapSolver, max_axes> solvers_{};
  std::vector<std::vector<TileRows>> classes_{};  // by residue of the rows
  std::int64_t extent_ = 1;                       // rows
  std::int64_t stride_ = 1;                       // residues
  bool separate_ = false;                         // a band has rows of one residue
  AxisList outer_{};
  std::int64_t band_ = 1;
  std::int64_t bands_ = 1;
  std::int64_t prefetch_ = 0;   // bytes ahead in each column
  bool fetches_bands_ = false;  // while the band before is written
  std::int64_t most_before_ = 1;
  std::int64_t most_after_ = 1;
  std::int64_t sums_at_ = 0;
  std::int64_t joined_at_ = 0;
  std::int64_t joined_rows_ = 0;  // whose phases are interleaved at once
};

}  // namespace

std::unique_ptr<Compiled> make_sum_tiles(const Problem& problem) {
  const std::optional<Choice> choice = choose(problem);
  if (!choice) return nullptr;
  auto plan = std::make_unique<SumTiles>(problem, *choice);
  return plan->fits() ? std::move(plan) : nullptr;
}

}  // namespace patchfold::engine
