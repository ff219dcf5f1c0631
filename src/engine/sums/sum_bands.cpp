// SPDX-License-Identifier: Apache-2.0
// The strategy "sum bands": sums of columns in any layout. The image is cut into bands. The columns of a band are copied to
// scratch memory. There positions lie side by side, those of the window with the smallest image stride first; only channels
// that are neighbours in the image come before positions. The sum of the copied columns is a problem of its own. Other
// strategies make the copy and the sum, so columns are read in whole lines, each line once or twice.
#include <algorithm>
#include <map>
#include <vector>

#include "engine/machine.hpp"
#include "engine/scratch_copy.hpp"
#include "engine/sums/means.hpp"
#include "engine/sums/sums.hpp"
#include "engine/walk.hpp"
#include "engine/window.hpp"

namespace patchfold::engine {
namespace {

/// The cut of the image: coordinates of one window into bands, and the dims into groups of index tuples whose columns are copied
/// together.
struct BandCut {
  int banded = 0;         ///< number of the window
  std::int64_t rows = 1;  ///< coordinates of a band
  DimList inner{};        ///< dims that are copied together, with `group` elements of `grouped`
  Dim grouped{};
  std::int64_t group = 1;
  DimList outer{};
};

/// Returns the bytes of the columns that point at `rows` coordinates of the banded window, for one index tuple of the dims.
double columns_of(const Problem& problem, int banded, std::int64_t rows) noexcept {
  auto bytes = static_cast<double>(problem.element_size);
  for (int i = 0; i < problem.windows.size(); ++i) {
    Window w = problem.windows[i];
    if (i == banded) w.positions = std::min(w.positions, (rows + (w.kernel - 1) * w.dilation) / w.stride + 1);
    bytes *= static_cast<double>(w.kernel) * static_cast<double>(w.positions);
  }
  return bytes;
}

std::optional<BandCut> cut_bands(const Problem& problem) {
  constexpr std::int64_t near_bytes = 256;
  if (!adds(problem) || problem.own_source != nullptr) return std::nullopt;
  if (problem.windows.empty() || problem.windows.size() > 3 || !are_near(problem)) return std::nullopt;
  if (has_neighbours(problem)) return std::nullopt;
  BandCut cut;
  for (int i = 1; i < problem.windows.size(); ++i)
    if (std::abs(problem.windows[i].image_stride) > std::abs(problem.windows[cut.banded].image_stride)) cut.banded = i;
  const Window& banded = problem.windows[cut.banded];
  const auto budget = static_cast<double>(std::clamp<std::int64_t>(caches().l2 / 2, 128 << 10, 1 << 20));
  // Columns that two bands share are copied for each of the two. So a band is several times as high as its shared part, if scratch
  // memory is large enough.
  const std::int64_t halo = (banded.kernel - 1) * banded.dilation;
  const std::int64_t low = std::min(banded.extent, ceil_div(std::max(banded.stride, halo), banded.stride) * banded.stride);
  const double bytes = columns_of(problem, cut.banded, low);
  if (bytes > 2 * budget) return std::nullopt;
  cut.outer = problem.dims;
  const auto step = [](const Dim& dim) { return std::min(std::abs(dim.src_stride), std::abs(dim.dst_stride)); };
  const auto take_nearest = [&] {
    int nearest = cut.outer.size() - 1;
    for (int i = 0; i < nearest; ++i)
      if (step(cut.outer[i]) < step(cut.outer[nearest])) nearest = i;
    return take(cut.outer, nearest);
  };
  const auto limited = [&](double count, std::int64_t least) {
    return std::max(least, static_cast<std::int64_t>(std::min(count, static_cast<double>(cut.grouped.extent))));
  };
  // Neighbours that share lines on either side are copied together; then a band gets as many rows as fit into scratch memory.
  cut.grouped = take_nearest();
  const auto together = static_cast<double>(ceil_div(near_bytes, std::max<std::int64_t>(1, step(cut.grouped))));
  cut.group = limited(std::min(together, 2 * budget / bytes), 1);
  std::int64_t most = banded.extent;
  const auto columns = [&](std::int64_t rows) {
    return static_cast<double>(cut.group) * columns_of(problem, cut.banded, rows);
  };
  while (most > low && columns(most) > budget) most = std::max(low, (most + 1) / 2);
  // For small images, as many index tuples are copied together as fit into scratch memory.
  double room = most == banded.extent ? budget / columns_of(problem, cut.banded, most) : 0;
  while (true) {
    cut.group = limited(room, cut.group);
    if (cut.group < cut.grouped.extent || cut.outer.empty()) break;
    room /= static_cast<double>(cut.group);
    cut.inner.push_back(cut.grouped);
    cut.grouped = take_nearest();
    cut.group = 1;
  }
  cut.group = ceil_div(cut.grouped.extent, ceil_div(cut.grouped.extent, cut.group));
  const std::int64_t bands =
      ceil_div(ceil_div(banded.extent, banded.stride), std::max<std::int64_t>(1, most / banded.stride));
  cut.rows = std::min(banded.extent, ceil_div(ceil_div(banded.extent, banded.stride), bands) * banded.stride);
  return cut;
}

/// A band: the copy of its columns to scratch memory, and the sum of the copied columns.
struct SumBand {
  std::unique_ptr<Compiled> pack{};
  std::unique_ptr<Compiled> sum{};
  std::int64_t bytes = 0;
};

/// Returns a band's plan. `window` is the banded window, narrowed to the band; `length` counts elements of the grouped dim.
SumBand plan_band(const Problem& problem, const BandCut& cut, const Window& window, std::int64_t length) {
  Problem sum = problem;
  sum.windows[cut.banded] = window;
  sum.dims = cut.inner;
  sum.dims.push_back(cut.grouped);
  sum.dims[sum.dims.size() - 1].extent = length;
  sum.src_offset = sum.dst_offset = 0;
  SumBand band;
  std::int64_t bytes = problem.element_size;
  std::vector<Dim> pack;
  const auto place = [&](std::int64_t extent, std::int64_t& stride) {
    pack.push_back({extent, stride, bytes});
    stride = bytes;
    bytes *= extent;
  };
  // The order in scratch memory, fastest first: channels that are neighbours in the image; positions, the window with the
  // smallest image stride first; taps; other dims.
  const int channels = find(sum.dims, [&](const Dim& dim) { return dim.dst_stride == problem.element_size; });
  if (channels >= 0) place(sum.dims[channels].extent, sum.dims[channels].src_stride);
  std::vector<Window*> windows;
  for (Window& w : sum.windows) windows.push_back(&w);
  std::ranges::stable_sort(windows, {}, [](const Window* w) { return std::abs(w->image_stride); });
  for (Window* w : windows) place(w->positions, w->position_stride);
  for (int i = sum.windows.size() - 1; i >= 0; --i) place(sum.windows[i].kernel, sum.windows[i].tap_stride);
  for (int i = sum.dims.size() - 1; i >= 0; --i)
    if (i != channels) place(sum.dims[i].extent, sum.dims[i].src_stride);
  sum.src_range = {0, bytes};
  band.bytes = bytes;
  if (window.positions > 0) band.pack = plan_copy(problem, pack, 0);
  sum = merge_dims(drop_single(sum));
  // If merged dims hide the channels, plan_normal() would cut the band into bands again.
  band.sum = has_neighbours(sum) ? plan_normal(sum) : make_sum_rows(sum);
  return band;
}

/// A plan of the strategy: the copies and sums of all bands; bands with the same windows share a copy and a sum. A row of work is
/// one band for one group of index tuples of the dims.
class SumBands final : public Compiled {
 public:
  SumBands(const Problem& problem, const BandCut& cut) : Compiled(problem), cut_(cut) {
    groups_ = ceil_div(cut_.grouped.extent, cut_.group);
    std::int64_t columns = 0, rest = 0;
    for (std::int64_t from = 0; from < banded().extent; from += cut_.rows)
      for (const std::int64_t length : {cut_.group, cut_.grouped.extent - (groups_ - 1) * cut_.group}) {
        const Window window = window_at(from).window;
        const auto [at, is_new] = bands_.try_emplace(key_of(window, length));
        if (!is_new) continue;
        at->second = plan_band(problem_, cut_, window, length);
        columns = std::max(columns, at->second.bytes);
        for (const auto* plan : {&at->second.pack, &at->second.sum})
          if (*plan) rest = std::max(rest, (*plan)->scratch_per_piece());
      }
    rest_at_ = whole_lines(columns);
    scratch_per_piece_ = rest_at_ + rest;
    rows_ = count_tuples(cut_.outer) * groups_ * ceil_div(banded().extent, cut_.rows);
    bytes_ = spanned_bytes(problem);
  }

