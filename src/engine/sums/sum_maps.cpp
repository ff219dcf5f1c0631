// SPDX-License-Identifier: Apache-2.0
// The strategy "sum maps": sums map by map. A map is the image of one index tuple of the dims, or a band of a large image. All maps
// add the same taps in the same places, so one program, a list of vectors and of their terms, makes all maps
// (engine/sums/sum_program.hpp). A group of maps is summed in scratch memory that stays in the first-level cache, and other
// strategies copy it to the image.
#include <algorithm>
#include <array>
#include <vector>

#include "base/checked.hpp"
#include "engine/machine.hpp"
#include "engine/scratch_copy.hpp"
#include "engine/sums/means.hpp"
#include "engine/sums/sum_program.hpp"
#include "engine/sums/sums.hpp"
#include "engine/walk.hpp"
#include "kernels/blocks.hpp"
#include "kernels/move.hpp"

namespace patchfold::engine {
namespace {

/// The cut of the image: coordinates of one window into bands, and one dim into groups of maps.
struct MapCut {
  int banded = 0;         ///< number of the window
  std::int64_t rows = 1;  ///< coordinates of a band
  DimList outer{};
  Dim grouped{};
  std::int64_t group = 1;  ///< number of maps
  std::int64_t groups = 1;
  std::int64_t last_group = 1;
};

/// The windows of a band, and the bytes from the columns of the map to those of the band.
struct MapBand {
  std::vector<Window> windows{};
  std::int64_t src = 0;
};

/// A part of the sums in scratch memory, and its place in the image.
struct MapCopy {
  std::unique_ptr<Compiled> copy{};
  std::int64_t from = 0;
  std::int64_t to = 0;
};

/// A plan that puts the phases of the innermost axes in order, in scratch memory.
struct PhaseJoin {
  int axes = 0;                ///< 0: phases are not joined
  kernels::Streams streams{};  ///< for one axis: of one map; of several maps if `rows` is multiplied by their number
  std::int64_t blocks = 1;     ///< for two axes: calls for each map
  std::int64_t outer = 1;      ///< for two axes: phases of the outer one, whose rows alternate
};

/// The program and the copies that bands with the same windows share.
struct MapPart {
  std::vector<Window> windows{};
  SumPlan plan;
  PhaseJoin join{};
  std::vector<MapCopy> copies{};
  std::vector<MapCopy> last_copies{};  ///< copies of the last group
};

/// Returns the index of the dim whose elements are neighbours on both sides (such as channels last) and fill a line or are
/// continued by positions; -1 if there is none.
int channels_of(const Problem& problem) {
  return find(problem.dims, [&](const Dim& dim) {
    const std::int64_t bytes = dim.extent * problem.element_size;
    return dim.src_stride == problem.element_size && dim.dst_stride == problem.element_size &&
           (bytes >= kernels::line_bytes ||
            std::ranges::any_of(problem.windows, [&](const Window& w) { return w.position_stride == bytes; }));
  });
}

/// Returns the index of the dim whose elements are rows of few positions that follow one another on both sides; -1 if there
/// is none.
int rows_of(const Problem& problem) {
  constexpr std::int64_t short_row = 256;  // bytes (arbitrary)
  for (const Window& w : problem.windows) {
    const std::int64_t row = w.positions * problem.element_size;
    if (w.position_stride != problem.element_size || row >= short_row) continue;
    const int rows = find(problem.dims, [&](const Dim& dim) {
      return dim.src_stride == row && dim.dst_stride == w.extent * w.image_stride && dim.extent * row <= stage_bytes();
    });
    if (rows >= 0) return rows;
  }
  return -1;
}

/// Turns dim i into a window of one tap, so that the elements of the dim become an axis of the map.
void take_into_map(Problem& problem, int i) {
  if (i < 0) return;
  const Dim dim = take(problem.dims, i);
  Window w;
  w.positions = w.extent = dim.extent;
  w.image_stride = dim.dst_stride;
  w.position_stride = dim.src_stride;
  problem.windows.push_back(w);
}

/// Returns the problem with channels and short rows (channels_of, rows_of) as axes of the map.
Problem with_larger_maps(Problem problem) {
  if (problem.windows.empty()) return problem;
  take_into_map(problem, channels_of(problem));
  take_into_map(problem, rows_of(problem));
  return problem;
}

bool has_maps(const Problem& problem) {
  constexpr int most_windows = 5;  // arbitrary: each window with a stride adds copies to the image
  if (!adds(problem) || problem.own_source != nullptr) return false;
  if (problem.windows.empty() || problem.windows.size() > most_windows || !are_near(problem)) return false;
  constexpr double most_taps = 4096;  // arbitrary: a program lists each tap
  double taps = 1;
  for (const Window& w : problem.windows) taps *= static_cast<double>(w.kernel);
  return taps <= most_taps && has_neighbours(problem);
}

std::optional<MapCut> cut_maps(const Problem& problem) {
  if (!has_maps(problem)) return std::nullopt;
  MapCut cut;
  for (int i = 0; i < problem.windows.size(); ++i)
    if (std::abs(problem.windows[i].image_stride) > std::abs(problem.windows[cut.banded].image_stride)) cut.banded = i;
  const Window& banded = problem.windows[cut.banded];
  const std::int64_t strides = ceil_div(banded.extent, banded.stride);
  // The bytes of the sums for as many coordinates of the banded window as its stride.
  std::int64_t row = accumulator_size(problem);
  for (int i = 0; i < problem.windows.size(); ++i) {
    const Window& w = problem.windows[i];
    row *= std::min(w.stride, w.extent) * (i == cut.banded ? 1 : ceil_div(w.extent, w.stride));
    if (row > stage_bytes()) return std::nullopt;
  }
  // The columns of a larger band are read in longer runs, but the sums of a band should stay in a fast cache.
  const std::int64_t most = std::clamp<std::int64_t>(caches().l2 / 16, 32 << 10, 64 << 10);
  std::int64_t bands = 1;
  if (strides * row > 2 * most) {
    const std::int64_t halo = (banded.kernel - 1) * banded.dilation;
    const std::int64_t worth = std::min(ceil_div(2 * halo, banded.stride), stage_bytes() / row);
    bands = ceil_div(strides, std::max({std::int64_t{1}, most / row, worth}));
  }
  cut.rows = std::min(banded.extent, ceil_div(strides, bands) * banded.stride);
  cut.outer = problem.dims;
  cut.grouped = take(cut.outer, cut.outer.size() - 1);
  const std::int64_t near = std::clamp<std::int64_t>(caches().l1 / 2, 8 << 10, 32 << 10);
  const std::int64_t wanted = std::clamp<std::int64_t>(near / (ceil_div(strides, bands) * row), 1, cut.grouped.extent);
  cut.groups = ceil_div(cut.grouped.extent, wanted);
  cut.group = ceil_div(cut.grouped.extent, cut.groups);
  cut.groups = ceil_div(cut.grouped.extent, cut.group);
  cut.last_group = cut.grouped.extent - (cut.groups - 1) * cut.group;
  return cut;
}

std::vector<MapBand> bands_of(const Problem& problem, const MapCut& cut) {
  std::vector<MapBand> bands;
  for (std::int64_t from = 0; from < problem.windows[cut.banded].extent; from += cut.rows) {
    MapBand band{{problem.windows.begin(), problem.windows.end()}, 0};
    Window& w = band.windows[static_cast<std::size_t>(cut.banded)];
    band.src = narrow(w, from, cut.rows) * w.position_stride;
    bands.push_back(std::move(band));
  }
  return bands;
}

/// Returns the plan to join the phases with vectors; a plan of 0 axes if that is impossible.
PhaseJoin plan_join(const std::vector<Window>& windows, const SumPlan& plan, std::int64_t element) {
  constexpr std::int64_t least_row = 32;  // the fewest bytes of a phase for which a call for each row pays (measured)
  const Window& inner = windows[static_cast<std::size_t>(plan.order.back())];
  const std::int64_t phases = phase_count(inner), length = phase_length(inner);
  if (phases == 1 || phases < inner.stride || !kernels::has_vectors(element, phases)) return {};
  std::int64_t phase = 1;
  for (const Window& w : windows) phase *= phase_length(w);
  const std::int64_t blocks = plan.elements / phase / phases, block = phase * phases * element;
  PhaseJoin join{1, {phases, phase * element, phase, blocks, block, block, 0}};
  if (windows.size() == 1 || length * element < least_row) return join;
  const Window& outer = windows[static_cast<std::size_t>(plan.order.end()[-2])];
  if (phase_count(outer) == 1 || phase_count(outer) < outer.stride) return join;
  join.axes = 2;
  join.blocks = blocks;
  join.outer = phase_count(outer);
  join.streams.count = length;
  join.streams.rows = phase / length;
  join.streams.stream_row_pitch = length * element;
  join.streams.row_pitch = join.outer * phases * length * element;
  return join;
}

/// Returns the copies of `maps` maps to the image. Along each window whose phases are not joined, the coordinates in whole
/// strides and the coordinates behind these need copies of their own.
std::vector<MapCopy> copies_of(const Problem& problem, const MapCut& cut, const MapPart& part, std::int64_t maps) {
  /// A box of the sorted map that one copy covers, with its offsets in scratch memory and in the image.
  struct Region {
    std::int64_t from = 0, to = 0;
    std::vector<Dim> dims{};
  };
  std::int64_t element = problem.element_size, phase = element;
  for (const Window& w : part.windows) phase *= phase_length(w);
  std::vector<Region> regions(1);
  regions[0].dims.push_back({maps, part.plan.elements * element, cut.grouped.dst_stride});
  int joined = part.join.axes;
  for (auto i = part.plan.order.rbegin(); i != part.plan.order.rend(); ++i, --joined) {
    const Window& w = part.windows[static_cast<std::size_t>(*i)];
    if (joined > 0) {
      regions[0].dims.push_back({w.extent, element, w.image_stride});
      element *= phase_length(w) * phase_count(w);
      phase *= phase_count(w);
      continue;
    }
    const std::int64_t whole = w.extent / w.stride, rest = w.extent % w.stride;
    std::vector<Region> next;
    for (const Region& region : regions)
      for (const auto& [place, count, phases] : {std::array{std::int64_t{0}, whole, phase_count(w)}, {whole, 1, rest}}) {
        if (count == 0 || phases == 0) continue;
        next.push_back(region);
        next.back().from += place * element;
        next.back().to += place * w.stride * w.image_stride;
        next.back().dims.push_back({count, element, w.stride * w.image_stride});
        next.back().dims.push_back({phases, phase, w.image_stride});
      }
    regions = std::move(next);
    element *= phase_length(w);
    phase *= phase_count(w);
  }
  std::vector<MapCopy> copies;
  for (const Region& region : regions)
    copies.push_back({plan_copy(problem, region.dims, static_cast<std::int64_t>(spanned_bytes(problem)), problem.accumulate),
                      region.from, region.to});
  return copies;
}

/// Returns the programs of all bands; nothing if there would be many programs, or long ones.
std::optional<std::vector<MapPart>> parts_of_maps(const Problem& problem, const MapCut& cut,
                                                  const std::vector<MapBand>& bands, const kernels::SumMapKernel& kernel) {
  constexpr std::size_t most_parts = 8;  // arbitrary
  constexpr double long_run = 16 << 10;  // bytes of columns: runs of this length or more are prefetched well (measured)
  std::vector<MapPart> parts;
  double run = static_cast<double>(problem.element_size);
  for (const Window& w : problem.windows) run *= static_cast<double>(w.positions);
  // If channels are part of the map, the columns of a tap lie in pieces, one for each position.
  const bool has_channels = std::ranges::any_of(
      problem.windows, [&](const Window& w) { return w.position_stride == problem.element_size && w.kernel == 1; });
  const bool in_order =
      bands.size() == 1 && run < long_run && !has_channels && store_of(problem) == kernels::Store::past_cache;
  for (const MapBand& band : bands) {
    if (std::ranges::find(parts, band.windows, &MapPart::windows) != parts.end()) continue;
    if (parts.size() == most_parts) return std::nullopt;
    std::optional<SumPlan> plan = plan_sums(band.windows, kernel, problem.element_size,
                                            in_order ? Reads::in_order : Reads::together, is_mean(problem));
    if (!plan) return std::nullopt;
    MapPart part{band.windows, std::move(*plan)};
    part.join = plan_join(band.windows, part.plan, problem.element_size);
    part.copies = copies_of(problem, cut, part, cut.group);
    part.last_copies = copies_of(problem, cut, part, cut.last_group);
    parts.push_back(std::move(part));
  }
  return parts;
}

/// A plan of the strategy. A row of work is one band of one group of maps, and all its sums stay in the piece's scratch
/// memory until they are final. Programs depend only on the windows, so they do not grow with batch and channels.
class SumMaps final : public Compiled {
 public:
  SumMaps(const Problem& problem, const MapCut& cut, const std::vector<MapBand>& bands, std::vector<MapPart> parts,
          const kernels::SumMapKernel& kernel)
      : Compiled(problem), kernel_(kernel), means_(problem_), cut_(cut), parts_(std::move(parts)) {
    for (const MapBand& band : bands)
      bands_.push_back({band.src, &*std::ranges::find(parts_, band.windows, &MapPart::windows)});
    std::int64_t elements = 0, copies = 0;
    bool joins = false;
    for (const MapPart& part : parts_) {
      elements = std::max(elements, part.plan.elements);
      joins |= part.join.axes > 0;
      for (const auto* list : {&part.copies, &part.last_copies})
        for (const MapCopy& each : *list) copies = std::max(copies, each.copy->scratch_per_piece());
    }
    const std::int64_t vector = kernel_.lanes * kernel_.sum_size;
    const std::int64_t group = whole_lines(elements * problem.element_size * cut.group + vector);
    elements_at_ = whole_lines(elements * problem.element_size / kernel_.lane_size * kernel_.sum_size + vector);
    joined_at_ = elements_at_ + group;
    rest_at_ = joined_at_ + (joins ? group : 0);
    scratch_per_piece_ = rest_at_ + copies;
    rows_ = count_tuples(cut.outer) * cut.groups * std::ssize(bands_);
    bytes_ = spanned_bytes(problem);
    if (bands_.size() > 1 || bytes_ <= static_cast<double>(caches().l2) / 2) return;  // the processor prefetches these by itself
    constexpr std::int64_t least_ahead = 8 << 10;
    columns_bytes_ = std::abs(cut.grouped.src_stride);
    ahead_ = columns_bytes_ == 0 ? 0 : ceil_div(least_ahead, columns_bytes_);
  }

