// SPDX-License-Identifier: Apache-2.0
#include "engine/sum_program.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include "tensor/checked.hpp"

namespace patchfold::engine {
namespace {

constexpr std::size_t most_listed_terms = 1 << 16;  ///< of a program (arbitrary: 2 MB)
/// Bytes of a map's columns that the processor fetches ahead in any order (measured).
constexpr double most_bytes_of_runs = 4096;

/// A tap, and the elements [from, to) of its phase that it meets: element m at position m + shift.
struct SumTap {
  std::int64_t phase = 0;
  std::int64_t offset = 0;  ///< bytes to the column element of element 0
  std::int64_t from = 0;
  std::int64_t to = 0;
};

/// The taps of a window that meet some element, ascending.
std::vector<SumTap> taps_of(const MapAxis& axis) {
  std::vector<SumTap> taps;
  const Window& w = axis.window;
  for (std::int64_t q = 0; q < w.kernel; ++q) {
    SumTap tap;
    tap.phase = floor_mod(q * w.dilation - w.pad_begin, w.stride);
    if (tap.phase >= axis.phases) continue;
    const std::int64_t shift = (tap.phase + w.pad_begin - q * w.dilation) / w.stride;
    tap.offset = q * w.tap_stride + shift * w.position_stride;
    tap.from = std::max<std::int64_t>(0, -shift);
    tap.to = std::min(axis.length, w.positions - shift);
    if (tap.from < tap.to) taps.push_back(tap);
  }
  return taps;
}

/// Counts through tuples of numbers below `ends`, the last fastest.
class Tuple {
 public:
  explicit Tuple(std::vector<std::int64_t> ends) : ends_(std::move(ends)), index_(ends_.size()) {}
  std::int64_t operator[](std::size_t i) const { return index_[i]; }
  /// False after the last tuple, with which it begins again.
  bool next() {
    for (std::size_t i = ends_.size(); i-- > 0; index_[i] = 0)
      if (++index_[i] < ends_[i]) return true;
    return false;
  }

 private:
  std::vector<std::int64_t> ends_;
  std::vector<std::int64_t> index_;
};

/// Writes one program. Axes are counted in the order of the elements of a phase, from the outermost on. Those from `flat_`
/// on are one row: the next row of a tap's positions lies behind the one before, as in the map.
class SumPlanWriter {
 public:
  SumPlanWriter(const std::vector<MapAxis>& axes, const kernels::SumMapKernel& kernel, std::int64_t element_size,
                Reads reads)
      : kernel_(kernel), size_(axes.size()), parts_(element_size / kernel_.lane_size), reads_(reads) {
    std::vector<int>& order = plan_.order;
    order.resize(size_);
    std::iota(order.begin(), order.end(), 0);
    // Elements side by side go last. The stride of a single position may be any.
    const auto step = [&](int i) -> std::int64_t {
      const Window& w = axes[static_cast<std::size_t>(i)].window;
      if (w.position_stride == element_size) return w.positions > 1 ? 0 : 1;
      if (w.positions <= 1) return std::numeric_limits<std::int64_t>::max();
      return std::max<std::int64_t>(2, std::abs(w.position_stride));
    };
    std::ranges::stable_sort(order, std::ranges::greater(), step);
    place_.resize(size_);
    for (std::size_t k = 0; k < size_; ++k) {
      place_[static_cast<std::size_t>(order[k])] = k;
      axes_.push_back(axes[static_cast<std::size_t>(order[k])]);
      all_taps_.push_back(taps_of(axes_.back()));
      block_ *= axes_.back().length;
      columns_ *= static_cast<double>(axes_.back().window.kernel) * static_cast<double>(axes_.back().window.positions);
    }
    columns_ *= static_cast<double>(element_size);
    flat_ = size_ - 1;
    for (std::int64_t run = element_size; flat_ > 0; --flat_) {
      const MapAxis& inner = axes_[flat_];
      if (inner.length != inner.window.positions || inner.window.position_stride != run) break;
      run *= inner.length;
      if (axes_[flat_ - 1].window.position_stride != run) break;
    }
    for (std::size_t k = flat_; k < size_; ++k) row_ *= axes_[k].length;
    row_ *= parts_;
    plan_.elements = block_;
    for (const MapAxis& axis : axes_) plan_.elements *= axis.phases;
    plan_.lanes = plan_.elements * parts_;
  }

