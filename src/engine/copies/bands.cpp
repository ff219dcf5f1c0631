// SPDX-License-Identifier: Apache-2.0
// The strategy "bands": extracts whose windows overlap or reach beyond the image, in any layout of image and columns. The image is
// cut into bands of positions. The part of the image that a band reads is copied to scratch memory, the stage, in the order of the
// destination and with the borders filled in. The columns are then copied from the stage, without borders. Other strategies make
// all these copies, so image and columns are read and written in whole lines, and elements are put in order once, not once for each
// tap.
#include "engine/copies/bands.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/checked.hpp"
#include "engine/copies/copies.hpp"
#include "engine/machine.hpp"
#include "engine/scratch_copy.hpp"
#include "engine/window.hpp"
#include "kernels/move.hpp"

namespace patchfold::engine {
namespace {

using Reach = BandLayout::Reach;

/// A plan of the strategy: the copies of all bands; bands that reach equal ranges of the image share their copies. A row of work is
/// one band for one group of index tuples of the dims, with its stage in the piece's scratch memory. Stages that are filled row by
/// row, while columns are written from them, were rejected: they were not faster in any layout.
class Bands final : public Compiled {
 public:
  Bands(const Problem& problem, BandLayout layout) : Compiled(problem), plan_(std::move(layout)) {
    rest_at_ = whole_lines(plan_.bytes);
    add_all_copies();
    for (const auto& [key, copies] : copies_)
      for (const auto* list : {&copies.to_stage, &copies.from_stage})
        for (const Copy& copy : *list) scratch_per_piece_ = std::max(scratch_per_piece_, copy.plan->scratch_per_piece());
    scratch_per_piece_ += rest_at_;
    tuples_ = count_tuples(plan_.outer) * plan_.groups;
    rows_ = tuples_ * ceil_div(plan_.windows[0].positions, plan_.band);
    bytes_ = spanned_bytes(problem);
    fetches_ = store_of(problem) == kernels::Store::past_cache;
  }

  void describe_choices(std::ostream& out) const override {
    out << "band      " << plan_.band << " of " << plan_.windows[0].positions << " positions, " << plan_.group
        << " at a time\nstage     " << plan_.bytes << " bytes\n";
  }

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte* scratch) const noexcept override {
    const Window& window = plan_.windows[0];
    const std::int64_t element = problem_.element_size;
    const Copies* filled = nullptr;
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t from = row / tuples_ * plan_.band, group = row % tuples_ % plan_.groups;
      const Counter outer(plan_.outer, row % tuples_ / plan_.groups);
      const Reach band = plan_.band_at(from);
      const Copies& copies = copies_.at(key_of(band, group + 1 < plan_.groups ? plan_.group : plan_.last_group));
      const std::int64_t done = group * plan_.group;
      if (filled != &copies && plan_.has_outside) {
        kernels::fill_row(scratch, element, problem_.fill.data(), element, plan_.bytes / element, element);
        filled = &copies;
      }
      const std::byte* image =
          src + problem_.src_offset + outer.src + done * plan_.grouped.src_stride + band.first * window.image_stride;
      for (const Copy& copy : copies.to_stage) copy.run(image, scratch, scratch + rest_at_);
      std::byte* columns =
          dst + problem_.dst_offset + outer.dst + done * plan_.grouped.dst_stride + from * window.position_stride;
      kernels::Ahead ahead;
      if (fetches_ && row + 1 < last) ahead = ahead_of(src, row + 1, copies.lines);
      for (const Copy& copy : copies.from_stage) copy.run(scratch, columns, scratch + rest_at_, ahead);
    }
  }

