// SPDX-License-Identifier: Apache-2.0
// Functions that the formulas of several dialects share.
#pragma once

#include "work.hpp"

namespace patchfold::facts {

/// Returns axes with their windows, after checks. `pads` has a begin and an end for each axis.
std::vector<Axis> axes_of(Work& w, const Wides& extents, const Wides& kernel, const Wides& stride, const Wides& dilation,
                          const Wides& pads, Wide least_dilation);
Wides positions_of(const std::vector<Axis>& axes);
/// Returns the number of taps of a patch.
Wide taps_of(Work& w, const Wides& kernel);
/// Sets the output for columns [batch.., rows, positions..] to [batch.., channels, extents..].
void combine(Work& w, const std::vector<Axis>& axes, const Wides& kernel, const Wides& extents, bool last, bool grid);
/// Sets the output of an operator that moves blocks of the axes from `first` on to the batch.
void to_batch(Work& w, std::size_t first, const Wides& block, Wides pads, std::string_view rule = "valid");
void to_space(Work& w, std::size_t first, const Wides& block, const Wides& crops);
/// Sets the output of an operator that moves blocks between channels and spatial axes. With `last`, channels are the last axis.
void depth(Work& w, bool to_depth, const Wides& block, bool last);

}  // namespace patchfold::facts
