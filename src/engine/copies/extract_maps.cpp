// SPDX-License-Identifier: Apache-2.0
// The strategy "extract maps": extracts of small images, map by map. A map is the image of one index tuple of the dims. All maps
// are read in the same way, so one program, a list of vectors in the order of the columns, makes all columns
// (engine/copies/extract_program.hpp). If the innermost window has a stride, or its coordinates are not neighbours in memory, a
// group of maps is first sorted in scratch memory. Maps are sorted by phase, the coordinate modulo the stride.
#include <algorithm>
#include <array>
#include <vector>

#include "base/checked.hpp"
#include "engine/copies/copies.hpp"
#include "engine/copies/extract_program.hpp"
#include "engine/machine.hpp"
#include "engine/scratch_copy.hpp"
#include "engine/walk.hpp"
#include "engine/window.hpp"
#include "kernels/blocks.hpp"

namespace patchfold::engine {
namespace {

/// The maps of a problem: their windows, the layout in which they are read, and the dims that number them.
struct MapLayout {
  std::vector<Window> windows{};  ///< windows of the map as it is read
  int inner = 0;                  ///< index of the window whose positions lie side by side
  std::int64_t phase_pitch = 0;   ///< bytes between phases of the inner window; 0: the image itself is read
  std::int64_t map_bytes = 0;     ///< bytes of the map as it is read
  std::int64_t columns = 0;       ///< bytes of columns per map
  DimList outer{};
  Dim grouped{};
  std::int64_t group = 1;
  std::int64_t groups = 1;
};

/// Returns whether the columns have no gaps: taps in the order of the windows, then positions in walk_order().
bool are_dense(const std::vector<Window>& windows, const std::vector<int>& order, std::int64_t element) {
  std::int64_t run = element;
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    const Window& w = windows[static_cast<std::size_t>(*i)];
    if (w.positions > 1 && w.position_stride != run) return false;
    run *= w.positions;
  }
  for (auto w = windows.rbegin(); w != windows.rend(); ++w) {
    if (w->kernel > 1 && w->tap_stride != run) return false;
    run *= w->kernel;
  }
  return true;
}

std::optional<MapLayout> lay_out_maps(const Problem& problem) {
  const std::int64_t element = problem.element_size;
  if (problem.verb != Verb::extract || problem.windows.empty() || problem.windows.size() > 3 || !are_near(problem))
    return std::nullopt;
  if (element != 1 && element != 2 && element != 4 && element != 8 && element != 16) return std::nullopt;
  MapLayout maps;
  maps.windows.assign(problem.windows.begin(), problem.windows.end());
  const std::vector<int> order = walk_order(maps.windows, element);
  if (!are_dense(maps.windows, order, element)) return std::nullopt;
  maps.inner = order.back();
  maps.columns = element;
  constexpr double most_columns = 16 << 20;  // bytes (arbitrary): limits the lists of a program, which grow with the padding
  double taps = 1, image = static_cast<double>(element), columns = image;
  for (const Window& w : maps.windows) {
    if (w.mode != PaddingMode::constant) return std::nullopt;
    taps *= static_cast<double>(w.kernel);
    image *= static_cast<double>(w.extent + w.stride);
    columns *= static_cast<double>(w.kernel) * static_cast<double>(w.positions);
    if (columns <= most_columns) maps.columns *= w.kernel * w.positions;
  }
  constexpr double most_taps = 4096;  // arbitrary: a program lists each tap
  if (taps > most_taps || columns > most_columns || image > static_cast<double>(caches().l2) / 4) return std::nullopt;
  maps.outer = problem.dims;
  maps.grouped = take(maps.outer, maps.outer.size() - 1);
  if (maps.grouped.extent > 1 && maps.grouped.dst_stride != maps.columns) return std::nullopt;
  constexpr std::int64_t near = 32 << 10, worth = 128 << 10;  // bytes: of maps, and of columns
  const Window& inner = maps.windows[static_cast<std::size_t>(maps.inner)];
  std::int64_t most = std::max<std::int64_t>(1, worth / maps.columns);
  if (inner.stride > 1 || inner.image_stride != element) {
    // The outermost axis of a sorted map counts the phases of the inner window. A phase has an axis for every window, of
    // which that of the inner window is the innermost.
    std::int64_t pitch = element * phase_length(inner);
    for (auto i = order.rbegin() + 1; i != order.rend(); ++i) {
      Window& w = maps.windows[static_cast<std::size_t>(*i)];
      w.image_stride = pitch;
      pitch *= w.extent;
    }
    maps.windows[static_cast<std::size_t>(maps.inner)].image_stride = element;
    maps.phase_pitch = pitch;
    maps.map_bytes = pitch * phase_count(inner);
    most = std::clamp<std::int64_t>(near / maps.map_bytes, 1, most);
  }
  maps.groups = ceil_div(maps.grouped.extent, std::min(most, maps.grouped.extent));
  maps.group = ceil_div(maps.grouped.extent, maps.groups);
  maps.groups = ceil_div(maps.grouped.extent, maps.group);
  return maps;
}

/// A plan of the strategy: one program, which each row of work runs for a group of maps. A vector of the program may read beyond
/// the end of a map, but never beyond the source tensor.
class ExtractMaps final : public Compiled {
 public:
  ExtractMaps(const Problem& problem, MapLayout maps, ExtractPlan plan, const kernels::ExtractMapKernel& kernel)
      : Compiled(problem), kernel_(kernel), maps_(std::move(maps)), plan_(std::move(plan)), store_(store_of(problem)) {
    for (std::size_t i = 0; i < fill_.size(); ++i)
      fill_[i] = problem.fill[i % static_cast<std::size_t>(problem.element_size)];
    rows_ = count_tuples(maps_.outer) * maps_.groups;
    bytes_ = spanned_bytes(problem);
    if (maps_.phase_pitch == 0) return;
    add_sorts(sorts_, maps_.group);
    add_sorts(last_sorts_, maps_.grouped.extent - (maps_.groups - 1) * maps_.group);
    rest_at_ = whole_lines(maps_.group * maps_.map_bytes + 2 * kernels::line_bytes);
    scratch_per_piece_ += rest_at_;
  }

