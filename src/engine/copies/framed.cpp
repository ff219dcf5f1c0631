// SPDX-License-Identifier: Apache-2.0
// Extracts with a frame of borders: the positions whose windows lie inside the image are a copy without borders, which the
// strategy "strided" runs. Of the few positions around them, whose windows leave the image, the taps inside are such copies
// too, and the others are filled.
#include "engine/copies/copies.hpp"
#include "engine/copies/sequence.hpp"
#include "engine/normalise.hpp"
#include "engine/scratch_copy.hpp"
#include "engine/table.hpp"
#include "engine/window.hpp"
#include "tensor/checked.hpp"

namespace patchfold::engine {
namespace {

/// The problem with the positions [from, end) of one window only.
Problem with_positions(Problem problem, int window, std::int64_t from, std::int64_t end) {
  Window& w = problem.windows[window];
  w.positions = end - from;
  w.pad_begin -= from * w.stride;
  problem.dst_offset += from * w.position_stride;
  return problem;
}

/// The problem with the taps [from, end) of one window only.
Problem with_taps(Problem problem, int window, std::int64_t from, std::int64_t end) {
  Window& w = problem.windows[window];
  w.kernel = end - from;
  w.pad_begin -= from * w.dilation;
  problem.dst_offset += from * w.tap_stride;
  return problem;
}

/// Taps [from, end) of a window of one position that lie inside the image.
Inside taps_inside(const Window& w) noexcept {
  if (w.dilation == 0) return {0, 0};
  const std::int64_t from = std::clamp<std::int64_t>(ceil_div(w.pad_begin, w.dilation), 0, w.kernel);
  const std::int64_t end = std::clamp<std::int64_t>(floor_div(w.extent - 1 + w.pad_begin, w.dilation) + 1, from, w.kernel);
  return {from, end};
}

/// Positions around the inside of one window that are cut into taps one by one; more are copied row by row.
constexpr std::int64_t most_cut = 3;

/// Adds the parts of a problem whose windows before `i` lie inside.
void add_parts(Sequence& sequence, const Problem& problem, int i) {
  if (i == problem.windows.size()) {
    sequence.add(plan_normal(merge_dims(drop_single(open_windows(problem, Opened::all)))));
    return;
  }
  const Window w = problem.windows[i];
  const Inside inside = inside_of(w);
  const auto add_border = [&](std::int64_t from, std::int64_t end) {
    if (from == end) return;
    if (end - from > most_cut) return sequence.add(make_move(with_positions(problem, i, from, end)));
    for (std::int64_t position = from; position < end; ++position) {
      const Problem one = with_positions(problem, i, position, position + 1);
      const Inside taps = taps_inside(one.windows[i]);
      if (taps.from > 0) sequence.add(make_move(with_taps(one, i, 0, taps.from)));
      if (taps.end > taps.from) add_parts(sequence, with_taps(one, i, taps.from, taps.end), i + 1);
      if (taps.end < w.kernel) sequence.add(make_move(with_taps(one, i, taps.end, w.kernel)));
    }
  };
  add_border(0, inside.from);
  if (inside.end > inside.from) add_parts(sequence, with_positions(problem, i, inside.from, inside.end), i + 1);
  add_border(inside.end, w.positions);
}

}  // namespace

bool framed_pays(const Problem& problem) {
  constexpr double least_framed = 64 << 10;  // bytes: the plans of all parts take as long as moving twice that row by row
  return spanned_bytes(problem) >= least_framed;
}

std::unique_ptr<Compiled> make_framed(const Problem& problem) {
  constexpr int most_windows = 3;  // each makes up to nine times as many plans
  if (problem.windows.empty() || problem.windows.size() > most_windows || inside_share(problem) < 0.25) return nullptr;
  auto sequence = std::make_unique<Sequence>(problem);
  add_parts(*sequence, problem, 0);
  return sequence;
}

}  // namespace patchfold::engine