  bool write() {
    const bool is_little = columns_ <= most_bytes_of_runs || (flat_ == 0 && row_ <= kernel_.most_vectors * kernel_.lanes);
    const bool done = is_little ? write_runs() : write_steps();
    plan_.masks.resize(plan_.masks.size() + 8);
    return done;
  }

  SumPlan take() { return std::move(plan_); }

 private:
  using Taps = std::vector<std::vector<SumTap>>;
  /// One tap of each axis, and the bytes to the column element of element 0.
  struct Met {
    std::vector<SumTap> taps{};
    std::int64_t offset = 0;
  };

  /// Calls visit(met) for every tuple of taps in ascending order, until it returns false.
  template <class Visit>
  bool each_tap(const Taps& taps, const Visit& visit) const {
    std::vector<std::int64_t> counts(size_);
    for (std::size_t i = 0; i < size_; ++i) counts[i] = static_cast<std::int64_t>(taps[place_[i]].size());
    if (std::ranges::find(counts, 0) != counts.end()) return true;
    Tuple tuple(counts);
    Met met{std::vector<SumTap>(size_), 0};
    do {
      met.offset = 0;
      for (std::size_t i = 0; i < size_; ++i) {
        met.taps[place_[i]] = taps[place_[i]][static_cast<std::size_t>(tuple[i])];
        met.offset += met.taps[place_[i]].offset;
      }
      if (!visit(met)) return false;
    } while (tuple.next());
    return true;
  }

  Tuple outer_elements() const {
    std::vector<std::int64_t> lengths;
    for (std::size_t k = 0; k < flat_; ++k) lengths.push_back(axes_[k].length);
    return Tuple(lengths);
  }

  /// Bytes of the columns to an outer element; nothing if the taps do not meet it.
  std::optional<std::int64_t> outer_offset(const Tuple& element, const std::vector<SumTap>& met) const {
    std::int64_t offset = 0;
    for (std::size_t k = 0; k < flat_; ++k) {
      if (element[k] < met[k].from || element[k] >= met[k].to) return std::nullopt;
      offset += element[k] * axes_[k].window.position_stride;
    }
    return offset;
  }

  /// Phase by phase, and within a phase row by row.
  bool write_runs() {
    std::vector<std::int64_t> phases;
    for (const MapAxis& axis : axes_) phases.push_back(axis.phases);
    Tuple phase(phases);
    std::int64_t to = 0;
    do {
      Taps taps(size_);
      for (std::size_t k = 0; k < size_; ++k)
        std::ranges::copy_if(all_taps_[k], std::back_inserter(taps[k]),
                             [&](const SumTap& t) { return t.phase == phase[k]; });
      Tuple element = outer_elements();
      do {
        const std::int64_t vectors = ceil_div(row_, kernel_.lanes), runs = ceil_div(vectors, kernel_.most_vectors);
        for (std::int64_t k = 0, vector = 0; k < runs; ++k) {
          const std::int64_t here = (vectors - vector) / (runs - k);
          if (!write_run(taps, element, to, vector * kernel_.lanes, here)) return false;
          vector += here;
        }
        to += row_;
      } while (element.next());
    } while (phase.next());
    return true;
  }

  bool write_run(const Taps& taps, const Tuple& element, std::int64_t to, std::int64_t lane, std::int64_t vectors) {
    kernels::SumRun run;
    run.to = to + lane;
    run.first = static_cast<std::int64_t>(plan_.terms.size());
    run.vectors = static_cast<std::int32_t>(vectors);
    const std::int64_t bytes = vectors * kernel_.lanes * kernel_.lane_size;
    each_tap(taps, [&](const Met& met) {
      const std::optional<std::int64_t> outer = outer_offset(element, met.taps);
      if (!outer) return true;
      const Masks masks = add_masks({&met}, lane, vectors);
      if (masks.lanes == 0) {
        plan_.masks.resize(static_cast<std::size_t>(masks.at));
        return true;
      }
      const std::int64_t offset = met.offset + *outer + lane * kernel_.lane_size;
      plan_.terms.push_back({offset, masks.at});
      run.low = run.count == 0 ? offset : std::min(run.low, offset);
      run.high = run.count == 0 ? offset + bytes : std::max(run.high, offset + bytes);
      ++run.count;
      return true;
    });
    plan_.runs.push_back(run);
    return plan_.terms.size() <= most_listed_terms;
  }

