// SPDX-License-Identifier: Apache-2.0
// Extracts whose windows overlap or leave the image, in any layout of either side. The image is cut into bands of positions.
// What a band reads is copied to scratch memory, in the order of the destination, with what lies outside filled in; from
// there the columns are a copy without borders. Both copies are those of the other strategies, so both sides are read and
// written in whole lines, and elements are brought into order once, not once for each tap.
#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "engine/copies/copies.hpp"
#include "engine/copies/frame.hpp"
#include "engine/copies/windowless.hpp"
#include "engine/scratch_copy.hpp"
#include "kernels/move.hpp"
#include "tensor/checked.hpp"

namespace patchfold::engine {
namespace {

class Bands final : public Compiled {
 public:
  explicit Bands(const Problem& problem) : Compiled(problem), element_(problem.element_size) {
    if (!is_possible()) return;
    // Bands are cut from the window whose positions lie farthest apart in the destination: what they write is long then.
    for (Window& w : problem_.windows)
      if (w.positions > 1 && std::abs(w.position_stride) > std::abs(problem_.windows[0].position_stride))
        std::swap(w, problem_.windows[0]);
    if (!choose_group() || !choose_band()) return;
    scratch_per_piece_ = whole_lines(stage_bytes_);
    parts_at_ = scratch_per_piece_;
    if (!add_all_parts()) return;
    std::int64_t parts_scratch = 0;
    for (const auto& [key, parts] : parts_)
      for (const auto* part : {&parts.pack, &parts.unpack})
        if (*part) parts_scratch = std::max(parts_scratch, (*part)->scratch_per_piece());
    scratch_per_piece_ += parts_scratch;
    tuples_ = count_tuples(outer_) * groups_;
    rows_ = tuples_ * ceil_div(problem_.windows[0].positions, band_);
    bytes_ = spanned_bytes(problem);
    fits_ = true;
  }

  bool fits() const noexcept { return fits_; }

  void describe_choices(std::ostream& out) const override {
    out << "band      " << band_ << " of " << problem_.windows[0].positions << " positions, " << group_ << " at a time\n"
        << "stage     " << stage_bytes_ << " bytes\n";
  }

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte* scratch) const noexcept override {
    const Window& window = problem_.windows[0];
    const Parts* filled = nullptr;
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t from = row / tuples_ * band_, group = row % tuples_ % groups_;
      const Counter outer(outer_, row % tuples_ / groups_);
      const Band band = band_at(from);
      const Parts& parts = parts_.at(key_of(band, group + 1 < groups_ ? group_ : last_group_));
      const std::int64_t done = group * group_;
      if (filled != &parts && has_outside_) {
        kernels::fill_row(scratch, element_, problem_.fill.data(), element_, stage_bytes_ / element_, element_);
        filled = &parts;
      }
      if (parts.pack) {
        const std::byte* image = src + problem_.src_offset + src_begin_ + outer.src + done * grouped_.src_stride +
                                 (band.first + band.from) * window.image_stride;
        parts.pack->run_rows(image, scratch + stage_begin_ + band.from * steps_[0], 0, parts.pack->rows(),
                             scratch + parts_at_);
      }
      std::byte* columns =
          dst + problem_.dst_offset + outer.dst + done * grouped_.dst_stride + from * window.position_stride;
      parts.unpack->run_rows(scratch, columns, 0, parts.unpack->rows(), scratch + parts_at_);
    }
  }

 private:
  /// Positions of the first window, and which of the coordinates that they reach lie inside the image.
  struct Band {
    std::int64_t positions = 0;
    std::int64_t first = 0;  ///< coordinate
    std::int64_t from = 0, end = 0;
  };
  /// The two copies of a band.
  struct Parts {
    std::unique_ptr<Compiled> pack{}, unpack{};
  };
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  static Key key_of(const Band& band, std::int64_t length) noexcept { return {band.positions, band.from, band.end, length}; }

  static std::int64_t reach(const Window& w, std::int64_t positions) noexcept {
    return (positions - 1) * w.stride + (w.kernel - 1) * w.dilation + 1;
  }
  static Band inside(const Window& w, std::int64_t position, std::int64_t positions) noexcept {
    Band band{positions, position * w.stride - w.pad_begin};
    const std::int64_t all = reach(w, positions);
    band.from = std::clamp<std::int64_t>(-band.first, 0, all);
    band.end = std::clamp<std::int64_t>(w.extent - band.first, band.from, all);
    return band;
  }
  Band band_at(std::int64_t from) const noexcept {
    const Window& w = problem_.windows[0];
    return inside(w, from, std::min(band_, w.positions - from));
  }

