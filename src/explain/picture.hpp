// SPDX-License-Identifier: Apache-2.0
// Parts of the picture of an operator. Each draws below y and returns the y below itself.
#pragma once

#include "explain/subject.hpp"
#include "explain/svg.hpp"

namespace patchfold::explaining {

/// Distances between parts, and between a headline and what stands below it.
inline constexpr double part_gap = 34, head_gap = 24;

double draw_head(Svg& svg, double y, const Subject& subject);
/// The grid of patches over the padded image, and how many patches use each element.
double draw_grids(Svg& svg, double y, const Subject& subject);
/// The first elements of a patch, as each system orders them.
double draw_vector(Svg& svg, double y, const Subject& subject);
/// The columns of a small problem, with the number of the image's element in each place.
double draw_matrix(Svg& svg, double y, const Subject& subject);

/// The class of a channel's colour; colours return after the fourth.
std::string channel_class(std::int64_t channel);
/// The heat, 0 to 5, of a number between 0 and `most`.
int heat_of(double value, double most);

}  // namespace patchfold::explaining