  void describe_choices(std::ostream& out) const override {
    out << "group     " << cut_.group << " maps\nband      " << cut_.rows << " rows, " << parts_.size()
        << " programs\nvector    " << kernel_.lanes << " lanes\n";
  }

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte* scratch) const noexcept override {
    const std::int64_t bands = std::ssize(bands_);
    const Dim& grouped = cut_.grouped;
    kernels::SumMap map;
    map.begin = src + problem_.src_range.begin;
    map.end = src + problem_.src_range.end;
    map.sums = scratch;
    bool certain = true;
    map.certain = &certain;
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t band = row % bands, group = row / bands % cut_.groups;
      const Counter outer(cut_.outer, row / bands / cut_.groups);
      const MapPart& part = *bands_[static_cast<std::size_t>(band)].part;
      const kernels::SumProgram program = part.plan.program();
      const std::int64_t from = group * cut_.group, end = std::min(from + cut_.group, grouped.extent);
      const std::byte* columns = src + problem_.src_offset + outer.src + from * grouped.src_stride;
      map.src = columns + bands_[static_cast<std::size_t>(band)].src;
      map.to = scratch + elements_at_;
      for (std::int64_t k = from; k < end; ++k) {
        map.ahead = map.ahead_end = map.src + ahead_ * grouped.src_stride;
        if (k + ahead_ < grouped.extent) map.ahead_end += columns_bytes_;
        kernel_.sum(program, map);
        fill(map.to, part.plan.holes);
        map.src += grouped.src_stride;
        map.to += part.plan.elements * problem_.element_size;
      }
      const std::byte* made = scratch + elements_at_;
      if (part.join.axes > 0) {
        join(part.join, scratch + joined_at_, made, end - from);
        made = scratch + joined_at_;
      }
      std::byte* image = dst + problem_.dst_offset + outer.dst + from * grouped.dst_stride;
      std::byte* to = image + band * cut_.rows * problem_.windows[cut_.banded].image_stride;
      for (const MapCopy& each : end - from == cut_.group ? part.copies : part.last_copies)
        each.copy->run_rows(made + each.from, to + each.to, 0, each.copy->rows(), scratch + rest_at_);
      if (!certain) means_.care(columns, image, image_part(part, band, end - from));
      certain = true;
    }
  }

