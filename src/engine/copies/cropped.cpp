// SPDX-License-Identifier: Apache-2.0
// Blocks that do not fill the image, or that the image crops: along each axis there are whole blocks, at most one cut block
// at either end, and in sums and means elements behind the last block, which are zero or filled. Each of these parts is a
// problem without windows, or one without terms. They are run one after the other by the strategies for those.
#include <algorithm>
#include <vector>

#include "engine/copies/copies.hpp"
#include "engine/copies/sequence.hpp"
#include "engine/normalise.hpp"
#include "engine/sums/means.hpp"
#include "engine/table.hpp"
#include "tensor/checked.hpp"

namespace patchfold::engine {
namespace {

/// Positions [position, position + positions) with the taps [tap, tap + taps).
struct Part {
  std::int64_t position = 0;
  std::int64_t positions = 0;
  std::int64_t tap = 0;
  std::int64_t taps = 0;
};

bool is_cut(const Window& w, bool sums) {
  constexpr std::int64_t far = std::int64_t{1} << 30;
  return w.kernel == w.stride && (w.dilation == 1 || w.kernel == 1) && w.pad_begin >= 0 && w.extent > 0 && w.extent < far &&
         w.positions < far && w.stride < far && w.pad_begin < far && w.pad_begin < w.positions * w.stride &&
         (sums || w.extent + w.pad_begin <= w.positions * w.stride);
}

std::vector<Part> parts_of(const Window& w) {
  std::vector<Part> parts;
  // Past the last element that the image takes.
  const std::int64_t end = std::min(w.extent + w.pad_begin, w.positions * w.stride);
  const std::int64_t whole_from = ceil_div(w.pad_begin, w.stride);
  const std::int64_t whole_to = end / w.stride;
  if (whole_from > whole_to) {  // within one block
    parts.push_back({whole_to, 1, w.pad_begin - whole_to * w.stride, end - w.pad_begin});
    return parts;
  }
  if (whole_from * w.stride > w.pad_begin)
    parts.push_back({whole_from - 1, 1, w.pad_begin - (whole_from - 1) * w.stride, whole_from * w.stride - w.pad_begin});
  if (whole_to > whole_from) parts.push_back({whole_from, whole_to - whole_from, 0, w.kernel});
  if (end > whole_to * w.stride) parts.push_back({whole_to, 1, 0, end - whole_to * w.stride});
  return parts;
}

/// Adds the plans of all combinations of the parts of the windows that are left.
void add_parts(Sequence& sequence, const Problem& problem) {
  if (problem.windows.empty()) {
    Problem covered = problem;
    if (is_mean(problem)) covered.verb = Verb::combine_copy;  // by one element each
    sequence.add(plan_normal(merge_dims(drop_single(covered))));
    return;
  }
  const Window w = problem.windows[0];
  for (const Part& part : parts_of(w)) {
    Problem rest = problem;
    rest.windows.erase(0);
    rest.dims.push_back({part.positions, w.position_stride, w.stride * w.image_stride});
    rest.dims.push_back({part.taps, w.tap_stride, w.image_stride});
    rest.src_offset += part.position * w.position_stride + part.tap * w.tap_stride;
    rest.dst_offset += (part.position * w.stride + part.tap - w.pad_begin) * w.image_stride;
    add_parts(sequence, rest);
  }
  const std::int64_t covered = w.positions * w.stride - w.pad_begin;
  if (covered >= w.extent) return;
  Problem zeros = problem;
  zeros.windows[0].positions = 0;
  zeros.windows[0].extent = w.extent - covered;
  zeros.dst_offset += covered * w.image_stride;
  sequence.add(plan_normal(zeros));
}

}  // namespace

std::unique_ptr<Compiled> make_cropped(const Problem& problem) {
  constexpr int most_windows = 3;  // each makes up to three times as many plans
  const bool sums = adds(problem) && !problem.accumulate;
  if (!sums && problem.verb != Verb::combine_copy) return nullptr;
  if (problem.windows.empty() || problem.windows.size() > most_windows) return nullptr;
  for (const Window& w : problem.windows)
    if (!is_cut(w, sums)) return nullptr;
  auto sequence = std::make_unique<Sequence>(problem);
  add_parts(*sequence, problem);
  return sequence;
}

}  // namespace patchfold::engine