  bool is_possible() const noexcept {
    if (problem_.verb != Verb::extract || problem_.windows.empty() || problem_.windows.size() > 3) return false;
    if (!are_near(problem_)) return false;
    for (const Window& w : problem_.windows)
      if (w.mode != PaddingMode::constant || w.stride > 2 * reach(w, 1)) return false;
    return true;
  }

  /// Bytes of the stage for so many positions of the first window and one element of each dim.
  double bytes_for(std::int64_t positions) const noexcept {
    double bytes = static_cast<double>(element_);
    for (int i = 0; i < problem_.windows.size(); ++i) {
      const Window& w = problem_.windows[i];
      bytes *= static_cast<double>(reach(w, i == 0 ? positions : w.positions));
    }
    return bytes;
  }

  /// Which dims are staged together: those whose neighbours share lines on either side, and others while that is little, and
  /// while enough rows of work remain for many threads.
  bool choose_group() {
    constexpr std::int64_t near_bytes = 256, little = 64 << 10;
    moved_ = spanned_bytes(problem_) / static_cast<double>(count_tuples(problem_.dims));
    const auto budget = static_cast<double>(engine::stage_bytes());
    double bytes = bytes_for(1);
    if (bytes > 4 * budget) return false;
    outer_ = problem_.dims;
    const auto step = [](const Dim& dim) { return std::min(std::abs(dim.src_stride), std::abs(dim.dst_stride)); };
    while (!outer_.empty()) {
      int nearest = 0;
      for (int i = 1; i < outer_.size(); ++i)
        if (step(outer_[i]) < step(outer_[nearest])) nearest = i;
      const bool is_near = step(outer_[nearest]) < near_bytes;
      const double limit = is_near ? budget : static_cast<double>(little);
      const auto extent = outer_[nearest].extent;
      const double share = is_near ? bytes / limit : std::max(bytes / limit, moved_ / most_moved);
      if (share * static_cast<double>(extent) <= 1) {
        bytes *= static_cast<double>(extent);
        moved_ *= static_cast<double>(extent);
        inner_.push_back(take(outer_, nearest));
        continue;
      }
      if (is_near || share * 2 <= 1) {
        const std::int64_t most =
            std::max<std::int64_t>({1, static_cast<std::int64_t>(1 / share),
                                    is_near ? ceil_div(near_bytes, std::max<std::int64_t>(1, step(outer_[nearest]))) : 1});
        groups_ = ceil_div(extent, std::min(extent, most));
        group_ = ceil_div(extent, groups_);
        grouped_ = take(outer_, nearest);
      }
      break;
    }
    groups_ = ceil_div(grouped_.extent, group_);
    last_group_ = grouped_.extent - (groups_ - 1) * group_;
    return true;
  }

  /// As many positions as fit into a part of the cache.
  bool choose_band() {
    const Window& w = problem_.windows[0];
    double each = static_cast<double>(group_);
    for (const Dim& dim : inner_) each *= static_cast<double>(dim.extent);
    const auto budget = static_cast<double>(engine::stage_bytes());
    std::int64_t low = 1, high = w.positions;
    while (low < high) {
      const std::int64_t middle = (low + high + 1) / 2;
      if (each * bytes_for(middle) <= budget)
        low = middle;
      else
        high = middle - 1;
    }
    if (each * bytes_for(low) > 4 * budget) return false;
    // Neither so many that few rows of work remain, nor fewer than share most of what they read.
    const auto parts = static_cast<std::int64_t>(moved_ * static_cast<double>(group_) / most_moved);
    const std::int64_t shared = std::min(low, ceil_div(2 * reach(w, 1), w.stride));
    low = std::clamp(ceil_div(w.positions, std::max<std::int64_t>(1, parts)), shared, low);
    band_ = ceil_div(w.positions, ceil_div(w.positions, low));
    place_axes();
    return true;
  }

  /// Where the axes of the stage lie: in the order of the destination.
  void place_axes() {
    struct Axis {
      std::int64_t near, extent;
      std::int64_t* step;
    };
    std::vector<Axis> axes;
    for (int i = 0; i < inner_.size(); ++i) inner_steps_.push_back(0);
    for (int i = 0; i < problem_.windows.size(); ++i) steps_.push_back(0);
    for (int i = 0; i < inner_.size(); ++i)
      axes.push_back({std::abs(inner_[i].dst_stride), inner_[i].extent, &inner_steps_[i]});
    if (group_ > 1) axes.push_back({std::abs(grouped_.dst_stride), group_, &group_step_});
    for (int i = 0; i < problem_.windows.size(); ++i) {
      const Window& w = problem_.windows[i];
      const std::int64_t tap = w.kernel > 1 ? std::abs(w.tap_stride) : std::abs(w.position_stride);
      const std::int64_t position = w.positions > 1 ? std::abs(w.position_stride) : tap;
      axes.push_back({std::min(tap, position), reach(w, i == 0 ? band_ : w.positions), &steps_[i]});
    }
    std::ranges::stable_sort(axes, [](const Axis& a, const Axis& b) { return a.near < b.near; });
    std::int64_t step = element_;
    bool is_padded = false;
    for (const Axis& axis : axes) {
      *axis.step = step;
      step *= axis.extent;
      // An odd number of lines, so that runs do not meet in the same sets of a cache.
      if (is_padded || step < 4 * kernels::line_bytes) continue;
      is_padded = true;
      const std::int64_t odd = (ceil_div(step, kernels::line_bytes) | 1) * kernels::line_bytes;
      if (odd % element_ == 0) step = odd;
    }
    stage_bytes_ = step;
    for (int i = 0; i < problem_.windows.size(); ++i) {
      const Window& w = problem_.windows[i];
      const Band all = inside(w, 0, w.positions);
      if (all.from > 0 || all.end < reach(w, w.positions)) has_outside_ = true;
      if (i == 0) continue;
      src_begin_ += (all.first + all.from) * w.image_stride;
      stage_begin_ += all.from * steps_[i];
    }
  }

