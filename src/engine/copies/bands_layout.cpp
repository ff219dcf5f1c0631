// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "engine/copies/bands.hpp"
#include "engine/machine.hpp"
#include "engine/scratch_copy.hpp"
#include "engine/window.hpp"
#include "kernels/stream.hpp"

namespace patchfold::engine {
namespace {

constexpr double most_moved = 256 << 10;  ///< bytes that one row of work should move

std::int64_t reached(const Window& w, std::int64_t positions) noexcept {
  return (positions - 1) * w.stride + (w.kernel - 1) * w.dilation + 1;
}

bool is_possible(const Problem& problem) noexcept {
  if (problem.verb != Verb::extract || problem.windows.empty() || !are_near(problem)) return false;
  if (problem.dims.size() + 2 * problem.windows.size() > max_axes) return false;
  for (const Window& w : problem.windows)
    if (w.mode != PaddingMode::constant || w.stride > 2 * reached(w, 1)) return false;
  return true;
}

/// Chooses a BandLayout in three steps: the dims that are staged together, the positions of a band, the order of the stage. The
/// first two steps may find that the stage would be too large.
class BandsPlanner {
 public:
  explicit BandsPlanner(const Problem& problem) : element_(problem.element_size) {
    plan_.windows = problem.windows;
    // Puts the window first whose positions lie farthest apart in the destination: if this window is cut, bands write long
    // runs.
    for (Window& w : plan_.windows)
      if (w.positions > 1 && std::abs(w.position_stride) > std::abs(plan_.windows[0].position_stride))
        std::swap(w, plan_.windows[0]);
    for (const Window& w : plan_.windows) plan_.places.push_back({0, sorts_coordinates(w, element_) ? w.stride : 1, 0});
    plan_.outer = problem.dims;
    moved_ = spanned_bytes(problem) / static_cast<double>(count_tuples(problem.dims));
  }

  std::optional<BandLayout> plan() {
    if (!choose_group() || !choose_band() || has_many_borders()) return std::nullopt;
    place_axes();
    return plan_;
  }

 private:
  /// Returns the number of coordinates along window i in the stage, for `positions` positions.
  std::int64_t length(int i, std::int64_t positions) const noexcept {
    return ceil_div(reached(plan_.windows[i], positions), plan_.places[i].phases) * plan_.places[i].phases;
  }

  /// Returns the bytes of the stage for `positions` positions of the first window and one element of each dim.
  double bytes_for(std::int64_t positions) const noexcept {
    auto bytes = static_cast<double>(element_);
    for (int i = 0; i < plan_.windows.size(); ++i)
      bytes *= static_cast<double>(length(i, i == 0 ? positions : plan_.windows[i].positions));
    return bytes;
  }

  /// Chooses the dims that are staged together: dims whose neighbours share lines on either side. Adds other dims as long as the
  /// stage is small and enough rows of work remain for many threads. Returns false if the stage would be too large.
  bool choose_group() {
    constexpr std::int64_t near_bytes = 256, little = 64 << 10;
    const auto budget = static_cast<double>(stage_bytes());
    double bytes = bytes_for(1);
    if (bytes > 4 * budget) return false;
    const auto step = [](const Dim& dim) { return std::min(std::abs(dim.src_stride), std::abs(dim.dst_stride)); };
    DimList& outer = plan_.outer;
    while (!outer.empty()) {
      int nearest = 0;
      for (int i = 1; i < outer.size(); ++i)
        if (step(outer[i]) < step(outer[nearest])) nearest = i;
      const bool is_near = step(outer[nearest]) < near_bytes;
      const double limit = is_near ? budget : static_cast<double>(little);
      const auto extent = outer[nearest].extent;
      const double share = is_near ? bytes / limit : std::max(bytes / limit, moved_ / most_moved);
      if (share * static_cast<double>(extent) <= 1) {
        bytes *= static_cast<double>(extent);
        moved_ *= static_cast<double>(extent);
        plan_.inner.push_back(take(outer, nearest));
        continue;
      }
      if (is_near || share * 2 <= 1) {
        const std::int64_t most =
            std::max<std::int64_t>({1, static_cast<std::int64_t>(1 / share),
                                    is_near ? ceil_div(near_bytes, std::max<std::int64_t>(1, step(outer[nearest]))) : 1});
        plan_.group = ceil_div(extent, ceil_div(extent, std::min(extent, most)));
        plan_.grouped = take(outer, nearest);
      }
      break;
    }
    plan_.groups = ceil_div(plan_.grouped.extent, plan_.group);
    plan_.last_group = plan_.grouped.extent - (plan_.groups - 1) * plan_.group;
    return true;
  }