 private:
  /// A band: the offset of its columns, and the part that it shares with other bands.
  struct Band {
    std::int64_t src = 0;
    const MapPart* part = nullptr;
  };

  void join(const PhaseJoin& join, std::byte* to, const std::byte* from, std::int64_t maps) const noexcept {
    kernels::Streams streams = join.streams;
    const auto run = [&] {
      kernels::join(to, from, problem_.element_size, streams, kernels::Store::plain, kernels::Finish::none);
    };
    if (join.axes == 1) {
      streams.rows *= maps;
      return run();
    }
    const std::int64_t block = streams.rows * streams.stream_row_pitch * streams.ways;
    const std::int64_t row = streams.stream_row_pitch * streams.ways;
    for (std::int64_t i = 0; i < maps * join.blocks; ++i, from += block) {
      run();
      to += (i + 1) % join.outer == 0 ? join.outer * (block - row) + row : row;
    }
  }

  /// Fills the elements of a map of means that have no terms.
  void fill(std::byte* to, const std::vector<SumPlan::Hole>& holes) const noexcept {
    const std::int64_t element = problem_.element_size;
    for (const SumPlan::Hole& hole : holes)
      kernels::fill_row(to + hole.first * element, element, means_.fill().data(), element, hole.count, element);
  }

  /// Returns the box of the image that `maps` maps of a band fill.
  Box image_part(const MapPart& part, std::int64_t band, std::int64_t maps) const noexcept {
    Box box;
    box.push_back({-1, maps, 0, 1, cut_.grouped.src_stride, cut_.grouped.dst_stride});
    for (int i = 0; i < problem_.windows.size(); ++i) {
      const std::int64_t extent = part.windows[static_cast<std::size_t>(i)].extent;
      box.push_back({i, extent, i == cut_.banded ? band * cut_.rows : 0, 1, 0, problem_.windows[i].image_stride});
    }
    return box;
  }

