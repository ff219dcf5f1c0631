// SPDX-License-Identifier: Apache-2.0
// What lies on each axis of the output, and the order of the elements inside a patch, here and in other systems.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "explain/subject.hpp"

namespace patchfold::explaining {

/// One line for each axis of the output: its name, and its extent with the formula filled in.
struct AxisFormula {
  std::string axis;
  std::string formula;
};
std::vector<AxisFormula> output_formulas(const Subject& subject);

/// An element of a patch: the index on the axis that shares the columns' axis with the taps (the channel, as a rule), and
/// the tap, numbered row-major.
struct PatchElement {
  std::int64_t channel = 0;
  std::int64_t tap = 0;
  friend bool operator==(const PatchElement&, const PatchElement&) = default;
};

/// The order in which a system puts the elements of a patch.
struct PatchOrder {
  std::string_view system;
  std::string rule;  ///< the row of channel c and tap t; t' is the tap counted down the columns of the patch
  std::vector<PatchElement> first{};  ///< the first elements
  bool ours = false;                  ///< the explained operator puts all elements in this order
};

/// The order inside a patch of the explained operator, beside those of the systems.
struct PatchVector {
  std::int64_t channels = 1;
  std::int64_t taps = 1;
  int columns_axis = 0;         ///< where the taps lie
  int image_axis = -1;          ///< where the channels lie in the image; -1: there are none beside the taps
  bool image_is_output = true;  ///< or the data
  std::vector<PatchOrder> orders{};
  std::int64_t elements() const { return channels * taps; }
};
/// Nothing in `orders` where the operator has no patches, or puts the taps on several axes.
PatchVector patch_vector(const Subject& subject, std::size_t most);

/// "0.3": channel 0, tap 3.
std::string to_string(const PatchElement& element);

}  // namespace patchfold::explaining