  /// A few taps at a time, as the columns lie in memory: those of the innermost axis that meet the same phase.
  bool write_steps() {
    const std::int64_t together = reads_ == Reads::in_order ? 1 : kernels::most_step_terms;
    std::vector<std::vector<Met>> groups(static_cast<std::size_t>(plan_.elements / block_));
    // Vectors reach beyond the end of a phase, so none may begin after the next one.
    if (groups.size() > 1) {
      kernels::SumStep clear;
      clear.begins = true;
      clear.vectors = ceil_div(plan_.lanes, kernel_.lanes);
      plan_.steps.push_back(clear);
      has_begun_ = true;
    }
    const bool done = each_tap(all_taps_, [&](const Met& met) {
      std::size_t phase = 0;
      for (std::size_t k = 0; k < size_; ++k)
        phase = phase * static_cast<std::size_t>(axes_[k].phases) + static_cast<std::size_t>(met.taps[k].phase);
      groups[phase].push_back(met);
      if (std::ssize(groups[phase]) < together) return true;
      const bool fits = write_group(groups[phase], phase);
      groups[phase].clear();
      return fits;
    });
    if (!done) return false;
    for (std::size_t phase = 0; phase < groups.size(); ++phase)
      if ((!groups[phase].empty() || !has_begun_) && !write_group(groups[phase], phase)) return false;
    return true;
  }

  bool write_group(const std::vector<Met>& group, std::size_t phase) {
    // The part of a row that some of the taps meet, from a whole vector on; all of it where the sums begin.
    std::int64_t from = row_, to = 0;
    const std::int64_t inner = row_ / axes_[flat_].length;
    for (const Met& met : group) {
      from = std::min(from, met.taps[flat_].from * inner);
      to = std::max(to, met.taps[flat_].to * inner);
    }
    kernels::SumStep step;
    step.begins = !has_begun_;
    has_begun_ = true;
    if (step.begins) {
      from = 0;
      to = row_;
    }
    if (flat_ + 1 < size_) from = from / kernel_.lanes * kernel_.lanes;
    step.vectors = ceil_div(to - from, kernel_.lanes);
    step.to = static_cast<std::int64_t>(phase) * block_ * parts_ + from;
    const std::int64_t bytes = step.vectors * kernel_.lanes * kernel_.lane_size;
    std::vector<const Met*> before, here;
    Tuple element = outer_elements();
    do {
      here.clear();
      step.first = std::ssize(plan_.terms);
      for (const Met& met : group)
        if (const std::optional<std::int64_t> outer = outer_offset(element, met.taps)) {
          const std::int64_t offset = met.offset + *outer + from * kernel_.lane_size;
          step.low = here.empty() ? offset : std::min(step.low, offset);
          step.high = here.empty() ? offset + bytes : std::max(step.high, offset + bytes);
          plan_.terms.push_back({offset, 0});
          here.push_back(&met);
        }
      step.count = static_cast<std::int32_t>(here.size());
      if (step.count > 0 || step.begins) {
        if (here != before) step.masks = step_masks(here, from, step.vectors);
        before = here;
        plan_.steps.push_back(step);
      }
      step.to += row_;
    } while (element.next());
    return plan_.terms.size() <= most_listed_terms;
  }

  /// Many steps have the same masks: they are written once.
  std::int64_t step_masks(const std::vector<const Met*>& terms, std::int64_t lane, std::int64_t vectors) {
    std::vector<std::int64_t> key{lane, vectors};
    for (const Met* met : terms)
      for (std::size_t k = flat_; k < size_; ++k) key.insert(key.end(), {met->taps[k].from, met->taps[k].to});
    const auto [known, is_new] = known_masks_.try_emplace(std::move(key), -1);
    if (is_new) {
      const Masks masks = add_masks(terms, lane, vectors);
      if (masks.lanes == vectors * std::ssize(terms) * kernel_.lanes)
        plan_.masks.resize(static_cast<std::size_t>(masks.at));
      else
        known->second = masks.at;
    }
    return known->second;
  }

