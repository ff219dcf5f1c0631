// SPDX-License-Identifier: Apache-2.0
// Patches over the padded image: which coordinates are shown, and what lies there.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "explain/lines.hpp"
#include "explain/subject.hpp"
#include "explain/vector.hpp"

namespace patchfold::explaining {

/// Stands in a list of indices for those that are left out.
inline constexpr std::int64_t left_out = std::numeric_limits<std::int64_t>::min();

/// The integers [begin, end): all of them, or `most`, the first and the last ones with `left_out` between them.
std::vector<std::int64_t> shown_between(std::int64_t begin, std::int64_t end, std::int64_t most);
/// The coordinates of the padded image, and those of the image that negative pads cut away.
std::vector<std::int64_t> shown_coordinates(const SpatialAxis& axis, std::int64_t most);
/// What lies at a coordinate: the image, padding around it, or a part that is cut away: of the image by negative pads, or of
/// the patches by the crops of an operator that makes an image.
enum class Ground { image, padding, cut };
Ground ground_at(const Geometry& geometry, const SpatialAxis& axis, std::int64_t coordinate);
/// The tap of the patch at a position that touches the coordinate; -1 if none does.
std::int64_t tap_at(const SpatialAxis& axis, std::int64_t position, std::int64_t coordinate);
/// How many taps of all positions touch an element of the image, also through padding that reads it again. -1: too many
/// steps to count.
std::int64_t uses_at(const Geometry& geometry, const SpatialAxis& axis, std::int64_t coordinate);
/// The axes along which the image is cut: not those where every patch is one element.
std::vector<const SpatialAxis*> cut_axes(const Geometry& geometry);

void write_patches(Text& text, const Subject& subject);
void write_vector(Text& text, const Subject& subject);
/// Bytes that have to be moved, and the time that this takes at least.
std::vector<std::string> traffic_lines(const Subject& subject);

}  // namespace patchfold::explaining
