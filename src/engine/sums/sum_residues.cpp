// SPDX-License-Identifier: Apache-2.0
// Sums with long strides, and sums of columns or to images in any layout. The image is cut into bands, whose sums are kept
// in scratch memory, sorted by residue (engine/sums/residue_sums.hpp). For each tap of the first window the columns that
// meet the band are copied to scratch memory and added; where taps share lines, the columns of all are copied at once. Then
// the band is copied to where the image lies. The copies are those of the other strategies, so both sides are read and
// written in whole lines, and each column element is read once.
#include <algorithm>
#include <map>
#include <vector>

#include "engine/machine.hpp"
#include "engine/scratch_copy.hpp"
#include "engine/sums/means.hpp"
#include "engine/sums/residue_sums.hpp"
#include "engine/sums/sums.hpp"
#include "engine/walk.hpp"
#include "tensor/checked.hpp"

namespace patchfold::engine {
namespace {

bool is_possible(const Problem& problem) {
  if (!adds(problem) || problem.accumulate || problem.own_source != nullptr) return false;
  if (is_mean(problem) && !few_meet(problem)) return false;
  if (problem.windows.empty() || problem.windows.size() > 3 || !are_near(problem)) return false;
  return std::ranges::all_of(problem.windows, [](const Window& w) { return w.kernel <= 256; });
}

class SumResidues final : public Compiled {
 public:
  explicit SumResidues(const Problem& problem) : Compiled(problem), element_(problem.element_size), means_(problem_) {
    if (!is_possible(problem_) || !choose_group() || !choose_band()) return;
    const Window& w = problem_.windows[0];
    // A band that is not the last may have one position more or less than others of a tap.
    for (const std::int64_t length : {group_, last_group_}) {
      for (const std::int64_t extent : {band_, w.extent - (bands_ - 1) * band_})
        if (!add_sums(extent, length)) return;
      for (std::int64_t from = 0; from < w.extent; from += band_) {
        if (together_) add_pack(meeting(from).positions, length);
        for (std::int64_t tap = 0; tap < w.kernel && !together_; ++tap) add_pack(meeting(from, tap).positions, length);
      }
    }
    columns_at_ = whole_lines(sums_bytes_);
    rest_at_ = columns_at_ + whole_lines(columns_bytes_);
    scratch_per_piece_ = rest_at_ + parts_scratch_;
    rows_ = count_tuples(outer_) * groups_ * bands_;
    bytes_ = spanned_bytes(problem);
    fits_ = true;
  }

  bool fits() const noexcept { return fits_; }

  void describe_choices(std::ostream& out) const override {
    out << "band      " << band_ << " rows of the image, " << group_ << " at a time" << (nearest_ ? ", side by side" : "")
        << (together_ ? ", taps together\n" : "\n");
  }

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte* scratch) const noexcept override {
    const Window& w = problem_.windows[0];
    std::byte *columns = scratch + columns_at_, *rest = scratch + rest_at_;
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t from = row % bands_ * band_, group = row / bands_ % groups_;
      const Counter outer(outer_, row / bands_ / groups_);
      const std::int64_t length = group + 1 < groups_ ? group_ : last_group_;
      const std::int64_t done = group * group_;
      const Band& band = sums_.at({std::min(band_, w.extent - from), length});
      const std::byte* image_columns = src + problem_.src_offset + outer.src + done * grouped_.src_stride;
      const auto pack = [&](const Meeting& meets, std::int64_t tap) {
        const Compiled& copy = *packs_.at({meets.positions, length});
        copy.run_rows(image_columns + meets.first * w.position_stride + tap * w.tap_stride, columns, 0, copy.rows(), rest);
      };
      band.sums->clear(scratch);
      const Meeting all = meeting(from);
      if (together_ && all.positions > 0) pack(all, 0);
      for (std::int64_t tap = 0; tap < w.kernel; ++tap) {
        const Meeting meets = meeting(from, tap);
        if (meets.positions == 0) continue;
        if (!together_) pack(meets, tap);
        const std::int64_t at = together_ ? (tap * all.positions + meets.first - all.first) * band.position_step : 0;
        band.sums->add(scratch, columns + at, meets.coordinate, meets.positions);
      }
      const bool certain = band.sums->finish(scratch, means_.fill());
      std::byte* image = dst + problem_.dst_offset + outer.dst + done * grouped_.dst_stride + from * w.image_stride;
      for (const Unpack& unpack : band.unpack)
        unpack.copy->run_rows(scratch + unpack.from, image + unpack.to, 0, unpack.copy->rows(), rest);
      if (!certain) means_.care(image_columns, image - from * w.image_stride, box(from, length));
    }
  }

