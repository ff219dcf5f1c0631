// SPDX-License-Identifier: Apache-2.0
#include "engine/sums/sum_program.hpp"

#include <algorithm>
#include <bit>

#include "base/checked.hpp"
#include "engine/machine.hpp"

namespace patchfold::engine {
namespace {

constexpr std::size_t most_listed_terms = 1 << 16;  ///< terms of a program (arbitrary: 2 MB)
/// The fewest bytes of a row for which a step for each tap pays (measured).
constexpr std::int64_t worth_a_step = 256;

/// Returns the axes of a walk that ties the elements of a phase to the positions of each tap.
std::vector<WalkAxis> sum_axes(const std::vector<Window>& windows) {
  std::vector<WalkAxis> axes;
  for (const Window& w : windows) {
    WalkAxis axis{phase_length(w), w.positions, w.position_stride, phase_count(w)};
    for (std::int64_t q = 0; q < w.kernel; ++q) {
      WalkTap tap;
      tap.phase = floor_mod(q * w.dilation - w.pad_begin, w.stride);
      if (tap.phase >= axis.phases) continue;
      const std::int64_t shift = (tap.phase + w.pad_begin - q * w.dilation) / w.stride;
      tap.offset = q * w.tap_stride + shift * w.position_stride;
      tap.from = std::max<std::int64_t>(0, -shift);
      tap.to = std::min(axis.length, w.positions - shift);
      if (tap.from < tap.to) axis.taps.push_back(tap);
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

/// Writes one SumPlan: run by run (write_runs) if columns are few or the map is one short row, otherwise tap by tap
/// (write_steps). In the second case `Reads` decides how many taps a step has.
class SumPlanWriter {
 public:
  SumPlanWriter(const std::vector<Window>& windows, const kernels::SumMapKernel& kernel, std::int64_t element_size,
                Reads reads)
      : kernel_(kernel),
        walk_(sum_axes(windows), walk_order(windows, element_size), {kernel.lanes, kernel.lane_size, kernel.mask_bytes},
              element_size),
        reads_(walk_.is_one_row() || walk_.row() * kernel.lane_size >= worth_a_step ? reads : Reads::together) {
    plan_.order = walk_order(windows, element_size);
    plan_.elements = 1;
    columns_ = static_cast<double>(element_size);
    for (const Window& w : windows) {
      block_ *= phase_length(w);
      plan_.elements *= phase_length(w) * phase_count(w);
      columns_ *= static_cast<double>(w.kernel) * static_cast<double>(w.positions);
    }
    plan_.lanes = plan_.elements * walk_.parts();
  }

  bool write() {
    const bool is_near = walk_.is_one_row() && walk_.row() <= kernel_.most_vectors * kernel_.lanes;
    // The columns of one map, and the prefetched columns of the next map, stay in the first-level cache.
    const bool is_little = columns_ <= static_cast<double>(caches().l1) / 3;
    const bool done = is_little || is_near ? write_runs() : write_steps();
    plan_.masks = walk_.take_masks();
    return done;
  }

  /// Writes the number of taps that point at each element, phase by phase.
  void count() {
    const auto count_axis = [](const WalkAxis& axis) {
      std::vector<double> met(static_cast<std::size_t>(axis.phases * axis.length));
      for (const WalkTap& tap : axis.taps)
        for (std::int64_t e = tap.from; e < tap.to; ++e) ++met[static_cast<std::size_t>(tap.phase * axis.length + e)];
      return met;
    };
    std::vector<double> all{1};  // phases first, then elements, each from the outermost axis to the innermost
    std::int64_t phases = 1;
    for (std::size_t k = 0; k < walk_.size(); ++k) {
      const WalkAxis& axis = walk_.axis(k);
      const std::vector<double> met = count_axis(axis);
      const std::int64_t elements = std::ssize(all) / phases;
      std::vector<double> next;
      for (std::int64_t phase = 0; phase < phases * axis.phases; ++phase)
        for (std::int64_t e = 0; e < elements * axis.length; ++e)
          next.push_back(all[static_cast<std::size_t>(phase / axis.phases * elements + e / axis.length)] *
                         met[static_cast<std::size_t>(phase % axis.phases * axis.length + e % axis.length)]);
      all = std::move(next);
      phases *= axis.phases;
    }
    for (std::int64_t e = 0; e < plan_.elements; ++e) {
      const double met = all[static_cast<std::size_t>(e)];
      plan_.counts.insert(plan_.counts.end(), static_cast<std::size_t>(walk_.parts()), std::max(1.0, met));
      if (met > 0) continue;
      if (plan_.holes.empty() || plan_.holes.back().first + plan_.holes.back().count < e) plan_.holes.push_back({e, 0});
      ++plan_.holes.back().count;
    }
    plan_.counts.insert(plan_.counts.end(), static_cast<std::size_t>(2 * kernel_.lanes), 1.0);
  }

  SumPlan take() { return std::move(plan_); }

 private:
  using Met = MapWalk::Met;

  /// Writes the runs, phase by phase, and within a phase row by row. Returns false if there would be many runs.
  bool write_runs() {
    Dims phases;
    for (std::size_t k = 0; k < walk_.size(); ++k) phases.push_back(walk_.axis(k).phases);
    const Dims rows = walk_.rows();
    Dims phase = Dims::filled(phases.size(), 0);
    std::int64_t to = 0;
    do {
      MapWalk::Taps taps = walk_.taps();
      for (std::size_t k = 0; k < taps.size(); ++k)
        std::erase_if(taps[k], [&](const WalkTap& tap) { return tap.phase != phase[static_cast<int>(k)]; });
      Dims row = Dims::filled(rows.size(), 0);
      do {
        const std::int64_t vectors = ceil_div(walk_.row(), kernel_.lanes);
        for (std::int64_t vector = 0, here = 0; vector < vectors; vector += here) {
          here = std::min<std::int64_t>(kernel_.most_vectors, std::bit_floor(static_cast<std::uint64_t>(vectors - vector)));
          if (!write_run(taps, row, to, vector * kernel_.lanes, here)) return false;
        }
        to += walk_.row();
      } while (advance(row, rows));
    } while (advance(phase, phases));
    return true;
  }

  bool write_run(const MapWalk::Taps& taps, const Dims& row, std::int64_t to, std::int64_t lane, std::int64_t vectors) {
    kernels::SumRun run;
    run.to = to + lane;
    run.first = std::ssize(plan_.terms);
    run.vectors = static_cast<std::int32_t>(vectors);
    const std::int64_t bytes = vectors * kernel_.lanes * kernel_.lane_size;
    walk_.each_tap(taps, [&](const Met& met) {
      const std::optional<std::int64_t> to_row = walk_.row_offset(row, met);
      if (!to_row) return true;
      const MapWalk::Masks masks = walk_.add_masks({&met}, lane, vectors);
      if (masks.lanes == 0) {
        walk_.forget(masks);
        return true;
      }
      const std::int64_t offset = met.offset + *to_row + lane * kernel_.lane_size;
      plan_.terms.push_back({offset, masks.at});
      run.low = run.count == 0 ? offset : std::min(run.low, offset);
      run.high = run.count == 0 ? offset + bytes : std::max(run.high, offset + bytes);
      ++run.count;
      return true;
    });
    plan_.runs.push_back(run);
    return plan_.terms.size() <= most_listed_terms;
  }

  /// Writes steps, each of a few taps of a phase, in the order of columns in memory. Returns false if there would be many steps.
  bool write_steps() {
    const std::int64_t together = reads_ == Reads::in_order ? 1 : kernels::most_step_terms;
    std::vector<std::vector<Met>> groups(static_cast<std::size_t>(plan_.elements / block_));
    // The last vectors of a phase reach into the next phase, so the sums of all phases begin before anything is added.
    if (groups.size() > 1) {
      kernels::SumStep clear;
      clear.begins = true;
      clear.vectors = ceil_div(plan_.lanes, kernel_.lanes);
      plan_.steps.push_back(clear);
      has_begun_ = true;
    }
    const bool done = walk_.each_tap(walk_.taps(), [&](const Met& met) {
      const std::int64_t phase = walk_.phase_of(met);
      std::vector<Met>& group = groups[static_cast<std::size_t>(phase)];
      group.push_back(met);
      if (std::ssize(group) < together) return true;
      const bool fits = write_group(group, phase);
      group.clear();
      return fits;
    });
    if (!done) return false;
    for (std::size_t phase = 0; phase < groups.size(); ++phase)
      if ((!groups[phase].empty() || !has_begun_) && !write_group(groups[phase], static_cast<std::int64_t>(phase)))
        return false;
    return true;
  }

  bool write_group(const std::vector<Met>& group, std::int64_t phase) {
    // A step covers the part of a row to which its taps point, from the beginning of a vector on; the step that begins the sums
    // covers the whole row.
    std::int64_t from = walk_.row(), to = 0;
    for (const Met& met : group) {
      from = std::min(from, walk_.row_tap(met).from * walk_.row_step());
      to = std::max(to, walk_.row_tap(met).to * walk_.row_step());
    }
    kernels::SumStep step;
    step.begins = !has_begun_;
    has_begun_ = true;
    if (step.begins) {
      from = 0;
      to = walk_.row();
    }
    if (!walk_.is_single_row()) from = from / kernel_.lanes * kernel_.lanes;
    step.vectors = ceil_div(to - from, kernel_.lanes);
    step.to = phase * block_ * walk_.parts() + from;
    const std::int64_t bytes = step.vectors * kernel_.lanes * kernel_.lane_size;
    std::vector<const Met*> before, here;
    const Dims rows = walk_.rows();
    Dims row = Dims::filled(rows.size(), 0);
    do {
      here.clear();
      step.first = std::ssize(plan_.terms);
      for (const Met& met : group)
        if (const std::optional<std::int64_t> to_row = walk_.row_offset(row, met)) {
          const std::int64_t offset = met.offset + *to_row + from * kernel_.lane_size;
          step.low = here.empty() ? offset : std::min(step.low, offset);
          step.high = here.empty() ? offset + bytes : std::max(step.high, offset + bytes);
          plan_.terms.push_back({offset, 0});
          here.push_back(&met);
        }
      step.count = static_cast<std::int32_t>(here.size());
      if (step.count > 0 || step.begins) {
        if (here != before) step.masks = walk_.shared_masks(here, from, step.vectors);
        before = here;
        plan_.steps.push_back(step);
      }
      step.to += walk_.row();
    } while (advance(row, rows));
    return plan_.terms.size() <= most_listed_terms;
  }

  const kernels::SumMapKernel& kernel_;
  MapWalk walk_;
  Reads reads_;
  std::int64_t block_ = 1;  // number of elements of a phase
  double columns_ = 1;      // bytes of columns
  bool has_begun_ = false;  // a step that begins the sums has been written
  SumPlan plan_{};
};

}  // namespace

std::optional<SumPlan> plan_sums(const std::vector<Window>& windows, const kernels::SumMapKernel& kernel,
                                 std::int64_t element_size, Reads reads, bool is_mean) {
  SumPlanWriter writer(windows, kernel, element_size, reads);
  if (!writer.write()) return std::nullopt;
  if (is_mean) writer.count();
  return writer.take();
}

}  // namespace patchfold::engine