  void describe_choices(std::ostream& out) const override {
    const SumBand& first = bands_.at(key_of(window_at(0).window, cut_.group));
    out << "band      " << cut_.rows << " coordinates, " << count_tuples(cut_.inner) * cut_.group
        << " images at a time\ncolumns   " << rest_at_ << " bytes\nsums      by " << first.sum->strategy << '\n';
  }

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte* scratch) const noexcept override {
    const std::int64_t bands = ceil_div(banded().extent, cut_.rows);
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t from = row % bands * cut_.rows, done = row / bands % groups_ * cut_.group;
      const Counter outer(cut_.outer, row / bands / groups_);
      const auto [window, positions] = window_at(from);
      const SumBand& band = bands_.at(key_of(window, std::min(cut_.group, cut_.grouped.extent - done)));
      const std::byte* columns = src + problem_.src_offset + outer.src + done * cut_.grouped.src_stride;
      if (band.pack)
        band.pack->run_rows(columns + positions * window.position_stride, scratch, 0, band.pack->rows(), scratch + rest_at_);
      std::byte* image = dst + problem_.dst_offset + outer.dst + done * cut_.grouped.dst_stride;
      band.sum->run_rows(scratch, image + from * window.image_stride, 0, band.sum->rows(), scratch + rest_at_);
    }
  }

 private:
  /// The window of a band, and the number of positions before its first position.
  struct At {
    Window window{};
    std::int64_t positions = 0;
  };
  using Key = std::array<std::int64_t, 4>;

  const Window& banded() const noexcept { return problem_.windows[cut_.banded]; }
  At window_at(std::int64_t from) const noexcept {
    At at{banded()};
    at.positions = narrow(at.window, from, cut_.rows);
    return at;
  }
  static Key key_of(const Window& w, std::int64_t length) noexcept { return {w.extent, w.positions, w.pad_begin, length}; }

  BandCut cut_;
  std::int64_t groups_ = 1;
  std::int64_t rest_at_ = 0;  // offset in scratch memory, behind the columns
  std::map<Key, SumBand> bands_{};
};

}  // namespace

bool sum_bands_pay(const Problem& problem) {
  constexpr double least = 32 << 10;  // bytes: for less, making the plans takes more time than they save
  return spanned_bytes(problem) >= least;
}

std::unique_ptr<Compiled> make_sum_bands(const Problem& problem) {
  const std::optional<BandCut> cut = cut_bands(problem);
  return cut ? std::make_unique<SumBands>(problem, *cut) : nullptr;
}

}  // namespace patchfold::engine
