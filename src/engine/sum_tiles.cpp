// SPDX-License-Identifier: Apache-2.0
// Sums in gather form, many rows at a time. A row is either the image along one window, taken phase by phase, or the
// elements of a position that lie together, as channels last do; rows are the coordinates of another window. For rows that
// meet the same taps a tile of registers sums all terms, each a column read in long runs. Sums wait in scratch memory until
// the rows of a band are complete and leave as whole lines.
#include "engine/sum_tiles.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <ostream>

#include "engine/machine.hpp"
#include "engine/normalise.hpp"
#include "engine/rows.hpp"
#include "engine/stage_rows.hpp"
#include "engine/tile_phase.hpp"
#include "engine/tile_rows.hpp"
#include "engine/tile_terms.hpp"
#include "engine/tile_writer.hpp"

namespace patchfold::engine {
namespace {

using kernels::Ahead;
using kernels::line_bytes;
using kernels::Store;
using kernels::TileTerm;

constexpr std::int64_t most_terms = 16384;  ///< of a tile, over all windows (arbitrary)
constexpr std::int64_t most_runs = 16384;   ///< of rows that meet the same taps (arbitrary)
constexpr double most_listed = 65536;       ///< terms of all runs that a plan lists (arbitrary)
constexpr std::int64_t run_bytes = 16384;   ///< of a band of short rows: enough for whole lines (arbitrary)

struct Choice {
  std::int64_t unit = 1;  ///< bytes that lie together on both sides
  int along = -1;         ///< window that the row runs along; -1: the row is the unit
  int across = -1;        ///< window whose coordinates are rows; -1: there is one row
};

std::optional<Choice> choose(const Problem& problem) {
  if (problem.verb != Verb::combine_sum || problem.windows.empty()) return std::nullopt;
  // Tiles hold elements: what accumulates in a wider type cannot be added to the output from them.
  if (problem.accumulate && kernels::sum_kernel(problem.dtype).accumulator_size != problem.element_size) return std::nullopt;
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
        w.stride <= most_phases && w.extent > 1)
      choice.along = i;
  }
  // A row of few bytes leaves most of a vector empty.
  const std::int64_t row_bytes = choice.along < 0 ? choice.unit : problem.windows[choice.along].extent * choice.unit;
  if (row_bytes < line_bytes / 2) return std::nullopt;
  for (int i = 0; i < problem.windows.size(); ++i) {
    const Window& w = problem.windows[i];
    if (i == choice.along || w.image_stride <= 0 || w.position_stride <= 0) continue;
    if (count_runs(w) > most_runs) continue;
    if (choice.across < 0 || w.image_stride < problem.windows[choice.across].image_stride) choice.across = i;
  }
  return choice;
}

class SumTiles final : public Compiled {
 public:
  SumTiles(const Problem& problem, const Choice& choice)
      : Compiled(problem), kernel_(&kernels::tile_kernel(problem.dtype)), along_(choice.along), across_(choice.across) {
    take_unit(problem_);
    writer_.store = store_of(problem);
    if (problem.accumulate) writer_.onto = &kernels::sum_kernel(problem.dtype);
    writer_.element = problem_.element_size;
    const std::int64_t parts = writer_.element / kernel_->lane_size;
    if (along_ >= 0) {
      phases_ = phases_of(problem_.windows[along_], parts, kernel_->lane_size);
      writer_.row_bytes = problem_.windows[along_].extent * writer_.element;
    } else {
      TilePhase whole;
      whole.lanes = choice.unit / kernel_->lane_size;
      whole.taps.push_back({0, 0, whole.lanes});
      phases_.push_back(std::move(whole));
      writer_.row_bytes = choice.unit;
    }
    for (TilePhase& phase : phases_) {
      if (!phase.cut(kernel_->lanes)) return;
      writer_.phase_pitch = std::max(writer_.phase_pitch, ceil_div(phase.lanes, kernel_->lanes) * vector_bytes());
      widest_ = std::max(widest_, phase.chunks.front().vectors);
    }
    writer_.phases = static_cast<std::int64_t>(phases_.size());
    writer_.phase_pitch = ceil_div(writer_.phase_pitch, line_bytes) * line_bytes;
    writer_.sums_pitch = stage_pitch(writer_.phases * writer_.phase_pitch);
    direct_ = writer_.phases == 1 && writer_.onto == nullptr && writer_.store == Store::plain &&
              writer_.row_bytes % vector_bytes() == 0;
    for (int i = 0; i < problem_.windows.size(); ++i) solvers_[static_cast<std::size_t>(i)] = TapSolver(problem_.windows[i]);
    plan_rows_across();
    plan_outer();
    plan_terms();
    plan_fetches();
    fits_ = true;
  }