 private:
  /// A copy of a band, with the offsets of its first elements. Bands that reach equal ranges share it.
  struct Copy {
    std::unique_ptr<Compiled> plan{};
    std::int64_t src = 0, dst = 0;
    void run(const std::byte* from, std::byte* to, std::byte* scratch) const noexcept {
      plan->run_rows(from + src, to + dst, 0, plan->rows(), scratch);
    }
    /// Runs the copy, and prefetches the lines that the next band reads.
    void run(const std::byte* from, std::byte* to, std::byte* scratch, kernels::Ahead& ahead) const noexcept {
      plan->run_rows(from + src, to + dst, 0, plan->rows(), scratch, ahead);
    }
  };
  /// All copies of a band.
  struct Copies {
    std::vector<Copy> to_stage{}, from_stage{};
    std::int64_t lines = 0;  ///< lines of the columns that are written
  };
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  static Key key_of(const Reach& band, std::int64_t length) noexcept {
    return {band.positions, band.from, band.end, length};
  }

  /// Plans the copies of all bands. All bands inside the image are alike, so only one of them is planned, besides the bands in
  /// front of and behind them.
  void add_all_copies() {
    const std::int64_t bands = ceil_div(plan_.windows[0].positions, plan_.band);
    for (const bool forwards : {true, false})
      for (std::int64_t k = 0; k < bands; ++k) {
        const Reach band = plan_.band_at((forwards ? k : bands - 1 - k) * plan_.band);
        for (const std::int64_t length : {plan_.group, plan_.last_group}) add_copies(band, length);
        if (band.first >= 0 && band.end + band.first < plan_.windows[0].extent) break;
      }
  }

  void add_copies(const Reach& band, std::int64_t length) {
    const auto [at, is_new] = copies_.try_emplace(key_of(band, length));
    if (!is_new) return;
    std::vector<Dim> to, from;
    const auto add = [&](std::int64_t extent, const Dim& dim, std::int64_t step) {
      to.push_back({extent, dim.src_stride, step});
      from.push_back({extent, step, dim.dst_stride});
    };
    for (int i = 0; i < plan_.inner.size(); ++i) add(plan_.inner[i].extent, plan_.inner[i], plan_.inner_steps[i]);
    if (length > 1) add(length, plan_.grouped, plan_.group_step);
    add_to_stage(at->second, band, 0, to, {});
    add_from_stage(at->second, band, 0, from, {});
    for (const Copy& copy : at->second.from_stage)
      at->second.lines += static_cast<std::int64_t>(copy.plan->bytes()) / 2 / kernels::line_bytes;
  }

  /// Returns the lines that row `row` of work reads, to be prefetched while `lines` lines are written.
  kernels::Ahead ahead_of(const std::byte* src, std::int64_t row, std::int64_t lines) const noexcept {
    const std::int64_t group = row % tuples_ % plan_.groups;
    const Reach band = plan_.band_at(row / tuples_ * plan_.band);
    const Window& window = plan_.windows[0];
    std::int64_t at = problem_.src_offset + Counter(plan_.outer, row % tuples_ / plan_.groups).src +
                      group * plan_.group * plan_.grouped.src_stride + (band.first + band.from) * window.image_stride;
    std::int64_t bytes = problem_.element_size;
    const auto extend = [&](std::int64_t extent, std::int64_t stride) {
      bytes += (extent - 1) * std::abs(stride);
      if (stride < 0) at += (extent - 1) * stride;
    };
    for (const Dim& dim : plan_.inner) extend(dim.extent, dim.src_stride);
    for (int i = 1; i < plan_.windows.size(); ++i) {
      const Reach here = plan_.reach(i, band);
      at += (here.first + here.from) * plan_.windows[i].image_stride;
      extend(here.end - here.from, plan_.windows[i].image_stride);
    }
    const bool is_row = std::abs(window.image_stride) < kernels::line_bytes;
    if (is_row) extend(band.end - band.from, window.image_stride);
    if (!is_row && bytes > std::abs(window.image_stride)) return {};
    kernels::Ahead ahead;
    ahead.group = src + at;
    ahead.row_lines = ceil_div(bytes, kernels::line_bytes);
    ahead.rows = is_row ? 1 : band.end - band.from;
    ahead.pitch = window.image_stride;
    ahead.groups = group + 1 < plan_.groups ? plan_.group : plan_.last_group;
    ahead.group_pitch = plan_.grouped.src_stride;
    ahead.spread_over(lines);
    return ahead;
  }

