// SPDX-License-Identifier: Apache-2.0
// Sums of 16-bit floats of columns, or to images, whose elements do not lie where panels need them: transposed, mirrored,
// with channels last on one side, every second one. The image is cut into bands. The columns of a band are copied to scratch
// memory, in the order that panels like best; panels sum them; and the band is copied to where the image lies. The copies
// are those of the strategy "strided", so both sides are read and written in whole lines.
#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <vector>

#include "engine/bands.hpp"
#include "engine/machine.hpp"
#include "engine/strategy.hpp"
#include "engine/windowless.hpp"
#include "tensor/checked.hpp"

namespace patchfold::engine {
namespace {

/// The positions that a band of image rows needs, and how the first window counts coordinates in it.
struct BandWindow {
  std::int64_t first_position = 0;
  std::int64_t positions = 0;
  std::int64_t pad_begin = 0;
  std::int64_t extent = 0;
};

class SumBands final : public Compiled {
 public:
  explicit SumBands(const Problem& problem) : Compiled(problem), element_(problem.element_size) {
    if (!is_possible()) return;
    // Where the stride is large, neighbours along the last window belong to many phases. Then panels run along a group whose
    // elements lie side by side on one side already.
    const bool many_phases = problem.windows[problem.windows.size() - 1].stride > 2;
    if (!(many_phases && plan(true)) && !plan(false)) return;
    scratch_per_piece_ = image_at_ + whole_lines(image_bytes_) + parts_scratch_;
    sums_at_ = image_at_ + whole_lines(image_bytes_);
    rows_ = count_tuples(outer_) * groups_ * static_cast<std::int64_t>(bands_.size());
    bytes_ = spanned_bytes(problem);
    fits_ = true;
  }

  bool fits() const noexcept { return fits_; }

  void describe_choices(std::ostream& out) const override {
    out << "band      " << band_ << " rows of the image, " << group_ << " at a time\n";
  }

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte* scratch) const noexcept override {
    const Window& window = problem_.windows[0];
    const auto bands = static_cast<std::int64_t>(bands_.size());
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t index = row % bands, group = row / bands % groups_;
      const Counter outer(outer_, row / bands / groups_);
      const BandWindow& band = bands_[static_cast<std::size_t>(index)];
      const Parts& parts = parts_.at(key_of(band, group + 1 < groups_ ? group_ : last_group_));
      const std::int64_t done = group * group_;
      const std::byte* from =
          src + problem_.src_offset + outer.src + done * grouped_.src_stride + band.first_position * window.position_stride;
      std::byte* to =
          dst + problem_.dst_offset + outer.dst + done * grouped_.dst_stride + index * band_ * window.image_stride;
      std::byte *image = scratch + image_at_, *rest = scratch + sums_at_;
      if (parts.sum) {
        parts.pack->run_rows(from, scratch, 0, parts.pack->rows(), rest);
        parts.sum->run_rows(scratch, image, 0, parts.sum->rows(), rest);
      } else {
        std::memset(image, 0, static_cast<std::size_t>(image_bytes_));  // no position reaches the band
      }
      parts.unpack->run_rows(image, to, 0, parts.unpack->rows(), rest);
    }
  }

 private:
  /// The three steps of a band.
  struct Parts {
    std::unique_ptr<Compiled> pack{}, sum{}, unpack{};
  };
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  static Key key_of(const BandWindow& band, std::int64_t length) noexcept {
    return {band.positions, band.pad_begin, band.extent, length};
  }
  /// `by_group`: elements of a group lie side by side in scratch memory, otherwise those of the last window.
  bool plan(bool by_group) {
    by_group_ = by_group;
    bands_.clear();
    parts_.clear();
    image_at_ = image_bytes_ = parts_scratch_ = 0;
    if (!choose_group() || !choose_band()) return false;
    const Window& first = problem_.windows[0];
    for (std::int64_t from = 0; from < first.extent; from += band_) bands_.push_back(band_window(from));
    for (const std::int64_t length : {group_, last_group_})
      for (const BandWindow& band : bands_)
        if (!add_parts(band, length)) return false;
    return true;
  }

