// SPDX-License-Identifier: Apache-2.0
// The arithmetic of patches along the spatial axes: how many axes there are, padding rules, and positions.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "patchfold/geometry.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold::ops {

/// An argument that may be a list with one entry for each spatial axis.
struct SpatialArgument {
  std::string_view name;
  int length;  ///< -1: a single number, which fits any number of axes
};
SpatialArgument spatial(std::string_view name, const Axes& axes);
SpatialArgument spatial(std::string_view name, const Padding& padding);

/// Length of the lists among the arguments, -1 if there are none. Throws Error(length) if two differ or one is empty.
int spatial_rank(std::string_view op, std::initializer_list<SpatialArgument> arguments);

/// The value for one axis.
inline std::int64_t at(const Axes& axes, int axis) {
  return axes.values()[axes.is_scalar() ? 0 : axis];
}
/// One entry for each of `rank` axes.
Dims spread(const Axes& axes, int rank);

/// Throws Error(missing) for an argument that was left out.
void check_given(std::string_view op, std::string_view name, bool given);

/// How patches slide along the spatial axes. Lists have one entry for each axis.
struct Sliding {
  const Axes& kernel;
  const Axes& stride;
  const Axes& dilation;
  const Padding& padding;
};

/// Adds the spatial axes with their positions, and the numbers of taps and positions. Places are left as they are. Throws
/// Error(value, overflow) for kernels below 1, strides below 1, dilations below 0, and sizes that overflow.
void add_axes(Geometry& geometry, const Dims& extents, const Sliding& sliding, const ArgumentNames& names);

/// Extents and positions of all spatial axes.
Dims extents_of(const Geometry& geometry);
Dims positions_of(const Geometry& geometry);

/// Places the taps of all axes on one axis of the columns, row-major: the last tap moves `step` elements.
void place_taps(Geometry& geometry, int axis, std::int64_t step);
/// The same for the positions.
void place_positions(Geometry& geometry, int axis, std::int64_t step);

}  // namespace patchfold::ops
