// SPDX-License-Identifier: Apache-2.0
#include "bench/placed.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace patchfold::bench {
namespace {

int least_rank(MemoryLayout layout) {
  switch (layout) {
    case MemoryLayout::plain: return 0;
    case MemoryLayout::mirrored:
    case MemoryLayout::cropped:
    case MemoryLayout::every_second: return 1;
    default: return 2;
  }
}

/// Returns the axes in the order in which they lie in memory, the one with the longest stride first.
std::vector<int> memory_order(MemoryLayout layout, int rank) {
  std::vector<int> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  if (layout == MemoryLayout::swapped || layout == MemoryLayout::tokens) std::swap(order.end()[-1], order.end()[-2]);
  if (layout == MemoryLayout::channels_last) {
    order.erase(order.begin() + 1);
    order.push_back(1);
  }
  return order;
}

void reverse_axis(Placement& placement, const Dims& shape, int axis) {
  if (shape[axis] > 0) placement.offset += static_cast<std::size_t>((shape[axis] - 1) * placement.strides[axis]);
  placement.strides[axis] *= -1;
}

}  // namespace

Placement place(MemoryLayout layout, const Dims& shape, std::size_t element_size) {
  const int rank = shape.size();
  if (rank < least_rank(layout))
    throw Error({ErrorCode::usage, "bench", std::string(word_of(layout)), "needs a tensor of more axes", std::int64_t{rank},
                 "at least " + std::to_string(least_rank(layout))});
  const std::vector<int> order = memory_order(layout, rank);
  const int last = rank - 1;
  Dims extents;
  for (const int axis : order) {
    const bool cut = axis == last && layout == MemoryLayout::cropped;
    const bool apart = axis == last && layout == MemoryLayout::every_second;
    extents.push_back(shape[axis] * (apart ? 2 : 1) + (cut ? 3 : 0));
  }
  const Dims steps = contiguous_strides(extents, element_size);
  Placement placement{Dims::filled(rank, 0), 0, static_cast<std::size_t>(element_count(extents)) * element_size};
  for (int i = 0; i < rank; ++i) placement.strides[order[static_cast<std::size_t>(i)]] = steps[i];
  if (layout == MemoryLayout::flipped) reverse_axis(placement, shape, last - 1);
  if (layout == MemoryLayout::mirrored) reverse_axis(placement, shape, last);
  if (layout == MemoryLayout::cropped) placement.offset = element_size;
  if (layout == MemoryLayout::every_second) placement.strides[last] *= 2;
  return placement;
}

PlacedProblem parse_placed(std::string_view text) {
  PlacedProblem placed;
  std::string problem;
  while (!text.empty()) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    text.remove_prefix(end);
    if (!word.starts_with("src=") && !word.starts_with("dst=")) {
      problem.append(problem.empty() ? "" : " ").append(word);
      continue;
    }
    const auto layout = value_of<MemoryLayout>(word.substr(4));
    if (!layout)
      throw Error({ErrorCode::usage, "bench", std::string(word.substr(0, 3)), "must be a memory layout",
                   std::string(word.substr(4)), listed_words<MemoryLayout>()});
    (word.starts_with("src=") ? placed.src : placed.dst) = *layout;
  }
  placed.problem = parse_problem(problem);
  return placed;
}

std::string to_string(const PlacedProblem& placed) {
  std::string text = to_string(placed.problem);
  if (placed.src != MemoryLayout::plain) text.append(" src=").append(word_of(placed.src));
  if (placed.dst != MemoryLayout::plain) text.append(" dst=").append(word_of(placed.dst));
  return text;
}

PlacedPlan plan_of(const PlacedProblem& placed) {
  const ProblemText& problem = placed.problem;
  const OperatorSpec& op = find_operator(problem.op);
  const BoundOperator bound = op.bind(problem.arguments);
  const Dims shape = bound.output_shape(problem.shape);
  PlacedPlan result;
  if (!op.data_input.empty()) result.src = place(placed.src, problem.shape, problem.element_size);
  result.dst = place(placed.dst, shape, problem.element_size);
  result.plan = bound.plan(ConstTensorView{nullptr, problem.shape, result.src.strides, problem.dtype, problem.element_size},
                           TensorView{nullptr, shape, result.dst.strides, problem.dtype, problem.element_size});
  return result;
}

}  // namespace patchfold::bench