  bool fits() const noexcept { return fits_ && scratch_per_piece_ <= most_scratch; }

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte* scratch) const noexcept override {
    const Source source{src, src + problem_.src_range.begin, src + problem_.src_range.end};
    std::array<Band, 2> bands;  // the one at hand and the next, by turns
    place(bands[0], first);
    for (std::int64_t row = first; row < last; ++row) {
      Ahead ahead{};
      Band& band = bands[(row - first) % 2];
      if (row + 1 < last) {
        Band& next = bands[(row - first + 1) % 2];
        place(next, row + 1);
        if (fetches_bands_) {
          ahead = ahead_of(src, next);
          ahead.spread_over(band.rows * writer_.row_bytes / line_bytes);
        }
      }
      run_band(source, dst, band, ahead, scratch);
    }
    if (writer_.store == Store::past_cache) kernels::finish_stores();
  }

  void describe_choices(std::ostream& out) const override {
    out << "band      " << band_ << " rows of " << extent_ << (separate_ ? ", of one residue" : "") << "\ntile      "
        << kernel_->rows(widest_) << " rows of " << widest_ << " vectors of " << kernel_->lanes << " lanes, "
        << phases_.size() << " phases\nfetch     " << prefetch_ << " bytes ahead in each column"
        << (fetches_bands_ ? ", and the next band while one is written" : "") << "\nstore     " << name_of(writer_.store)
        << '\n';
  }

 private:
  static constexpr std::int64_t most_scratch = 512 << 10;
  static constexpr std::int64_t least_ahead = 1024;  ///< bytes
  static constexpr std::int64_t positions_ahead = 8;
  static constexpr std::int64_t rows_wanted = 112;  ///< of a band: fewer shorten the runs in which columns are read

  /// A place in the columns, and what of them may be read.
  struct Source {
    const std::byte* at = nullptr;
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
  };

  /// The coordinates of a band: of one residue, or, where rows are short, of all of them.
  void plan_rows_across() {
    first_run_.push_back(0);
    if (across_ < 0) {
      classes_.push_back({{0, 1, {1, 0, 0}}});
      extent_ = 1;
      return;
    }
    const Window& y = problem_.windows[across_];
    extent_ = y.extent;
    stride_ = std::min(y.stride, y.extent);
    for (std::int64_t residue = 0; residue < stride_; ++residue) {
      classes_.push_back(rows_of(y, solvers_[static_cast<std::size_t>(across_)], residue));
      first_run_.push_back(first_run_.back() + classes_.back().size());
    }
    separate_ = stride_ > 2 && writer_.row_bytes >= 2048;
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
    const std::int64_t room = std::max<std::int64_t>(1, stage_bytes() / writer_.sums_pitch);
    wanted = std::min(wanted, room);
    if (along_ < 0) wanted = std::min(room, std::max(wanted, run_bytes / writer_.row_bytes));
    band_ = std::min(wanted, rows);
    bands_ = ceil_div(rows, band_);
    rows_ = count_tuples(outer_) * bands_ * (separate_ ? stride_ : 1);
    const auto size = [](ByteRange range) { return static_cast<double>(range.end - range.begin); };
    bytes_ = size(problem_.src_range) + size(problem_.dst_range);
  }

  void plan_fetches() {
    if (writer_.store == Store::plain || across_ < 0) return;
    const Window& y = problem_.windows[across_];
    // One tile ahead: less comes too late, more pushes out what is still needed. Positions that lie apart are a tile each.
    const std::int64_t rows = along_ < 0 ? positions_ahead : kernel_->rows(widest_);
    prefetch_ = std::max(least_ahead, rows * y.position_stride);
    // While phases are interleaved nothing would be read: then the next band is fetched, if it is small.
    double columns = static_cast<double>(band_ / y.stride + y.kernel) * static_cast<double>(y.position_stride * y.kernel);
    if (along_ >= 0) columns *= static_cast<double>(problem_.windows[along_].kernel);
    fetches_bands_ = phases_.size() > 1 && columns < static_cast<double>(caches().l2) / 4;
  }

  /// Terms that do not depend on another window's coordinate are listed now, the others when a band is summed.
  void plan_terms() {
    std::int64_t tuples = 1;
    for (const Window& w : problem_.windows) tuples *= w.kernel;
    const bool others = problem_.windows.size() > (along_ >= 0 ? 1 : 0) + (across_ >= 0 ? 1 : 0);
    std::size_t runs = 0;
    for (const auto& rows : classes_) runs += rows.size();
    listed_ = !others && static_cast<double>(runs) * static_cast<double>(tuples) < most_listed;
    const std::int64_t offsets = (tuples + 2) * static_cast<std::int64_t>(sizeof(std::int64_t));
    offsets_at_ = ceil_div(tuples * static_cast<std::int64_t>(sizeof(TileTerm)), line_bytes) * line_bytes;
    sums_at_ = listed_ ? 0 : ceil_div(offsets_at_ + offsets, line_bytes) * line_bytes;
    if (listed_) list_runs(tuples);
    writer_.plan(band_);
    joined_at_ = sums_at_ + (direct_ ? 0 : band_ * writer_.sums_pitch);
    scratch_per_piece_ = joined_at_ + writer_.joined_bytes();
  }

  void list_runs(std::int64_t tuples) {
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(tuples + 2));
    std::vector<TileTerm> list(static_cast<std::size_t>(tuples));
    std::vector<std::size_t> begins;
    for (const auto& rows : classes_)
      for (const TileRows& run : rows) {
        RowTaps taps{};
        if (across_ >= 0) taps[static_cast<std::size_t>(across_)] = run.taps;
        for (const TilePhase& phase : phases_) {
          TileTerms terms = list_terms(taps, problem_.windows.size(), along_, phase, list.data(), offsets.data());
          begins.push_back(terms_.size());
          terms_.insert(terms_.end(), terms.terms.begin(), terms.terms.end());
          listed_terms_.push_back(terms);
        }
      }
    for (std::size_t i = 0; i < begins.size(); ++i)
      listed_terms_[i].terms = {terms_.data() + begins[i], listed_terms_[i].terms.size()};
  }

  /// Rows of the image that are summed and written together: the coordinates first, first + step, .. before `end`.
  struct Band {
    std::int64_t src = 0;
    std::int64_t dst = 0;
    std::int64_t residue = 0;
    std::int64_t first = 0;
    std::int64_t end = 0;
    std::int64_t rows = 0;
    RowTaps taps{};  ///< of the windows that are not across or along
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
    const std::int64_t step = separate_ ? stride_ : 1;
    const std::int64_t pitch = across_ < 0 ? writer_.row_bytes : step * problem_.windows[across_].image_stride;
    dst += band.dst;
    std::byte* sums = direct_ ? dst : scratch + sums_at_;
    const std::int64_t sums_pitch = direct_ ? pitch : writer_.sums_pitch;
    const std::int64_t residues = separate_ ? 1 : std::min(stride_, band.end - band.first);
    for (std::int64_t r = 0; r < residues; ++r) {
      const std::int64_t residue = separate_ ? band.residue : (band.first + r) % stride_;
      const auto& runs = classes_[static_cast<std::size_t>(residue)];
      std::size_t number = first_run_[static_cast<std::size_t>(residue)];
      for (const TileRows& run : runs)
        sum_run({src.at + band.src, src.begin, src.end}, run, number++, band, sums, sums_pitch, scratch);
    }
    if (!direct_) writer_.write(dst, pitch, band.rows, sums, scratch + joined_at_, scratch + scratch_per_piece_, ahead);
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
  void sum_run(Source src, const TileRows& run, std::size_t number, Band& band, std::byte* sums, std::int64_t sums_pitch,
               std::byte* scratch) const noexcept {
    const std::int64_t skipped = run.first >= band.first ? 0 : ceil_div(band.first - run.first, stride_);
    const std::int64_t begin = run.first + skipped * stride_;
    if (skipped >= run.count || begin >= band.end) return;
    const std::int64_t rows = std::min(run.count - skipped, ceil_div(band.end - begin, stride_));
    const std::int64_t step = separate_ ? stride_ : 1;
    kernels::Tile tile;
    tile.begin = src.begin;
    tile.end = src.end;
    tile.src = src.at;
    tile.prefetch = prefetch_;
    tile.rows = rows;
    tile.to_pitch = stride_ / step * sums_pitch;
    if (across_ >= 0) {
      tile.src_pitch = problem_.windows[across_].position_stride;
      tile.src += skipped * tile.src_pitch;
      band.taps[static_cast<std::size_t>(across_)] = run.taps;
    }
    sums += (begin - band.first) / step * sums_pitch;
    for (std::size_t i = 0; i < phases_.size(); ++i) {
      const TileTerms terms =
          listed_ ? listed_terms_[number * phases_.size() + i]
                  : list_terms(band.taps, problem_.windows.size(), along_, phases_[i], reinterpret_cast<TileTerm*>(scratch),
                               reinterpret_cast<std::int64_t*>(scratch + offsets_at_));
      tile.terms = terms.terms.data();
      tile.count = static_cast<std::int64_t>(terms.terms.size());
      tile.low = terms.low;
      tile.high = terms.high;
      sum_phase(phases_[i], tile, sums + static_cast<std::int64_t>(i) * writer_.phase_pitch);
    }
  }

  void sum_phase(const TilePhase& phase, const kernels::Tile& all, std::byte* sums) const noexcept {
    const std::int64_t vector = vector_bytes();
    if (all.rows == 1) {
      // Neighbouring chunks stand in for the rows of a tile.
      for (const TileChunk& chunk : phase.chunks) {
        kernels::Tile tile = all;
        aim(tile, chunk, sums);
        tile.rows = chunk.repeats;
        tile.src_pitch = tile.to_pitch = chunk.vectors * vector;
        kernel_->sum(tile);
      }
      return;
    }
    // A few rows at a time over their whole length, so that columns are read in the order in which they lie.
    const bool whole = phase.chunks.size() == 1 && phase.chunks.front().repeats == 1;
    const std::int64_t group = whole ? all.rows : kernel_->rows(widest_);
    for (std::int64_t row = 0; row < all.rows; row += group)
      for (const TileChunk& chunk : phase.chunks) {
        kernels::Tile tile = all;
        aim(tile, chunk, sums);
        tile.rows = std::min(group, all.rows - row);
        tile.src += row * tile.src_pitch;
        tile.to += row * tile.to_pitch;
        for (std::int64_t k = 0; k < chunk.repeats; ++k) {
          kernel_->sum(tile);
          tile.src += chunk.vectors * vector;
          tile.to += chunk.vectors * vector;
        }
      }
  }

  /// At the first chunk of the first row.
  void aim(kernels::Tile& tile, const TileChunk& chunk, std::byte* sums) const noexcept {
    tile.masks = chunk.masks.data();
    tile.vectors = chunk.vectors;
    tile.src += chunk.first * vector_bytes();
    tile.to = sums + chunk.first * vector_bytes();
  }

  std::int64_t vector_bytes() const noexcept { return kernel_->lanes * kernel_->lane_size; }

  const kernels::TileKernel* kernel_;
  int along_;
  int across_;
  TileWriter writer_{};
  std::vector<TilePhase> phases_{};
  std::int64_t widest_ = 1;  // vectors of the widest chunk
  bool fits_ = false;
  bool direct_ = false;  // rows are whole vectors: sums go to the image at once
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
  bool listed_ = false;         // the terms of every run are listed in the plan
  std::vector<TileTerm> terms_{};
  std::vector<TileTerms> listed_terms_{};  // by run and phase
  std::vector<std::size_t> first_run_{};   // of each class
  std::int64_t offsets_at_ = 0;            // places in scratch memory
  std::int64_t sums_at_ = 0;
  std::int64_t joined_at_ = 0;
};

}  // namespace

std::unique_ptr<Compiled> make_sum_tiles(const Problem& problem) {
  const std::optional<Choice> choice = choose(problem);
  if (!choice) return nullptr;
  auto plan = std::make_unique<SumTiles>(problem, *choice);
  return plan->fits() ? std::move(plan) : nullptr;
}

}  // namespace patchfold::engine
