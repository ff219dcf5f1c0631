// SPDX-License-Identifier: Apache-2.0
// Patches over the padded image: which coordinates are shown, and whether each lies in the image, in the padding, or is cut away.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "explain/lines.hpp"
#include "explain/subject.hpp"
#include "explain/vector.hpp"

namespace patchfold::explaining {

/// Marks a gap in a list of indices.
inline constexpr std::int64_t left_out = std::numeric_limits<std::int64_t>::min();

/// Returns the integers [begin, end): all of them, or, if there are more than `most`, the first and the last ones with
/// `left_out` between them.
std::vector<std::int64_t> shown_between(std::int64_t begin, std::int64_t end, std::int64_t most);
/// Returns the coordinates of the padded image, including those that negative pads cut away. If there are more than `most`,
/// the middle ones are left out.
std::vector<std::int64_t> shown_coordinates(const SpatialAxis& axis, std::int64_t most);
/// The kind of a coordinate. Negative pads cut coordinates from the image if the operator makes patches, and crops cut them from
/// the patches if the operator makes an image.
enum class Ground { image, padding, cut };
Ground ground_at(const Geometry& geometry, const SpatialAxis& axis, std::int64_t coordinate);
/// Returns the tap with which the patch at a position touches the coordinate; -1 if none does.
std::int64_t tap_at(const SpatialAxis& axis, std::int64_t position, std::int64_t coordinate);
/// Returns the number of taps, over all positions along the axis, that read or write a coordinate, directly or through padding; -1
/// if counting would take too many steps.
std::int64_t uses_at(const Geometry& geometry, const SpatialAxis& axis, std::int64_t coordinate);
/// Returns whether two axes have the same numbers (extent, kernel, stride, ..); their places in the tensors may differ.
bool are_equal(const SpatialAxis& a, const SpatialAxis& b);
/// Returns whether the operator leaves an axis as it is: blocks of one element without pads.
bool is_untouched(const SpatialAxis& axis);
/// Returns the axes along which the operator cuts the image: all that are not is_untouched().
std::vector<const SpatialAxis*> cut_axes(const Geometry& geometry);

/// Writes, for each spatial axis, the formula of the number of positions with its numbers; nothing without spatial axes.
void write_windows(Text& text, const Subject& subject);
void write_patches(Text& text, const Subject& subject);
void write_vector(Text& text, const Subject& subject);
/// Returns lines about the bytes that must be moved, and about the least time that this takes.
std::vector<std::string> traffic_lines(const Subject& subject);

}  // namespace patchfold::explaining
