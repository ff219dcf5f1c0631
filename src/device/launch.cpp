// SPDX-License-Identifier: Apache-2.0
#include "device/launch.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "base/checked.hpp"
#include "device/bricks.hpp"
#include "device/parameters.hpp"
#include "engine/normalise.hpp"
#include "engine/sums/means.hpp"

namespace patchfold::device {
namespace {

using engine::Dim;
using engine::Problem;
using engine::Verb;
using engine::Window;

/// Returns the largest size of a unit, at most `most`, that divides every offset of the problem and both addresses.
std::int64_t unit_of(const Problem& problem, std::int64_t most, std::uint64_t src, std::uint64_t dst) {
  std::uint64_t all = 16 | static_cast<std::uint64_t>(most) | (src + static_cast<std::uint64_t>(problem.src_offset)) |
                      (dst + static_cast<std::uint64_t>(problem.dst_offset));
  const auto add = [&](std::int64_t stride, std::int64_t extent) {
    if (extent > 1) all |= static_cast<std::uint64_t>(stride);
  };
  for (const Dim& dim : problem.dims) add(dim.src_stride | dim.dst_stride, dim.extent);
  for (const Window& w : problem.windows) {
    add(w.image_stride, w.extent);
    add(w.tap_stride, w.kernel);
    add(w.position_stride, w.positions);
  }
  return static_cast<std::int64_t>(all & (~all + 1));
}

/// An axis of the columns of a copy.
struct Step {
  int dim = -1;  ///< number of the dim, or
  int window = -1;
  bool is_tap = false;
  std::int64_t extent = 1;
  std::int64_t image = 0;  ///< bytes; for a window's axis an estimate
  std::int64_t columns = 0;
};

/// Returns the launch of "move". The problem's dims count units.
template <class N>
Launch launch_move(const Problem& problem, std::int64_t unit, std::int64_t run, std::uint64_t dst) {
  const bool extracts = problem.verb == Verb::extract || problem.windows.empty();
  const bool swaps = problem.verb != Verb::extract && !problem.windows.empty();  // the image is the destination
  FixedList<Step, 3 * engine::max_axes> steps;
  for (int i = 0; i < problem.dims.size(); ++i) {
    const Dim& dim = problem.dims[i];
    steps.push_back(
        {i, -1, false, dim.extent, swaps ? dim.dst_stride : dim.src_stride, swaps ? dim.src_stride : dim.dst_stride});
  }
  for (int i = 0; i < problem.windows.size(); ++i) {
    const Window& w = problem.windows[i];
    steps.push_back({-1, i, true, w.kernel, saturating_mul(w.dilation, w.image_stride), w.tap_stride});
    steps.push_back({-1, i, false, w.positions, saturating_mul(w.stride, w.image_stride), w.position_stride});
  }
  const auto dst_stride = [&](const Step& s) { return s.extent == 1 ? 0 : std::abs(swaps ? s.image : s.columns); };
  std::ranges::stable_sort(steps, [&](const Step& a, const Step& b) {
    return std::pair(a.extent == 1, dst_stride(a)) < std::pair(b.extent == 1, dst_stride(b));
  });

  typename N::Move p{};
  p.threads = tuning.threads_of_copies;
  p.mode = problem.windows.empty() ? 0 : static_cast<int>(problem.windows[0].mode);
  p.extracts = extracts;
  p.dims = problem.dims.size();
  p.windows = problem.windows.size();
  std::int64_t total = 1, dense = 1;
  bool is_dense = true, are_aligned = (dst + static_cast<std::uint64_t>(problem.dst_offset)) % 16 == 0;
  const std::int64_t vector = 16 / unit;
  for (const Step& step : steps) {
    typename N::Walk walk{};
    set(walk.below, total);
    set(walk.extent, step.extent);
    walk.columns = narrowed_to<typename N::Stride>(step.extent == 1 ? 0 : step.columns);
    is_dense = is_dense && (step.extent == 1 || step.columns == unit * dense);
    if (is_dense) dense *= step.extent;
    if (!is_dense && step.columns % 16 != 0 && step.extent > 1) are_aligned = false;
    total *= step.extent;
    if (step.dim >= 0) {
      walk.image = narrowed_to<typename N::Stride>(step.extent == 1 ? 0 : step.image);
      p.dim[step.dim] = walk;
    } else {
      (step.is_tap ? p.window[step.window].tap : p.window[step.window].position) = walk;
    }
  }
  for (int i = 0; i < problem.windows.size(); ++i) {
    const Window& w = problem.windows[i];
    auto& to = p.window[i];
    to.image = narrowed_to<typename N::Stride>(w.image_stride);
    to.stride = narrowed_to<typename N::Index>(w.positions == 1 ? 0 : w.stride);
    to.dilation = narrowed_to<typename N::Index>(w.kernel == 1 ? 0 : w.dilation);
    to.pad = narrowed_to<typename N::Index>(w.pad_begin);
    to.extent = narrowed_to<typename N::Index>(w.extent);
  }
  const Step lane = steps.empty() ? Step{} : steps[0];
  p.lane = lane.window;
  set(p.extent, lane.extent);
  p.total = narrowed_to<typename N::Index>(total);
  if (lane.extent > 1) {
    p.lane_columns = narrowed_to<typename N::Stride>(lane.columns);
    if (lane.window < 0)
      p.lane_image = narrowed_to<typename N::Stride>(lane.image);
    else
      p.step = lane.is_tap ? p.window[lane.window].dilation : p.window[lane.window].stride;
  }
  p.is_run = extracts && (lane.extent == 1 || lane.image == unit);
  p.is_packed =
      extracts && (lane.extent == 1 || lane.columns == unit) && are_aligned && (dense == total || dense % vector == 0);
  // Units of a run that is longer than a unit begin anywhere in an element. The fill of opaque elements is zero.
  p.fill_mask = run > 1 && problem.dtype != DType::opaque && problem.element_size > unit
                    ? static_cast<int>(problem.element_size) - 1
                    : 0;
  for (std::size_t i = 0; i < sizeof p.fill; ++i)
    p.fill[i] =
        static_cast<u8>(problem.fill[i % static_cast<std::size_t>(std::min<std::int64_t>(problem.element_size, 16))]);
  return finish<N>({.kernel = Kernel::move, .unit = static_cast<int>(unit)}, p, ceil_div(total, vector), problem);
}

/// Returns whether 32 bits hold every index, coordinate and stride of a problem whose threads number `total` elements.
bool fits_narrow(const Problem& problem) {
  constexpr std::int64_t most = (std::int64_t{1} << 31) - (1 << 20);
  std::int64_t total = 1, taps = 1;
  bool fits = true;
  const auto check = [&](std::int64_t number) { fits = fits && -most < number && number < most; };
  const auto walk = [&](std::int64_t extent) { check(total = saturating_mul(total, std::max<std::int64_t>(extent, 1))); };
  for (const Dim& dim : problem.dims) {
    walk(dim.extent);
    check(dim.src_stride);
    check(dim.dst_stride);
  }
  walk(problem.element_size);  // elements may be cut into units
  const std::int64_t shared = total;
  for (const Window& w : problem.windows) {
    walk(w.kernel);
    walk(w.positions);
    for (const std::int64_t number :
         {w.stride, w.dilation, w.pad_begin, w.extent, w.image_stride, w.tap_stride, w.position_stride,
          saturating_mul(w.stride, w.dilation), std::abs(w.pad_begin) + w.extent + w.dilation,
          saturating_mul(w.stride, w.image_stride), saturating_mul(w.dilation, w.image_stride),
          (w.kernel - 1) * w.dilation + std::abs(w.pad_begin), saturating_mul(w.positions, w.stride) + std::abs(w.pad_begin),
          saturating_mul(w.stride, w.tap_stride), saturating_mul(w.dilation, w.position_stride)})
      check(2 * std::clamp(number, -most, most));
    check(taps = saturating_mul(taps, std::max<std::int64_t>(1, std::min(w.kernel, w.positions))));
    check((w.positions + w.kernel) * 2);
  }
  std::int64_t image = shared;
  for (const Window& w : problem.windows) check(image = saturating_mul(image, w.extent));
  return fits;
}

/// Returns the launch of a copy: of "brick" if neighbours differ, otherwise of "move".
template <class N>
Launch launch_copy(Problem problem, std::uint64_t src, std::uint64_t dst) {
  const std::int64_t bytes = engine::take_unit(problem);
  const std::int64_t unit = unit_of(problem, bytes, src, dst);
  const std::int64_t run = bytes / unit;
  if (run > 1) problem.dims.push_back({run, unit, unit});
  if (problem.windows.empty())
    if (auto brick = launch_brick<N>(problem, unit, src, dst)) return *brick;
  return launch_move<N>(problem, unit, run, dst);
}

/// Returns the bytes, as a share of a line of memory, that one step along an axis costs its threads.
double share_of(std::int64_t stride) {
  constexpr double line = 32;
  return std::min(1.0, static_cast<double>(std::abs(stride)) / line);
}

/// Returns the type for which sums of a real type are compiled: integers are added as unsigned numbers.
DType summed_as(DType real) {
  if (kind_of(real) != ElementKind::signed_integer) return real;
  return *std::ranges::find_if(dtypes(), [&](DType dtype) {
    return kind_of(dtype) == ElementKind::unsigned_integer && size_of(dtype) == size_of(real);
  });
}

/// Returns the launch of a sum, a mean or a count.
template <class N>
Launch launch_combine(const Problem& problem, std::uint64_t src, std::uint64_t dst) {
  const bool counts = problem.own_source != nullptr;
  const std::int64_t parts = engine::parts_of(problem.dtype), size = problem.element_size / parts;
  const DType real = problem.dtype == DType::complex64    ? DType::float32
                     : problem.dtype == DType::complex128 ? DType::float64
                                                          : problem.dtype;
  typename N::Combine p{};
  p.threads = tuning.threads_of_sums;
  p.windows = problem.windows.size();
  p.dtype = static_cast<int>(real);
  p.is_aligned = unit_of(problem, size, counts ? 0 : src, dst) == size;
  p.accumulate = problem.accumulate;
  p.is_careful = !engine::few_meet(problem);
  std::memcpy(p.fill, problem.fill.data(), sizeof p.fill);

  FixedList<std::pair<double, typename N::ImageAxis>, 2 * engine::max_axes> axes;
  FixedList<std::int64_t, 2 * engine::max_axes> extents;
  double taps = 1;
  for (const Window& w : problem.windows)
    taps *= std::max(1.0, static_cast<double>(w.kernel) / static_cast<double>(w.stride));
  const auto add = [&](std::int64_t extent, std::int64_t from, double from_share, std::int64_t to, int window,
                       bool is_part) {
    typename N::ImageAxis axis{};
    set(axis.extent, extent);
    axis.window = window;
    axis.is_part = is_part;
    axis.src = narrowed_to<typename N::Stride>(from);
    axis.dst = narrowed_to<typename N::Stride>(to);
    axes.push_back({extent == 1 ? 1e9 : share_of(to) + taps * from_share, axis});
  };
  if (parts > 1) add(parts, size, share_of(size), size, -1, true);
  for (const Dim& dim : problem.dims) add(dim.extent, dim.src_stride, share_of(dim.src_stride), dim.dst_stride, -1, false);
  for (int i = 0; i < problem.windows.size(); ++i) {
    const Window& w = problem.windows[i];
    add(w.extent, 0, share_of(w.position_stride), w.image_stride, i, false);
    set_solver(p.window[i], w);
  }
  std::ranges::stable_sort(axes, [](const auto& a, const auto& b) { return a.first < b.first; });

  // Vectors lie along the first axis if it is a dim, and otherwise along the innermost window.
  const std::int64_t vector = problem.verb == Verb::combine_mean || counts ? 1 : size == 8 ? 2 : 4;
  p.along = -1;
  p.extent = 1;
  for (int i = 0; i < axes.size() && vector > 1; ++i) {
    const auto& axis = axes[i].second;
    if (axis.window >= 0 ? axis.window == p.windows - 1 : i == 0 && !axis.is_part) p.along = i;
    if (p.along >= 0) break;
  }
  std::int64_t total = 1;
  p.axes = axes.size();
  for (int i = 0; i < axes.size(); ++i) {
    auto& axis = p.axis[i] = axes[i].second;
    if (i == p.along) {
      p.extent = axis.extent.d;
      p.along_dst = axis.dst;
      p.along_src = axis.window < 0 ? axis.src : 0;
      set(axis.extent, ceil_div(static_cast<std::int64_t>(p.extent), vector));
    }
    total *= axis.extent.d;
  }
  p.total = narrowed_to<typename N::Index>(total);
  const Kernel kernel = counts ? Kernel::count : problem.verb == Verb::combine_mean ? Kernel::mean : Kernel::sum;
  const DType summed = kernel == Kernel::sum ? summed_as(real) : DType::boolean;
  return finish<N>({.kernel = kernel, .dtype = summed}, p, total, problem);
}

}  // namespace

Tuning tuning;

std::string Variant::name() const {
  static constexpr std::string_view names[] = {"move", "brick", "sum", "mean", "count"};
  std::string text(names[static_cast<std::size_t>(kernel)]);
  if (unit > 0) text += "_" + std::to_string(unit);
  if (kernel == Kernel::sum) text += "_" + std::string(info_of(dtype).name);
  return text + (is_wide ? "_64" : "_32");
}

Launch launch_of(const Problem& given, std::uint64_t src, std::uint64_t dst, bool is_wide) {
  const bool wide = is_wide || !fits_narrow(given);
  if (engine::adds(given)) return wide ? launch_combine<Wide>(given, src, dst) : launch_combine<Narrow>(given, src, dst);
  const Problem problem = engine::merge_dims(engine::drop_single(engine::open_windows(given, engine::Opened::all)));
  return wide ? launch_copy<Wide>(problem, src, dst) : launch_copy<Narrow>(problem, src, dst);
}

}  // namespace patchfold::device