  /// Bands that lie inside the image are all alike, so those before the first and behind the last of them are planned.
  bool add_all_parts() {
    constexpr std::int64_t most = 4096;  // planning takes no longer for a longer image or a wider pad
    const Window& w = problem_.windows[0];
    const std::int64_t bands = ceil_div(w.positions, band_);
    for (const bool forwards : {true, false})
      for (std::int64_t k = 0; k < bands; ++k) {
        if (k == most) return false;
        const Band band = band_at((forwards ? k : bands - 1 - k) * band_);
        for (const std::int64_t length : {group_, last_group_}) add_parts(band, length);
        if (band.from == 0 && band.end == reach(w, band.positions)) break;
      }
    return true;
  }

  void add_parts(const Band& band, std::int64_t length) {
    const auto [at, is_new] = parts_.try_emplace(key_of(band, length));
    Parts& parts = at->second;
    if (!is_new) return;
    std::vector<Dim> pack, unpack;
    const auto add = [&](std::int64_t extent, const Dim& dim, std::int64_t step) {
      pack.push_back({extent, dim.src_stride, step});
      unpack.push_back({extent, step, dim.dst_stride});
    };
    for (int i = 0; i < inner_.size(); ++i) add(inner_[i].extent, inner_[i], inner_steps_[i]);
    if (length > 1) add(length, grouped_, group_step_);
    bool is_empty = false;
    for (int i = 0; i < problem_.windows.size(); ++i) {
      const Window& w = problem_.windows[i];
      const Band here = i == 0 ? band : inside(w, 0, w.positions);
      pack.push_back({here.end - here.from, w.image_stride, steps_[i]});
      is_empty = is_empty || here.end == here.from;
      unpack.push_back({here.positions, w.stride * steps_[i], w.position_stride});
      unpack.push_back({w.kernel, w.dilation * steps_[i], w.tap_stride});
    }
    if (!is_empty) parts.pack = plan_copy(problem_, pack, 0);
    parts.unpack = plan_copy(problem_, unpack, problem_.dst_range.end - problem_.dst_range.begin);
  }

  static constexpr double most_moved = 256 << 10;  ///< bytes that one row of work should move

  std::int64_t element_;
  double moved_ = 0;  ///< bytes of what is staged together, for all positions
  DimList outer_{}, inner_{};
  Dim grouped_{};
  std::int64_t group_ = 1, groups_ = 1, last_group_ = 1;
  std::int64_t band_ = 1;                                // positions of the first window
  FixedList<std::int64_t, 2 * max_rank> inner_steps_{};  // in the stage, in bytes
  FixedList<std::int64_t, max_rank> steps_{};            // of coordinates
  std::int64_t group_step_ = 0;
  std::int64_t stage_bytes_ = 0, parts_at_ = 0;
  std::int64_t src_begin_ = 0, stage_begin_ = 0;  // of what lies inside, along all windows but the first
  bool has_outside_ = false;
  std::map<Key, Parts> parts_{};
  std::int64_t tuples_ = 1;
  bool fits_ = false;
};

}  // namespace

bool bands_pay(const Problem& problem) {
  constexpr double least = 4 << 10;  // bytes: row by row is as fast then
  if (spanned_bytes(problem) < least) return false;
  // Without borders the columns are a copy. With few, and windows that hardly overlap, most of them are.
  const double share = inside_share(problem);
  double times = 1;  // that an element is read
  for (const Window& w : problem.windows) times *= static_cast<double>(w.kernel) / static_cast<double>(w.stride);
  return share < (times < 1.3 ? 0.95 : 1);
}

std::unique_ptr<Compiled> make_bands(const Problem& problem) {
  return if_fits<Bands>(problem);
}

}  // namespace patchfold::engine
