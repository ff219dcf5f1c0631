// SPDX-License-Identifier: Apache-2.0
#include "engine/copies/extract_program.hpp"

#include <algorithm>

#include "base/checked.hpp"

namespace patchfold::engine {
namespace {

constexpr std::size_t most_listed_steps = 1 << 16;  ///< steps of a program (arbitrary: 2 MB)

/// Returns an axis of a walk that ties the positions of each tap to the coordinates of the image, or, in a sorted image, to the
/// elements of a phase.
WalkAxis extract_axis(const Window& w, bool is_sorted, std::int64_t phase_pitch) {
  WalkAxis axis{w.positions, is_sorted ? phase_length(w) : w.extent, (is_sorted ? 1 : w.stride) * w.image_stride};
  for (std::int64_t q = 0; q < w.kernel; ++q) {
    const std::int64_t first = q * w.dilation - w.pad_begin;  // coordinate of position 0
    WalkTap tap;
    tap.from = std::clamp<std::int64_t>(ceil_div(-first, w.stride), 0, w.positions);
    tap.to = std::clamp<std::int64_t>(ceil_div(w.extent - first, w.stride), tap.from, w.positions);
    tap.offset = is_sorted ? floor_mod(first, w.stride) * phase_pitch + floor_div(first, w.stride) * w.image_stride
                           : first * w.image_stride;
    axis.taps.push_back(tap);
  }
  return axis;
}

std::vector<WalkAxis> extract_axes(const std::vector<Window>& windows, const std::vector<int>& order,
                                   std::int64_t phase_pitch) {
  std::vector<WalkAxis> axes;
  for (std::size_t i = 0; i < windows.size(); ++i)
    axes.push_back(extract_axis(windows[i], phase_pitch != 0 && static_cast<int>(i) == order.back(), phase_pitch));
  return axes;
}

/// Writes one ExtractPlan, tap by tap in the order of the columns.
class ExtractPlanWriter {
 public:
  ExtractPlanWriter(const std::vector<Window>& windows, const std::vector<int>& order,
                    const kernels::ExtractMapKernel& kernel, std::int64_t element_size, std::int64_t phase_pitch)
      : kernel_(kernel),
        walk_(extract_axes(windows, order, phase_pitch), order, {kernel.lanes, kernel.lane_size, kernel.mask_bytes},
              element_size) {}

  std::optional<ExtractPlan> write() {
    const bool done = walk_.each_tap(walk_.taps(), [&](const MapWalk::Met& met) {
      write_tap(met);
      return plan_.steps.size() <= most_listed_steps;
    });
    if (!done) return std::nullopt;
    plan_.masks = walk_.take_masks();
    const std::int64_t vector = kernel_.lanes * kernel_.lane_size;
    for (const kernels::ExtractStep& step : plan_.steps) {
      if (step.masks == kernels::ExtractStep::none) continue;
      const std::int64_t last = step.offset + (step.rows - 1) * step.pitch;
      plan_.low = std::min({plan_.low, step.offset, last});
      plan_.high = std::max(plan_.high, std::max(step.offset, last) + ceil_div(step.row_bytes, vector) * vector);
    }
    return std::move(plan_);
  }

 private:
  /// Writes the rows of a tap. Rows at equal distances become one step.
  void write_tap(const MapWalk::Met& met) {
    const std::int64_t row_bytes = walk_.row() * kernel_.lane_size;
    const std::int64_t masks = row_masks(met);
    const Dims rows = walk_.rows();
    Dims row = Dims::filled(rows.size(), 0);
    do {
      const std::optional<std::int64_t> offset = walk_.row_offset(row, met);
      kernels::ExtractStep step{0, 0, 1, row_bytes, kernels::ExtractStep::none};
      if (offset && masks != kernels::ExtractStep::none) {
        step.offset = met.offset + *offset;
        step.masks = masks;
      }
      if (!continues(step)) plan_.steps.push_back(step);
    } while (advance(row, rows));
  }

  /// Joins the step to the previous step if possible, and returns whether that was possible.
  bool continues(const kernels::ExtractStep& step) {
    if (plan_.steps.empty()) return false;
    kernels::ExtractStep& before = plan_.steps.back();
    if (before.masks != step.masks || before.row_bytes != step.row_bytes) return false;
    if (step.masks != kernels::ExtractStep::none) {
      const std::int64_t pitch = before.rows == 1 ? step.offset - before.offset : before.pitch;
      if (step.offset != before.offset + before.rows * pitch) return false;
      before.pitch = pitch;
    }
    ++before.rows;
    return true;
  }

  std::int64_t row_masks(const MapWalk::Met& met) {
    std::vector<std::int64_t> key;
    for (std::size_t k = walk_.outer_axes(); k < walk_.size(); ++k)
      key.insert(key.end(), {met.taps[k].from, met.taps[k].to});
    const auto [known, is_new] = known_.try_emplace(std::move(key), kernels::ExtractStep::all);
    if (is_new) {
      const MapWalk::Masks masks = walk_.add_masks({&met}, 0, ceil_div(walk_.row(), kernel_.lanes));
      if (masks.lanes == 0 || masks.lanes == walk_.row()) {
        walk_.forget(masks);
        known->second = masks.lanes == 0 ? kernels::ExtractStep::none : kernels::ExtractStep::all;
      } else {
        known->second = masks.at;
      }
    }
    return known->second;
  }

  const kernels::ExtractMapKernel& kernel_;
  MapWalk walk_;
  std::map<std::vector<std::int64_t>, std::int64_t> known_{};
  ExtractPlan plan_{};
};

}  // namespace

std::optional<ExtractPlan> plan_extract(const std::vector<Window>& windows, const kernels::ExtractMapKernel& kernel,
                                        std::int64_t element_size, std::int64_t phase_pitch) {
  return ExtractPlanWriter(windows, walk_order(windows, element_size), kernel, element_size, phase_pitch).write();
}

}  // namespace patchfold::engine
