// SPDX-License-Identifier: Apache-2.0
// The rows of the strategy table that add. A strategy "NAME" lives in sums/NAME.cpp. Each make_ function returns the plan of
// a problem in normal form, or null if the strategy does not fit the problem.
#pragma once

#include <memory>

#include "engine/compiled.hpp"

namespace patchfold::engine {

/// Coverage: sums of ones. Its time does not grow with the taps and positions that meet.
std::unique_ptr<Compiled> make_counts(const Problem& problem);
/// Columns whose positions are neighbours in memory along a window.
std::unique_ptr<Compiled> make_sum_maps(const Problem& problem);
bool sum_maps_pay(const Problem& problem);
/// Columns whose positions, or whose elements within a position, are neighbours in memory on both sides. Does not fit sums
/// of 16-bit floats onto the output, nor windows of very many taps.
std::unique_ptr<Compiled> make_sum_panels(const Problem& problem);
bool sum_panels_pay(const Problem& problem);
/// Long strides and any layout: rows of positions are added to an image that is sorted by residue. Does not fit sums onto
/// the output, nor more than three windows.
std::unique_ptr<Compiled> make_sum_residues(const Problem& problem);
bool sum_residues_pay(const Problem& problem);
/// The row runs along an image axis whose taps each point at many of its elements.
std::unique_ptr<Compiled> make_sum_rows(const Problem& problem);
/// Any sum, one element at a time: for strides so long that a tap points at one element of a row at most. In
/// sums/sum_rows.cpp.
std::unique_ptr<Compiled> make_sum_elements(const Problem& problem);

}  // namespace patchfold::engine
