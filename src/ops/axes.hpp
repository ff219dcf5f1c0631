// SPDX-License-Identifier: Apache-2.0
// The arithmetic of patches along the spatial axes: the number of axes, the padding rules, and the positions.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "patchfold/error.hpp"
#include "patchfold/geometry.hpp"
#include "patchfold/operators.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold::ops {

/// An argument that may be a list with one entry for each spatial axis.
struct SpatialArgument {
  std::string_view name;
  int length;  ///< -1: a single number, which fits any number of axes
};
SpatialArgument spatial(std::string_view name, const Axes& axes);
SpatialArgument spatial(std::string_view name, const Padding& padding);

/// Returns the argument that decides the number of spatial axes: a list, or a single number (length -1) if there is no
/// list. Throws Error(length) if two lists differ or one is empty.
SpatialArgument deciding_argument(std::string_view op, std::initializer_list<SpatialArgument> arguments);

/// A tensor whose spatial axes are counted.
struct CountedTensor {
  const Dims& shape;
  std::string_view needs;  ///< the rule about its axes, for errors
  const Axes& kernel;      ///< the argument that may be a single number
};

/// The rule of errors about single numbers for a rank that does not tell the number of spatial axes.
inline constexpr std::string_view one_number_is_ambiguous = "a single number says how many axes are spatial in rank 4 only";

/// Returns the number of spatial axes: the length of a list if one is given. A single number stands for the two spatial axes of a
/// tensor of rank 4. In other ranks a single number is ambiguous: throws Error(rank).
int spatial_rank(const ArgumentNames& names, const SpatialArgument& decides, const CountedTensor& tensor);

/// Returns the value of one axis.
inline std::int64_t at(const Axes& axes, int axis) {
  return axes.values()[axes.is_scalar() ? 0 : axis];
}
/// Returns one entry for each of `rank` axes.
Dims spread(const Axes& axes, int rank);

/// Throws Error(missing) unless the argument is given.
void check_given(std::string_view op, std::string_view name, bool given);

/// The arguments by which patches slide along the spatial axes. Lists have one entry for each axis.
struct Sliding {
  const Axes& kernel;
  const Axes& stride;
  const Axes& dilation;
  const Padding& padding;
};

/// Adds the spatial axes to a geometry, with the numbers of taps and positions, but without the places of taps and positions in the
/// columns. Throws Error(value, overflow) for kernels below 1, strides below 1, dilations below 0, and sizes that overflow.
void add_axes(Geometry& geometry, const Dims& extents, const Sliding& sliding, const ArgumentNames& names);

/// Throws Error(value) if an axis has no position, since a patch that does not fit into the image is usually a mistake.
void check_positions(const Geometry& geometry, const ArgumentNames& names);

/// Return the extents and the positions of all spatial axes.
Dims extents_of(const Geometry& geometry);
Dims positions_of(const Geometry& geometry);

/// Places the taps of all axes on one axis of the columns, row-major: the tap of the last spatial axis has the step `step`.
void place_taps(Geometry& geometry, int axis, std::int64_t step);
/// Places the positions of all axes on one axis of the columns, row-major: the position of the last spatial axis has the step
/// `step`.
void place_positions(Geometry& geometry, int axis, std::int64_t step);

}  // namespace patchfold::ops