  /// Writes which lanes of some vectors of a row each of the terms has, vector by vector, and counts the lanes.
  struct Masks {
    std::int64_t at = 0;
    std::int64_t lanes = 0;
  };
  Masks add_masks(const std::vector<const Met*>& terms, std::int64_t lane, std::int64_t vectors) {
    std::vector<std::uint8_t>& masks = plan_.masks;
    Masks added{std::ssize(masks), 0};
    const std::int64_t pitch = std::ssize(terms) * kernel_.mask_bytes;
    masks.resize(masks.size() + static_cast<std::size_t>(vectors * pitch));
    const std::int64_t row = axes_[size_ - 1].length * parts_, end = std::min(row_, lane + vectors * kernel_.lanes);
    const int lanes_shift = std::countr_zero(static_cast<std::uint64_t>(kernel_.lanes));  // lanes are a power of two
    for (std::size_t t = 0; t < terms.size(); ++t) {
      std::uint8_t* const first = masks.data() + added.at + static_cast<std::int64_t>(t) * kernel_.mask_bytes;
      const SumTap& inner = terms[t]->taps[size_ - 1];
      for (std::int64_t r = lane / row; r * row < end; ++r) {
        if (!has_row(terms[t]->taps, r)) continue;
        const std::int64_t from = std::max(lane, r * row + inner.from * parts_) - lane;
        const std::int64_t to = std::min(end, r * row + inner.to * parts_) - lane;
        added.lanes += std::max<std::int64_t>(0, to - from);
        for (std::int64_t i = from, bits; i < to; i += bits) {
          const std::int64_t within = i & (kernel_.lanes - 1), bit = within % 8;
          std::uint8_t* const mask = first + (i >> lanes_shift) * pitch;
          bits = std::min(to - i, kernel_.lanes - within);
          if (bits == kernel_.lanes) {
            std::memset(mask, kernel_.lanes < 8 ? (1 << kernel_.lanes) - 1 : 0xff,
                        static_cast<std::size_t>(kernel_.mask_bytes));
            continue;
          }
          bits = std::min(bits, 8 - bit);
          mask[within / 8] |= static_cast<std::uint8_t>(((1 << bits) - 1) << bit);
        }
      }
    }
    return added;
  }

  /// Whether the taps of the flat axes but the innermost meet row r of the innermost.
  bool has_row(const std::vector<SumTap>& met, std::int64_t r) const {
    for (std::size_t k = size_ - 1; k-- > flat_;) {
      const std::int64_t m = r % axes_[k].length;
      r /= axes_[k].length;
      if (m < met[k].from || m >= met[k].to) return false;
    }
    return true;
  }

  const kernels::SumMapKernel& kernel_;
  std::size_t size_;                  // axes
  std::vector<MapAxis> axes_{};       // in order
  std::vector<std::size_t> place_{};  // of each window among them
  Taps all_taps_{};
  std::int64_t parts_;      // lanes of an element
  std::int64_t block_ = 1;  // elements of a phase
  double columns_ = 1;      // bytes
  std::size_t flat_ = 0;
  std::int64_t row_ = 1;    // lanes
  bool has_begun_ = false;  // sums have a step that begins them
  std::map<std::vector<std::int64_t>, std::int64_t> known_masks_{};
  Reads reads_;
  SumPlan plan_{};
};

}  // namespace

std::vector<MapAxis> map_axes(const std::vector<Window>& windows) {
  std::vector<MapAxis> axes;
  for (const Window& w : windows) axes.push_back({w, std::min(w.stride, w.extent), ceil_div(w.extent, w.stride)});
  return axes;
}

std::optional<SumPlan> plan_sums(const std::vector<MapAxis>& axes, const kernels::SumMapKernel& kernel,
                                 std::int64_t element_size, Reads reads) {
  SumPlanWriter writer(axes, kernel, element_size, reads);
  if (!writer.write()) return std::nullopt;
  return writer.take();
}

}  // namespace patchfold::engine