 private:
  /// What a band makes of the image.
  Box box(std::int64_t from, std::int64_t length) const noexcept {
    Box box;
    box.push_back({-1, length, 0, 1, grouped_.src_stride, grouped_.dst_stride});
    for (int i = 0; i < problem_.windows.size(); ++i) {
      const Window& w = problem_.windows[i];
      box.push_back({i, i == 0 ? std::min(band_, w.extent - from) : w.extent, i == 0 ? from : 0, 1, 0, w.image_stride});
    }
    return box;
  }

  /// The positions whose tap points into a band, and where the first one does.
  struct Meeting {
    std::int64_t first = 0, positions = 0, coordinate = 0;
  };
  Meeting meeting(std::int64_t from, std::int64_t tap) const noexcept {
    const Window& w = problem_.windows[0];
    const std::int64_t origin = tap * w.dilation - w.pad_begin - from, extent = std::min(band_, w.extent - from);
    Meeting meets;
    meets.first = std::max<std::int64_t>(0, ceil_div(-origin, w.stride));
    const std::int64_t end = std::min(w.positions, floor_div(extent - 1 - origin, w.stride) + 1);
    meets.positions = std::max<std::int64_t>(0, end - meets.first);
    meets.coordinate = meets.first * w.stride + origin;
    return meets;
  }

  /// The positions of which some tap points into a band.
  Meeting meeting(std::int64_t from) const noexcept {
    Meeting all;
    std::int64_t end = 0;
    for (std::int64_t tap = 0; tap < problem_.windows[0].kernel; ++tap) {
      const Meeting meets = meeting(from, tap);
      if (meets.positions == 0) continue;
      all.first = end == 0 ? meets.first : std::min(all.first, meets.first);
      end = std::max(end, meets.first + meets.positions);
    }
    all.positions = end - all.first;
    return all;
  }

  /// A part of the summed image that is one copy, and where it begins on both sides.
  struct Unpack {
    std::int64_t from = 0, to = 0;
    std::unique_ptr<Compiled> copy{};
  };
  struct Band {
    std::unique_ptr<ResidueSums> sums{};
    std::vector<Unpack> unpack{};
    std::int64_t position_step = 0;  // of the first window, in the packed columns
  };
  using Key = std::pair<std::int64_t, std::int64_t>;

  /// The dim whose neighbours share lines, or that makes short rows longer, is taken several at a time.
  bool choose_group() {
    constexpr std::int64_t near_bytes = 256, least_row = 256;
    outer_ = problem_.dims;
    const auto step = [](const Dim& dim) { return std::min(std::abs(dim.src_stride), std::abs(dim.dst_stride)); };
    int nearest = -1;
    for (int i = 0; i < outer_.size(); ++i)
      if (outer_[i].extent > 1 && (nearest < 0 || step(outer_[i]) < step(outer_[nearest]))) nearest = i;
    grouped_ = take(outer_, nearest);
    const Window& last = problem_.windows[problem_.windows.size() - 1];
    const std::int64_t row = last.positions * element_, near = std::max<std::int64_t>(1, step(grouped_));
    nearest_ = row < least_row || (near == element_ && grouped_.extent * element_ >= kernels::line_bytes);
    std::int64_t most = near < near_bytes ? ceil_div(near_bytes, near) : 1;
    if (nearest_) most = std::max(most, ceil_div(2 * least_row, row));
    if (!nearest_ && problem_.windows.size() == 1) most = 1;
    most = std::min(most, grouped_.extent);
    groups_ = ceil_div(grouped_.extent, most);
    group_ = ceil_div(grouped_.extent, groups_);
    return true;
  }