  bool is_possible() const noexcept {
    if (problem_.verb != Verb::combine_sum || problem_.accumulate || problem_.own_source != nullptr) return false;
    if (problem_.windows.empty() || problem_.windows.size() > 3) return false;
    if (!are_near(problem_)) return false;
    for (const Window& w : problem_.windows)
      if (w.kernel > 256) return false;
    return true;
  }

  /// The dim whose neighbours share lines is taken several at a time.
  bool choose_group() {
    constexpr std::int64_t wanted = 256;  // bytes
    outer_ = problem_.dims;
    const auto step = [](const Dim& dim) { return std::min(std::abs(dim.src_stride), std::abs(dim.dst_stride)); };
    int nearest = -1;
    for (int i = 0; i < outer_.size(); ++i) {
      if (by_group_ && outer_[i].extent * element_ < least_side_by_side) continue;
      if (nearest < 0 || step(outer_[i]) < step(outer_[nearest])) nearest = i;
    }
    if (by_group_ && (nearest < 0 || step(outer_[nearest]) != element_)) return false;
    grouped_ = take(outer_, nearest);
    if (by_group_) {
      const std::int64_t most = ceil_div(wanted, element_), groups = ceil_div(grouped_.extent, most);
      group_ = ceil_div(grouped_.extent, groups);
      return true;
    }
    const std::int64_t near = std::max<std::int64_t>(1, step(grouped_));
    group_ = std::clamp<std::int64_t>(near >= wanted ? 1 : ceil_div(wanted, near), 1, grouped_.extent);
    return true;
  }

  /// Bytes of the columns of one image for a band of so many rows.
  double columns_bytes(std::int64_t rows) const noexcept {
    double bytes = static_cast<double>(element_);
    for (int i = 0; i < problem_.windows.size(); ++i) {
      const Window& w = problem_.windows[i];
      const std::int64_t reach = (rows - 1 + (w.kernel - 1) * w.dilation) / w.stride + 1;
      bytes *= static_cast<double>(w.kernel) * static_cast<double>(i == 0 ? std::min(reach, w.positions) : w.positions);
    }
    return bytes;
  }

  /// As many rows as fit into the cache, for fewer images at a time if the windows of a band would overlap too much.
  bool choose_band() {
    const Window& w = problem_.windows[0];
    const auto budget = static_cast<double>(std::clamp<std::int64_t>(caches().l2 / 2, 128 << 10, 1 << 20));
    const std::int64_t steps = ceil_div(w.extent, w.stride), least = std::min(w.extent, w.stride);
    const auto rows_for = [&](std::int64_t length) {
      std::int64_t low = 0, high = steps;  // in strides
      while (low < high) {
        const std::int64_t middle = (low + high + 1) / 2;
        if (static_cast<double>(length) * columns_bytes(std::min(w.extent, middle * w.stride)) <= budget)
          low = middle;
        else
          high = middle - 1;
      }
      return std::min(w.extent, low * w.stride);
    };
    const std::int64_t wanted = std::min(w.extent, 2 * (w.kernel - 1) * w.dilation + 1);
    const std::int64_t fewest = by_group_ ? ceil_div(least_side_by_side, element_) : 1;
    while (group_ > fewest && rows_for(group_) < wanted) group_ = std::max(fewest, (group_ + 1) / 2);
    band_ = std::max(least, rows_for(group_));
    if (static_cast<double>(group_) * columns_bytes(band_) > 8 * budget) return false;
    if (ceil_div(w.extent, band_) > 4096) return false;
    groups_ = ceil_div(grouped_.extent, group_);
    last_group_ = grouped_.extent - (groups_ - 1) * group_;
    return true;
  }