  /// Adds the copies from the image to the stage, for window `i` and all later windows; `axes` and `copy` describe the earlier
  /// windows.
  void add_to_stage(Copies& copies, const Reach& band, int i, const std::vector<Dim>& axes, Copy copy) const {
    if (i == plan_.windows.size()) {
      copy.plan = plan_copy(problem_, axes, 0);
      copies.to_stage.push_back(std::move(copy));
      return;
    }
    const Window& w = plan_.windows[i];
    const BandLayout::Place& place = plan_.places[i];
    const Reach here = plan_.reach(i, band);
    const std::int64_t first = i == 0 ? 0 : here.first;
    // A round is one coordinate of each residue. The coordinates are the end of a round, whole rounds, and the beginning of a
    // round.
    for (std::int64_t c = here.from; c < here.end;) {
      const std::int64_t phases = std::min(place.phases - c % place.phases, here.end - c);
      const std::int64_t rounds = phases == place.phases ? (here.end - c) / phases : 1;
      std::vector<Dim> all = axes;
      all.push_back({rounds, place.phases * w.image_stride, place.step});
      all.push_back({phases, w.image_stride, place.pitch});
      add_to_stage(copies, band, i + 1, all, {nullptr, copy.src + (first + c) * w.image_stride, copy.dst + place.of(c)});
      c += rounds * phases;
    }
  }

  /// Adds the copies from the stage to the columns, for window `i` and all later windows. Taps whose coordinates have the same
  /// residue modulo the stride are one copy.
  void add_from_stage(Copies& copies, const Reach& band, int i, const std::vector<Dim>& axes, Copy copy) const {
    if (i == plan_.windows.size()) {
      copy.plan = plan_copy(problem_, axes, problem_.dst_range.end - problem_.dst_range.begin);
      copies.from_stage.push_back(std::move(copy));
      return;
    }
    const Window& w = plan_.windows[i];
    const BandLayout::Place& place = plan_.places[i];
    const std::int64_t common = std::gcd(place.phases, w.dilation), every = place.phases / common;
    for (std::int64_t tap = 0; tap < std::min(every, w.kernel); ++tap) {
      std::vector<Dim> all = axes;
      all.push_back({plan_.reach(i, band).positions, w.stride / place.phases * place.step, w.position_stride});
      all.push_back({ceil_div(w.kernel - tap, every), w.dilation / common * place.step, every * w.tap_stride});
      add_from_stage(copies, band, i + 1, all,
                     {nullptr, copy.src + place.of(tap * w.dilation), copy.dst + tap * w.tap_stride});
    }
  }

  BandLayout plan_;
  std::map<Key, Copies> copies_{};
  std::int64_t tuples_ = 1;
  bool fetches_ = false;
  std::int64_t rest_at_ = 0;  // offset in scratch memory, behind the stage, of the copies' own scratch memory
};

}  // namespace

bool bands_pay(const Problem& problem) {
  constexpr double least = 4 << 10;  // bytes: for less, the strategy "move" is as fast
  if (spanned_bytes(problem) < least) return false;
  // Columns without borders are a plain copy. With few borders, and windows that hardly overlap, most columns are a plain copy.
  const double share = inside_share(problem);
  double times = 1;  // number of times that an element is read
  bool sorts = false;
  for (const Window& w : problem.windows) {
    times *= static_cast<double>(w.kernel) / static_cast<double>(w.stride);
    sorts = sorts || sorts_coordinates(w, problem.element_size);
  }
  if (sorts && times >= 2 && store_of(problem) == kernels::Store::past_cache) return true;
  return share < (times < 1.3 ? 0.95 : 1);
}

std::unique_ptr<Compiled> make_bands(const Problem& problem) {
  std::optional<BandLayout> layout = lay_out_bands(problem);
  return layout ? std::make_unique<Bands>(problem, std::move(*layout)) : nullptr;
}

}  // namespace patchfold::engine
