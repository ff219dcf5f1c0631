// SPDX-License-Identifier: Apache-2.0
// Checks that several specifications share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/fail.hpp"
#include "ops/change.hpp"
#include "patchfold/error.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold::dialects {

/// Throws Error(missing, length) unless the list has `length` entries.
void check_length(std::string_view op, std::string_view argument, const Dims& list, int length);
/// A list among the arguments of a call, the number of entries that it must have, and the lower bound of the entries.
struct BoundedList {
  std::string_view argument;
  const Dims& list;
  int length;
  std::int64_t bound;
};
/// Throws Error(missing, length, value) unless every list has its length, and entries of at least its bound.
void check_lists(std::string_view op, std::initializer_list<BoundedList> lists);
/// Throws Error(value) unless every entry is at least `bound`.
void check_each(std::string_view op, std::string_view argument, const Dims& list, std::int64_t bound);
void check_each(std::string_view op, std::string_view argument, const Axes& list, std::int64_t bound);
void check_each(std::string_view op, std::string_view argument, const PadsList& list, std::int64_t bound);
/// Throws Error(value) unless the number is at least `bound`.
void check_number(std::string_view op, std::string_view argument, std::int64_t value, std::int64_t bound);
/// Throws Error(rank) unless the data has `rank` axes. If no hint is given and only a batch axis is missing, the error's hint says
/// how to add one.
template <class Op>
void check_rank(ops::NeutralOf<Op> neutral, const Op& op, const Dims& data, const ops::Names& names, int rank,
                ErrorValue hint = {}) {
  if (data.size() == rank) return;
  if (hint.empty() && data.size() == rank - 1) {
    Dims batch{1};
    batch.append(data);
    hint = ops::Change<Op>{neutral, op, data, names}.reshaped(batch).hint("a batch of one: ");
  }
  fail_rank(names.op, names.data, "must have " + std::to_string(rank) + " axes", data, ErrorValue("rank ", rank),
            std::move(hint));
}

/// Returns the shape of columns whose positions lie on a grid of `rank` axes, with all positions on one axis instead; empty for
/// other columns.
Dims without_grid(const Dims& columns, int rank);
/// Returns whether the neutral fold with the settings of `op` takes columns of the shape `grid`, whose positions lie on a grid.
bool folds_grid(const ops::Neutral& op, const Dims& grid, const ops::Names& names);

/// Returns the hint for columns whose positions lie on a grid: only the neutral fold takes such columns.
template <class Op>
ErrorValue grid_hint(const ops::Change<Op>& call, int rank) {
  const Dims flat = without_grid(call.data, rank);
  if (flat.empty()) return {};
  ErrorValue hint = call.reshaped(flat).hint("a grid of positions: ");
  if (hint.empty() || !folds_grid(call.neutral(call.op, flat, call.names), call.data, call.names)) return {};
  hint.append(", or the neutral fold with ", Setting("positions", "grid"));
  return hint;
}

/// Returns the hint for an image that has no axis of channels, or more than two spatial axes.
template <class Op>
ErrorValue image_hint(const ops::Change<Op>& call, Axes Op::*kernel) {
  const Dims& image = call.data;
  const Dims& sizes = (call.op.*kernel).values();
  const int spatial = image.size() - 2;
  if (spatial == 0) return call.reshaped({1, image[0], image[1]}).hint("a grey picture: ");
  if (spatial < 3 || std::any_of(sizes.begin(), sizes.end(), [&](std::int64_t size) { return size != sizes[0]; })) return {};
  const Dims list = Dims::filled(spatial, sizes[0]);
  return call.set(kernel, Axes(list), Setting(call.names.kernel_size, list)).hint({"for ", spatial, " spatial axes: "});
}

/// Returns the names of a depth operator whose argument `block` gives all sizes.
constexpr ops::Names depth_names(std::string_view op, std::string_view data, std::string_view block) {
  return {.op = op, .data = data, .output_size = block, .kernel_size = block, .stride = block};
}

/// Returns the pairs (begin, end) from a list of begins and a list of ends.
PadsList pairs_of(const Dims& begins, const Dims& ends);

}  // namespace patchfold::dialects