  BandWindow band_window(std::int64_t from) const noexcept {
    const Window& w = problem_.windows[0];
    BandWindow band;
    band.extent = std::min(band_, w.extent - from);
    band.first_position = std::max<std::int64_t>(0, ceil_div(from + w.pad_begin - (w.kernel - 1) * w.dilation, w.stride));
    const std::int64_t end = std::min(w.positions, floor_div(from + band.extent - 1 + w.pad_begin, w.stride) + 1);
    band.positions = std::max<std::int64_t>(0, end - band.first_position);
    band.pad_begin = w.pad_begin + from - band.first_position * w.stride;
    if (band.positions == 0) band.first_position = band.pad_begin = 0;
    return band;
  }

  /// Plans a band, unless there is one like it.
  bool add_parts(const BandWindow& band, std::int64_t length) {
    const Key key = key_of(band, length);
    if (parts_.contains(key)) return true;
    // Packed columns: the group, all taps, all positions; packed images: the group, all coordinates. Or the group last.
    Problem sum = problem_;
    sum.dims = {};
    sum.src_offset = sum.dst_offset = 0;
    sum.windows[0].positions = band.positions;
    sum.windows[0].pad_begin = band.pad_begin;
    sum.windows[0].extent = band.extent;
    std::vector<Dim> pack, unpack;
    std::int64_t columns = element_, image = element_;
    const auto add_group = [&] {
      pack.push_back({length, grouped_.src_stride, columns});
      unpack.push_back({length, image, grouped_.dst_stride});
      sum.dims.push_back({length, columns, image});
      columns *= length;
      image *= length;
    };
    if (by_group_) add_group();
    const int count = sum.windows.size();
    for (int i = count - 1; i >= 0; --i) {
      Window& w = sum.windows[i];
      pack.push_back({w.positions, w.position_stride, columns});
      w.position_stride = columns;
      columns *= w.positions;
      unpack.push_back({w.extent, image, w.image_stride});
      w.image_stride = image;
      image *= w.extent;
    }
    for (int i = count - 1; i >= 0; --i) {
      Window& w = sum.windows[i];
      pack.push_back({w.kernel, w.tap_stride, columns});
      w.tap_stride = columns;
      columns *= w.kernel;
    }
    if (!by_group_) add_group();
    sum.src_range = {0, columns};
    sum.dst_range = {0, image};
    Parts parts;
    if (band.positions > 0) {
      parts.pack = plan_copy(problem_, pack, 0);
      parts.sum = make_sum_panels(merge_dims(drop_single(sum)));
      if (!parts.sum) return false;
      parts_scratch_ = std::max({parts_scratch_, parts.pack->scratch_per_piece(), parts.sum->scratch_per_piece()});
    }
    parts.unpack = plan_copy(problem_, unpack, problem_.dst_range.end - problem_.dst_range.begin);
    parts_scratch_ = std::max(parts_scratch_, parts.unpack->scratch_per_piece());
    image_at_ = std::max(image_at_, whole_lines(columns));
    image_bytes_ = std::max(image_bytes_, image);
    parts_.emplace(key, std::move(parts));
    return true;
  }

  static constexpr std::int64_t least_side_by_side = 64;  ///< bytes of a group

  std::int64_t element_;
  bool by_group_ = false;
  DimList outer_{};
  Dim grouped_{};
  std::int64_t group_ = 1, groups_ = 1, last_group_ = 1;
  std::int64_t band_ = 1;  // rows of the image
  std::vector<BandWindow> bands_{};
  std::map<Key, Parts> parts_{};
  std::int64_t image_at_ = 0, sums_at_ = 0;  // places in scratch memory; the columns come first
  std::int64_t image_bytes_ = 0;
  std::int64_t parts_scratch_ = 0;
  bool fits_ = false;
};

}  // namespace

bool sum_bands_pay(const Problem& problem) {
  return spanned_bytes(problem) >= least_banded;
}

std::unique_ptr<Compiled> make_sum_bands(const Problem& problem) {
  return if_fits<SumBands>(problem);
}

}  // namespace patchfold::engine
