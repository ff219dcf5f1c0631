// SPDX-License-Identifier: Apache-2.0
// Parts of an operator's picture. Each function draws its part below y and returns the y below that part.
#pragma once

#include "explain/subject.hpp"
#include "explain/svg.hpp"

namespace patchfold::explaining {

/// The distances between parts, and between a headline and the part below it.
inline constexpr double part_gap = 34, head_gap = 24;

double draw_head(Svg& svg, double y, const Subject& subject);
/// Draws the grid of patches over the padded image, and the number of patches that use each element.
double draw_grids(Svg& svg, double y, const Subject& subject);
/// Draws the first elements of a patch, in the order of each system.
double draw_vector(Svg& svg, double y, const Subject& subject);
/// Draws the columns of a small problem as a matrix, with the number of the image's element in each place.
double draw_matrix(Svg& svg, double y, const Subject& subject);

/// Returns the class of the colour of a channel; there are four colours, which repeat.
std::string channel_class(std::int64_t channel);
/// Returns the heat, 0 to 5, of a value between 0 and `most`.
int heat_of(double value, double most);

}  // namespace patchfold::explaining
