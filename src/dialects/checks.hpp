// SPDX-License-Identifier: Apache-2.0
// Checks that several specifications share.
#pragma once

#include <string_view>

#include "ops/lowering.hpp"
#include "patchfold/error.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold::dialects {

/// Throws Error(missing, length) unless the list has `length` entries.
void check_length(std::string_view op, std::string_view argument, const Dims& list, int length);
/// Throws Error(value) unless every entry is at least `bound`.
void check_each(std::string_view op, std::string_view argument, const Dims& list, std::int64_t bound);
void check_each(std::string_view op, std::string_view argument, const Axes& list, std::int64_t bound);
void check_each(std::string_view op, std::string_view argument, const PadsList& list, std::int64_t bound);
/// Throws Error(value) unless the number is at least `bound`.
void check_number(std::string_view op, std::string_view argument, std::int64_t value, std::int64_t bound);
/// Throws Error(rank) unless the shape has `rank` axes. If no hint is given and only a batch axis lacks, the hint says how
/// to add one.
void check_rank(std::string_view op, std::string_view argument, const Dims& shape, int rank, ErrorValue hint = {});

/// Returns the hint for columns with an axis for each spatial axis: only the neutral fold takes them.
ErrorValue grid_hint(const Dims& columns, int rank, const ops::Names& names);
/// Returns the hint for an image that lacks the axis of channels, or has more than two spatial axes.
ErrorValue image_hint(const Axes& kernel, const Dims& image, const ops::Names& names);

/// Returns the names of a depth operator whose argument `block` gives all sizes.
constexpr ops::Names depth_names(std::string_view op, std::string_view data, std::string_view block) {
  return {.op = op, .data = data, .output_size = block, .kernel_size = block, .stride = block};
}

/// Returns pairs from a list of begins and a list of ends.
PadsList pairs_of(const Dims& begins, const Dims& ends);

}  // namespace patchfold::dialects
