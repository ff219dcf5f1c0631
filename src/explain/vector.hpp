// SPDX-License-Identifier: Apache-2.0
// The axes of the output, and the order of the elements inside a patch, in patchfold and in other systems.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "explain/subject.hpp"

namespace patchfold::explaining {

/// The name of an axis of the output, and the formula of its extent with its numbers.
struct AxisFormula {
  std::string axis;
  std::string formula;
};
std::vector<AxisFormula> output_formulas(const Subject& subject);

/// An element of a patch. `channel` is its index along the axis that shares an axis of the columns with the taps (usually the
/// channels); `tap` is numbered row-major.
struct PatchElement {
  std::int64_t channel = 0;
  std::int64_t tap = 0;
  friend bool operator==(const PatchElement&, const PatchElement&) = default;
};

/// The order in which a system puts the elements of a patch into the columns.
struct PatchOrder {
  std::string_view system;
  std::string rule;                   ///< the row of channel c and tap t; t' counts taps column by column
  std::vector<PatchElement> first{};  ///< the first elements in this order
  bool ours = false;                  ///< the explained operator uses this order, for all elements
};

/// The orders of a patch's elements: in the explained operator, and in other systems.
struct PatchVector {
  std::int64_t channels = 1;
  std::int64_t taps = 1;
  int columns_axis = 0;  ///< the axis of the columns on which the taps lie
  int image_axis = -1;   ///< the image's axis of channels; -1: columns_axis has only taps
  std::vector<PatchOrder> orders{};
  std::int64_t elements() const { return channels * taps; }
};
/// Returns the orders with their first `most` elements; no orders if the operator has no patches, or puts the taps on several axes.
PatchVector patch_vector(const Subject& subject, std::size_t most);

/// Returns "0.3": channel 0, tap 3.
std::string to_string(const PatchElement& element);

}  // namespace patchfold::explaining
