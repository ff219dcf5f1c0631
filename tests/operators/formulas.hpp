// SPDX-License-Identifier: Apache-2.0
// Pieces of formulas that dialects share.
#pragma once

#include "work.hpp"

namespace patchfold::facts {

/// Axes with windows, checked; `pads` holds a begin and an end for each.
std::vector<Axis> axes_of(Work& w, const Wides& extents, const Wides& kernel, const Wides& stride, const Wides& dilation,
                          const Wides& pads, Wide least_dilation);
Wides positions_of(const std::vector<Axis>& axes);
/// The number of taps of a patch.
Wide taps_of(Work& w, const Wides& kernel);
/// Columns [batch.., rows, positions..] into [batch.., channels, extents..].
void combine(Work& w, const std::vector<Axis>& axes, const Wides& kernel, const Wides& extents, bool last, bool grid);
/// Blocks of the axes from `first` on move to the batch.
void to_batch(Work& w, std::size_t first, const Wides& block, Wides pads, std::string_view rule = "valid");
void to_space(Work& w, std::size_t first, const Wides& block, const Wides& crops);
/// Channels and spatial axes from `channel` on, or with the channels last.
void depth(Work& w, bool to_depth, const Wides& block, bool last);

}  // namespace patchfold::facts