  void describe_choices(std::ostream& out) const override {
    out << "group     " << maps_.group << " maps" << (maps_.phase_pitch == 0 ? "" : ", sorted") << "\nsteps     "
        << plan_.steps.size() << "\nvector    " << kernel_.lanes << " lanes\nstore     " << name_of(store_) << '\n';
  }

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte* scratch) const noexcept override {
    const Dim& grouped = maps_.grouped;
    kernels::ExtractMaps maps;
    maps.fill = &fill_;
    maps.store = store_;
    for (std::int64_t row = first; row < last; ++row) {
      const Counter outer(maps_.outer, row / maps_.groups);
      const std::int64_t from = row % maps_.groups * maps_.group;
      maps.count = std::min(maps_.group, grouped.extent - from);
      maps.src = src + problem_.src_offset + outer.src + from * grouped.src_stride;
      maps.src_step = grouped.src_stride;
      maps.begin = src + problem_.src_range.begin;
      maps.end = src + problem_.src_range.end;
      maps.dst = dst + problem_.dst_offset + outer.dst + from * grouped.dst_stride;
      maps.dst_end = maps.dst + maps.count * maps_.columns;
      if (maps_.phase_pitch != 0) {
        std::byte* const sorted = scratch + kernels::line_bytes;
        for (const Sort& sort : maps.count == maps_.group ? sorts_ : last_sorts_)
          sort.copy->run_rows(maps.src + sort.from, sorted + sort.to, 0, sort.copy->rows(), scratch + rest_at_);
        maps.src = sorted;
        maps.src_step = maps_.map_bytes;
        maps.begin = scratch;
        maps.end = scratch + rest_at_;
      }
      kernel_.extract(plan_.program(), maps);
    }
  }

 private:
  /// A copy from the image to the sorted maps.
  struct Sort {
    std::unique_ptr<Compiled> copy{};
    std::int64_t from = 0;
    std::int64_t to = 0;
  };

  /// Adds the copies that sort `count` maps: one for the coordinates in whole strides of the inner window, and one for the
  /// coordinates behind these.
  void add_sorts(std::vector<Sort>& sorts, std::int64_t count) {
    const Window& inner = problem_.windows[maps_.inner];
    const std::int64_t element = problem_.element_size, whole = inner.extent / inner.stride;
    const auto add = [&](std::int64_t place, std::int64_t length, std::int64_t phases) {
      if (length == 0 || phases == 0) return;
      std::vector<Dim> axes{{count, maps_.grouped.src_stride, maps_.map_bytes}};
      for (int i = 0; i < problem_.windows.size(); ++i)
        if (i != maps_.inner)
          axes.push_back({problem_.windows[i].extent, problem_.windows[i].image_stride,
                          maps_.windows[static_cast<std::size_t>(i)].image_stride});
      axes.push_back({length, inner.stride * inner.image_stride, element});
      axes.push_back({phases, inner.image_stride, maps_.phase_pitch});
      sorts.push_back({plan_copy(problem_, axes, 0), place * inner.stride * inner.image_stride, place * element});
      scratch_per_piece_ = std::max(scratch_per_piece_, sorts.back().copy->scratch_per_piece());
    };
    add(0, whole, std::min(inner.stride, inner.extent));
    add(whole, 1, inner.extent % inner.stride);
  }

  const kernels::ExtractMapKernel& kernel_;
  MapLayout maps_;
  ExtractPlan plan_;
  kernels::Store store_;
  kernels::FillLine fill_{};
  std::vector<Sort> sorts_{}, last_sorts_{};
  std::int64_t rest_at_ = 0;  // offset in scratch memory, behind the sorted maps
};

}  // namespace

bool extract_maps_pay(const Problem& problem) {
  // A program pays for short rows and for rows with phases, if patches overlap and taps are not many. In all other cases the
  // strategies "bands" and "strided" are as fast, since a program reads the whole map for each tap.
  constexpr double least_times = 2;
  const double most_taps = problem.element_size <= 2 ? 128 : 49;
  constexpr std::int64_t few_bytes = 12;
  const std::int64_t short_row = store_of(problem) == kernels::Store::past_cache ? 256 : 160;  // bytes
  double taps = 1, times = 1;
  bool fits = false;
  for (const Window& w : problem.windows) {
    taps *= static_cast<double>(w.kernel);
    times *= static_cast<double>(w.kernel) / static_cast<double>(w.stride);
    const std::int64_t row = w.positions * problem.element_size;
    fits |= w.position_stride == problem.element_size && (w.stride == 1 ? row < short_row : row >= few_bytes);
  }
  return fits && taps <= most_taps && times >= least_times;
}

std::unique_ptr<Compiled> make_extract_maps(const Problem& problem) {
  std::optional<MapLayout> maps = lay_out_maps(problem);
  if (!maps) return nullptr;
  // The kernel is chosen once for the plan, since another thread may change the instruction set.
  const auto* kernel = kernels::extract_map_kernel(std::min<std::int64_t>(problem.element_size, 8));
  if (kernel == nullptr) return nullptr;
  std::optional<ExtractPlan> plan = plan_extract(maps->windows, *kernel, problem.element_size, maps->phase_pitch);
  return plan ? std::make_unique<ExtractMaps>(problem, std::move(*maps), std::move(*plan), *kernel) : nullptr;
}

}  // namespace patchfold::engine
