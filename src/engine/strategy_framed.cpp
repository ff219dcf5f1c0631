// SPDX-License-Identifier: Apache-2.0
// Extracts with a frame of borders: the positions whose windows lie inside the image are a copy without borders, which the
// strategy "strided" runs. The few positions around them, whose windows leave the image, are copied row by row.
#include "engine/frame.hpp"
#include "engine/normalise.hpp"
#include "engine/sequence.hpp"
#include "engine/strategies.hpp"
#include "engine/strategy.hpp"
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

}  // namespace

Inside inside_of(const Window& w) noexcept {
  const std::int64_t reach = (w.kernel - 1) * w.dilation;
  const std::int64_t from = std::max<std::int64_t>(0, ceil_div(w.pad_begin, w.stride));
  const std::int64_t end = std::min(w.positions, floor_div(w.extent - 1 - reach + w.pad_begin, w.stride) + 1);
  return {from, std::max(from, end)};
}

bool has_inside(const Problem& problem) noexcept {
  if (problem.verb != Verb::extract) return false;
  double share = 1;
  for (const Window& w : problem.windows) {
    constexpr std::int64_t far = std::int64_t{1} << 30;
    if (w.positions < 1 || w.kernel < 1 || w.positions > far || w.kernel > far || w.stride > far || w.dilation > far ||
        w.extent > far || std::abs(w.pad_begin) > far)
      return false;
    const Inside inside = inside_of(w);
    share *= static_cast<double>(inside.end - inside.from) / static_cast<double>(w.positions);
  }
  constexpr double least = 0.25;  // of all positions
  return share >= least;
}

std::unique_ptr<Compiled> make_framed(const Problem& problem) {
  if (problem.windows.empty() || !has_inside(problem)) return nullptr;
  auto sequence = std::make_unique<Sequence>(problem);
  Problem rest = problem;
  for (int i = 0; i < problem.windows.size(); ++i) {
    const Inside inside = inside_of(problem.windows[i]);
    if (inside.from > 0) sequence->add(make_move(with_positions(rest, i, 0, inside.from)));
    if (inside.end < problem.windows[i].positions)
      sequence->add(make_move(with_positions(rest, i, inside.end, problem.windows[i].positions)));
    rest = with_positions(rest, i, inside.from, inside.end);
  }
  const Problem opened = merge_dims(drop_single(open_windows(rest, Opened::all)));
  if (!opened.windows.empty()) return nullptr;
  sequence->add(plan_normal(opened));
  return sequence;
}

}  // namespace patchfold::engine
