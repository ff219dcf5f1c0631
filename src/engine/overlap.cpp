// SPDX-License-Identifier: Apache-2.0
#include "engine/overlap.hpp"

#include <cstdint>
#include <cstdlib>

#include "base/checked.hpp"

namespace patchfold::engine {
namespace {

/// The addresses of the elements that a problem reads, or of the elements that a problem writes: the lowest address plus
/// multiples of the steps.
class Lattice {
 public:
  struct Step {
    std::int64_t bytes;
    std::int64_t count;
  };

  Lattice(const std::byte* first, std::int64_t element)
      : lowest_(reinterpret_cast<std::uintptr_t>(first)), element_(element) {}
  void add(std::int64_t stride, std::int64_t extent) noexcept {
    if (extent <= 1 || stride == 0) return;
    if (stride < 0) lowest_ -= static_cast<std::uintptr_t>((extent - 1) * -stride);
    steps_.push_back({std::abs(stride), extent});
  }

  const auto& steps() const noexcept { return steps_; }
  std::uintptr_t lowest() const noexcept { return lowest_; }
  /// Returns how many bytes at the beginning of each period hold elements, with periods counted from the lowest address;
  /// more than the period if this number is unknown.
  std::int64_t width(std::int64_t period) const noexcept {
    std::int64_t bytes = element_;
    for (const Step& step : steps_)
      if (step.bytes % period != 0) bytes += step.bytes * (step.count - 1);
    return bytes;
  }

 private:
  std::uintptr_t lowest_;
  std::int64_t element_;
  FixedList<Step, 4 * max_rank> steps_{};
};

/// Returns whether an element of the source may share memory with an element of the destination. They share none if, for
/// some stride, each period of that stride has bytes of the source and bytes of the destination apart, like channels of one
/// pixel or columns of one row.
bool elements_meet(const Problem& problem, const std::byte* src, const std::byte* dst) noexcept {
  Lattice from(src + problem.src_offset, problem.element_size), to(dst + problem.dst_offset, problem.element_size);
  for (const Dim& dim : problem.dims) {
    from.add(dim.src_stride, dim.extent);
    to.add(dim.dst_stride, dim.extent);
  }
  const bool extracts = problem.verb == Verb::extract;
  for (const Window& w : problem.windows) {
    (extracts ? from : to).add(w.image_stride, w.extent);
    (extracts ? to : from).add(w.tap_stride, w.kernel);
    (extracts ? to : from).add(w.position_stride, w.positions);
  }
  const auto lie_apart = [&](std::int64_t period) {
    const std::int64_t shift = floor_mod(static_cast<std::int64_t>(to.lowest() - from.lowest()), period);
    return from.width(period) <= shift && to.width(period) <= period - shift;
  };
  for (const Lattice* side : {&from, &to})
    for (const Lattice::Step& step : side->steps())
      if (lie_apart(step.bytes)) return false;
  return true;
}

}  // namespace

bool overlap(const Problem& problem, const std::byte* src, const std::byte* dst) noexcept {
  return overlap(src, problem.src_range, dst, problem.dst_range) && elements_meet(problem, src, dst);
}

}  // namespace patchfold::engine
