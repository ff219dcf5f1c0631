// SPDX-License-Identifier: Apache-2.0
// The rows of the strategy table that add. The strategy "NAME" lives in sums/NAME.cpp. Each make_ function returns the plan
// of a problem in normal form, or null if the strategy does not fit the problem.
#pragma once

#include <memory>

#include "engine/compiled.hpp"

namespace patchfold::engine {

/// Coverage, a sum of ones. The time of a run does not grow with the number of taps.
std::unique_ptr<Compiled> make_counts(const Problem& problem);
/// Returns whether positions of the columns, or elements within a position, are neighbours in memory.
bool has_neighbours(const Problem& problem);
/// Sums of columns for which has_neighbours() is true; not for windows of very many taps.
std::unique_ptr<Compiled> make_sum_maps(const Problem& problem);
/// Sums of columns in any other layout, which are copied to scratch memory, band by band, and added up there.
std::unique_ptr<Compiled> make_sum_bands(const Problem& problem);
bool sum_bands_pay(const Problem& problem);
/// Any sum or mean, row by row of the image. The image is summed element by element if the stride is much longer than a row,
/// or if means have very many terms.
std::unique_ptr<Compiled> make_sum_rows(const Problem& problem);

}  // namespace patchfold::engine