  /// Bytes of the sums and of one tap's columns for so many rows of the image and one element of the group.
  double bytes_for(std::int64_t rows) const noexcept {
    auto image = static_cast<double>(rows * accumulator_size(problem_));
    auto columns = static_cast<double>(ceil_div(rows, problem_.windows[0].stride) * element_);
    for (int i = 1; i < problem_.windows.size(); ++i) {
      const Window& w = problem_.windows[i];
      image *= static_cast<double>(std::max(w.extent, (w.positions - 1) * w.stride + w.kernel * w.dilation));
      columns *= static_cast<double>(w.kernel) * static_cast<double>(w.positions);
    }
    if (together_) {
      const Window& w = problem_.windows[0];
      columns *= static_cast<double>(w.kernel) * (1 + static_cast<double>(halo()) / static_cast<double>(rows));
    }
    return image + columns;
  }

  /// Rows of the image beyond a band which the positions that meet it reach.
  std::int64_t halo() const noexcept { return (problem_.windows[0].kernel - 1) * problem_.windows[0].dilation; }

  /// As many rows as fit into the cache. Where taps of the first window share lines of the source they are packed together,
  /// if that does not pack most of them twice.
  bool choose_band() {
    const std::int64_t group = group_;
    together_ = std::abs(problem_.windows[0].tap_stride) < kernels::line_bytes && problem_.windows[0].kernel > 1;
    if (together_ && fill_band() && band_ >= halo()) return true;
    together_ = false;
    group_ = group;
    return fill_band();
  }
  bool fill_band() {
    const Window& w = problem_.windows[0];
    const auto budget = static_cast<double>(std::clamp<std::int64_t>(caches().l2 / 2, 128 << 10, 1 << 20));
    std::int64_t low = 1, high = ceil_div(w.extent, w.stride);  // in strides
    while (group_ > 1 && static_cast<double>(group_) * bytes_for(w.stride) > budget) group_ = (group_ + 1) / 2;
    if (static_cast<double>(group_) * bytes_for(w.stride) > 4 * budget) return false;
    while (low < high) {
      const std::int64_t middle = (low + high + 1) / 2;
      if (static_cast<double>(group_) * bytes_for(middle * w.stride) <= budget)
        low = middle;
      else
        high = middle - 1;
    }
    bands_ = ceil_div(ceil_div(w.extent, w.stride), low);
    band_ = std::min(w.extent, ceil_div(ceil_div(w.extent, w.stride), bands_) * w.stride);
    bands_ = ceil_div(w.extent, band_);
    groups_ = ceil_div(grouped_.extent, group_);
    last_group_ = grouped_.extent - (groups_ - 1) * group_;
    return bands_ * w.kernel <= 1 << 16;
  }

