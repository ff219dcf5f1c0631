// SPDX-License-Identifier: Apache-2.0
// The axes of the output, and the order of the elements inside a patch, in patchfold and in other systems.
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

/// An element of a patch: its tap, numbered row-major, and its index along the axis that lies with the taps on one axis of the
/// columns (usually the channel).
struct PatchElement {
  std::int64_t channel = 0;
  std::int64_t tap = 0;
  friend bool operator==(const PatchElement&, const PatchElement&) = default;
};

/// The order in which a system puts the elements of a patch.
struct PatchOrder {
  std::string_view system;
  std::string rule;                   ///< row of channel c and tap t; t' is the tap counted down the columns of the patch
  std::vector<PatchElement> first{};  ///< the first elements
  bool ours = false;                  ///< the explained operator puts all elements in this order
};

/// The order inside a patch in the explained operator and in other systems.
struct PatchVector {
  std::int64_t channels = 1;
  std::int64_t taps = 1;
  int columns_axis = 0;  ///< the axis of the taps
  int image_axis = -1;   ///< the image's axis of channels; -1: no channels beside the taps
  std::vector<PatchOrder> orders{};
  std::int64_t elements() const { return channels * taps; }
};
/// Returns the orders; `orders` is empty if the operator has no patches, or puts the taps on several axes.
PatchVector patch_vector(const Subject& subject, std::size_t most);

/// Returns "0.3": channel 0, tap 3.
std::string to_string(const PatchElement& element);

}  // namespace patchfold::explaining
