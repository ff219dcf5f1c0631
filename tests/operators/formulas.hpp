// SPDX-License-Identifier: Apache-2.0
// Functions that the formulas of several dialects share.
#pragma once

#include "work.hpp"

namespace patchfold::facts {

/// Checks the windows of all axes, and returns the axes with their windows and positions. `pads` has a begin and an end for
/// each axis.
std::vector<Axis> axes_of(Work& w, const Wides& extents, const Wides& kernel, const Wides& stride, const Wides& dilation,
                          const Wides& pads, Wide least_dilation);
Wides positions_of(const std::vector<Axis>& axes);
/// Returns the number of taps of a patch.
Wide taps_of(Work& w, const Wides& kernel);
/// Sets the output for columns [batch.., rows, positions..] to [batch.., channels, extents..]. With `last`, rows and
/// channels are the last axis; with `grid`, columns have an axis of positions for each spatial axis, otherwise one for all.
void combine(Work& w, const std::vector<Axis>& axes, const Wides& kernel, const Wides& extents, bool last, bool grid);
/// Sets the output of an operator that moves blocks of axis `first` and the axes after it to the batch.
void to_batch(Work& w, std::size_t first, const Wides& block, Wides pads, std::string_view rule = "valid");
void to_space(Work& w, std::size_t first, const Wides& block, const Wides& crops);
/// Sets the output of an operator that moves blocks between channels and spatial axes. With `last`, channels are the last axis.
void depth(Work& w, bool to_depth, const Wides& block, bool last);

}  // namespace patchfold::facts