  /// The columns of one tap of the first window, or of each of its taps, packed: its positions outside of all but the taps,
  /// so that no other stride depends on how many there are.
  struct Packed {
    Problem sum;              ///< strides of the packed columns, but for the taps of the first window
    std::vector<Dim> axes{};  ///< from the tensor to there
    std::int64_t bytes = 0;
  };
  Packed packed(std::int64_t positions, std::int64_t length) const {
    Packed packed{problem_};
    Problem& sum = packed.sum;
    sum.dims = {};
    std::int64_t bytes = element_;
    const auto add_group = [&] {
      packed.axes.push_back({length, grouped_.src_stride, bytes});
      sum.dims.push_back({length, bytes, 0});
      bytes *= length;
    };
    if (nearest_) add_group();
    for (int i = sum.windows.size() - 1; i >= 1; --i) {
      Window& w = sum.windows[i];
      packed.axes.push_back({w.positions, w.position_stride, bytes});
      w.position_stride = bytes;
      bytes *= w.positions;
    }
    for (int i = sum.windows.size() - 1; i >= 1; --i) {
      Window& w = sum.windows[i];
      packed.axes.push_back({w.kernel, w.tap_stride, bytes});
      w.tap_stride = bytes;
      bytes *= w.kernel;
    }
    if (!nearest_) add_group();
    packed.axes.push_back({positions, sum.windows[0].position_stride, bytes});
    sum.windows[0].position_stride = bytes;
    bytes *= positions;
    if (together_) {
      packed.axes.push_back({sum.windows[0].kernel, sum.windows[0].tap_stride, bytes});
      bytes *= sum.windows[0].kernel;
    }
    packed.bytes = bytes;
    return packed;
  }

  void add_pack(std::int64_t positions, std::int64_t length) {
    if (positions == 0 || packs_.contains({positions, length})) return;
    const Packed columns = packed(positions, length);
    std::unique_ptr<Compiled> pack = plan_copy(problem_, columns.axes, 0);
    columns_bytes_ = std::max(columns_bytes_, columns.bytes);
    parts_scratch_ = std::max(parts_scratch_, pack->scratch_per_piece());
    packs_.emplace(Key{positions, length}, std::move(pack));
  }

  bool add_sums(std::int64_t extent, std::int64_t length) {
    if (sums_.contains({extent, length})) return true;
    Band band;
    Problem sum = packed(1, length).sum;
    sum.windows[0].extent = extent;
    band.position_step = sum.windows[0].position_stride;
    band.sums = std::make_unique<ResidueSums>(sum, nearest_);
    if (!band.sums->fits()) return false;
    sums_bytes_ = std::max(sums_bytes_, band.sums->sums_bytes());
    for (const ResidueSums::Box& box : band.sums->boxes()) {
      std::vector<Dim> axes;
      std::int64_t to = 0;
      for (int i = 0; i < problem_.windows.size(); ++i)
        to += box.coordinate[static_cast<std::size_t>(i)] * problem_.windows[i].image_stride;
      for (const ResidueSums::Axis& axis : box.axes) {
        const std::int64_t stride =
            axis.window < 0 ? grouped_.dst_stride : axis.step * problem_.windows[axis.window].image_stride;
        axes.push_back({axis.length, axis.stride, stride});
      }
      band.unpack.push_back({box.from, to, plan_copy(problem_, axes, problem_.dst_range.end - problem_.dst_range.begin)});
      parts_scratch_ = std::max(parts_scratch_, band.unpack.back().copy->scratch_per_piece());
    }
    sums_.emplace(Key{extent, length}, std::move(band));
    return true;
  }

  std::int64_t element_;
  Means means_;
  DimList outer_{};
  Dim grouped_{};
  bool nearest_ = false;   // the group lies side by side in scratch memory
  bool together_ = false;  // the taps of the first window are packed at once
  std::int64_t group_ = 1, groups_ = 1, last_group_ = 1;
  std::int64_t band_ = 1, bands_ = 1;                 // rows of the image
  std::map<Key, Band> sums_{};                        // by rows and length of the group
  std::map<Key, std::unique_ptr<Compiled>> packs_{};  // by positions and length of the group
  std::int64_t sums_bytes_ = 0, columns_bytes_ = 0, parts_scratch_ = 0;
  std::int64_t columns_at_ = 0, rest_at_ = 0;  // places in scratch memory; the sums come first
  bool fits_ = false;
};

}  // namespace

bool sum_residues_pay(const Problem& problem) {
  return spanned_bytes(problem) >= least_banded && is_possible(problem);
}

std::unique_ptr<Compiled> make_sum_residues(const Problem& problem) {
  return if_fits<SumResidues>(problem);
}

}  // namespace patchfold::engine