  const kernels::SumMapKernel& kernel_;
  Means means_;
  MapCut cut_;
  std::vector<MapPart> parts_;
  std::vector<Band> bands_{};
  std::int64_t elements_at_ = 0;  // offset in scratch memory, behind the sums of one map
  std::int64_t joined_at_ = 0;    // offset behind the elements of a group
  std::int64_t rest_at_ = 0;      // offset of the copies' own scratch memory
  std::int64_t ahead_ = 0;        // number of maps that are prefetched ahead
  std::int64_t columns_bytes_ = 0;
};

}  // namespace

bool has_neighbours(const Problem& problem) {
  return channels_of(problem) >= 0 ||
         std::ranges::any_of(problem.windows, [&](const Window& w) { return w.position_stride == problem.element_size; });
}

std::unique_ptr<Compiled> make_sum_maps(const Problem& given) {
  const Problem problem = with_larger_maps(given);
  const std::optional<MapCut> cut = cut_maps(problem);
  if (!cut) return nullptr;
  const std::vector<MapBand> bands = bands_of(problem, *cut);
  // The kernel is chosen once for the plan, since another thread may change the instruction set.
  const kernels::SumMapKernel& kernel =
      is_mean(problem) ? kernels::mean_map_kernel(problem.dtype) : kernels::sum_map_kernel(problem.dtype);
  std::optional<std::vector<MapPart>> parts = parts_of_maps(problem, *cut, bands, kernel);
  return parts ? std::make_unique<SumMaps>(problem, *cut, bands, std::move(*parts), kernel) : nullptr;
}

}  // namespace patchfold::engine
