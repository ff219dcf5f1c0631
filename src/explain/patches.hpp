// SPDX-License-Identifier: Apache-2.0
// Patches over the padded image: the coordinates that are shown, and the kind of each.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "explain/lines.hpp"
#include "explain/subject.hpp"
#include "explain/vector.hpp"

namespace patchfold::explaining {

/// An entry of a list of indices that marks a gap.
inline constexpr std::int64_t left_out = std::numeric_limits<std::int64_t>::min();

/// Returns the integers [begin, end): all of them, or `most` of the first and last integers with `left_out` between them.
std::vector<std::int64_t> shown_between(std::int64_t begin, std::int64_t end, std::int64_t most);
/// Returns the coordinates of the padded image, and those that negative pads cut away.
std::vector<std::int64_t> shown_coordinates(const SpatialAxis& axis, std::int64_t most);
/// The kind of a coordinate: image, padding around the image, or cut. Negative pads cut coordinates from the image, and crops cut
/// them from the patches if the operator makes an image.
enum class Ground { image, padding, cut };
Ground ground_at(const Geometry& geometry, const SpatialAxis& axis, std::int64_t coordinate);
/// Returns the tap of the patch at a position that touches the coordinate; -1 if none does.
std::int64_t tap_at(const SpatialAxis& axis, std::int64_t position, std::int64_t coordinate);
/// Returns the number of taps of all positions that touch an element of the image, directly or through padding. -1: counting would
/// take too many steps.
std::int64_t uses_at(const Geometry& geometry, const SpatialAxis& axis, std::int64_t coordinate);
/// Returns whether all numbers of two axes are equal, except their places.
bool are_equal(const SpatialAxis& a, const SpatialAxis& b);
/// Returns whether the operator leaves an axis unchanged: blocks of one element without pads.
bool is_untouched(const SpatialAxis& axis);
/// Returns the axes along which patches have more than one element, so that the image is cut along them.
std::vector<const SpatialAxis*> cut_axes(const Geometry& geometry);

/// Writes the patches of each spatial axis with the formula filled in; nothing for an operator without spatial axes.
void write_windows(Text& text, const Subject& subject);
void write_patches(Text& text, const Subject& subject);
void write_vector(Text& text, const Subject& subject);
/// Returns lines about the bytes that must be moved, and the least time for them.
std::vector<std::string> traffic_lines(const Subject& subject);

}  // namespace patchfold::explaining