  /// Chooses the number of positions of a band, to fill a part of the cache. Returns false if a stage would be too large.
  bool choose_band() {
    const Window& w = plan_.windows[0];
    const auto each = static_cast<double>(plan_.group * count_tuples(plan_.inner));
    const auto budget = 2 * static_cast<double>(stage_bytes());
    std::int64_t low = 1, high = w.positions;
    while (low < high) {
      const std::int64_t middle = (low + high + 1) / 2;
      if (each * bytes_for(middle) <= budget)
        low = middle;
      else
        high = middle - 1;
    }
    if (each * bytes_for(low) > 2 * budget) return false;
    // A band has few enough positions that enough rows of work remain, and so many that bands do not read most elements twice.
    const auto parts = static_cast<std::int64_t>(moved_ * static_cast<double>(plan_.group) / most_moved);
    const std::int64_t shared = std::min(low, ceil_div(2 * reached(w, 1), w.stride));
    low = std::clamp(ceil_div(w.positions, std::max<std::int64_t>(1, parts)), shared, low);
    plan_.band = ceil_div(w.positions, ceil_div(w.positions, low));
    return true;
  }

  /// Returns whether very many bands would be planned. All bands inside the image share a plan, but bands with borders are planned
  /// one by one, and the number of these bands grows with the padding.
  bool has_many_borders() const noexcept {
    constexpr std::int64_t most = 4096;
    const Window& w = plan_.windows[0];
    const std::int64_t step = plan_.band * w.stride, behind = reached(w, w.positions) - w.pad_begin - w.extent;
    return std::max(w.pad_begin, behind) > (most - 1) * step && w.positions > (most - 1) * plan_.band;
  }

  /// Places the axes of the stage in the order of the destination.
  void place_axes() {
    /// An axis of the stage: its stride in the destination, its extent, and the variable for its step in the stage.
    struct Axis {
      std::int64_t near, extent;
      std::int64_t* step;
    };
    std::vector<Axis> axes;
    for (int i = 0; i < plan_.inner.size(); ++i) plan_.inner_steps.push_back(0);
    for (int i = 0; i < plan_.inner.size(); ++i)
      axes.push_back({std::abs(plan_.inner[i].dst_stride), plan_.inner[i].extent, &plan_.inner_steps[i]});
    if (plan_.group > 1) axes.push_back({std::abs(plan_.grouped.dst_stride), plan_.group, &plan_.group_step});
    for (int i = 0; i < plan_.windows.size(); ++i) {
      const Window& w = plan_.windows[i];
      BandLayout::Place& place = plan_.places[i];
      const std::int64_t tap = w.kernel > 1 ? std::abs(w.tap_stride) : std::abs(w.position_stride);
      const std::int64_t position = w.positions > 1 ? std::abs(w.position_stride) : tap;
      axes.push_back({std::min(tap, position), length(i, i == 0 ? plan_.band : w.positions) / place.phases, &place.step});
      if (place.phases > 1) axes.push_back({tap, place.phases, &place.pitch});
    }
    std::ranges::stable_sort(axes, [](const Axis& a, const Axis& b) { return a.near < b.near; });
    std::int64_t step = element_;
    bool is_padded = false;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      *axes[i].step = step;
      step *= axes[i].extent;
      // With an odd number of lines from run to run, the runs fall into different sets of a cache. If the next axis continues the
      // runs, no line is added.
      if (is_padded || step < 4 * kernels::line_bytes || (i + 1 < axes.size() && axes[i + 1].near == step)) continue;
      is_padded = true;
      const std::int64_t odd = (ceil_div(step, kernels::line_bytes) | 1) * kernels::line_bytes;
      if (odd % element_ == 0) step = odd;
    }
    plan_.bytes = step;
    for (int i = 0; i < plan_.windows.size(); ++i) {
      const BandLayout::Reach all = plan_.reach(i, 0, plan_.windows[i].positions);
      plan_.has_outside |= all.from > 0 || all.end < reached(plan_.windows[i], all.positions);
    }
  }

  std::int64_t element_;
  double moved_ = 0;  ///< bytes of the elements that are staged together, for all positions
  BandLayout plan_{};
};

}  // namespace

bool sorts_coordinates(const Window& w, std::int64_t element) noexcept {
  constexpr std::int64_t least_row = 128, most_element = 8,
                         most_stride = 64;  // sorting shorter rows or larger elements gains nothing
  return w.position_stride == element && element <= most_element && w.positions * element >= least_row && w.stride > 1 &&
         w.stride <= most_stride && w.kernel >= 2 * w.stride;
}

BandLayout::Reach BandLayout::reach(int window, std::int64_t position, std::int64_t positions) const noexcept {
  const Window& w = windows[window];
  Reach here{positions, position * w.stride - w.pad_begin};
  const std::int64_t all = reached(w, positions);
  here.from = std::clamp<std::int64_t>(-here.first, 0, all);
  here.end = std::clamp<std::int64_t>(w.extent - here.first, here.from, all);
  return here;
}

std::optional<BandLayout> lay_out_bands(const Problem& problem) {
  return is_possible(problem) ? BandsPlanner(problem).plan() : std::nullopt;
}

}  // namespace patchfold::engine
