// SPDX-License-Identifier: Apache-2.0
// The arithmetic of patches along the spatial axes: positions, padding rules, and the number of spatial axes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "engine/problem.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold::ops {

/// What an operator calls its arguments, for its errors.
struct Names {
  std::string_view op;
  std::string_view image = "image";
  std::string_view columns = "columns";
  std::string_view output_size = "output_size";
  std::string_view kernel_size = "kernel_size";
  std::string_view stride = "stride";
  std::string_view dilation = "dilation";
  std::string_view padding = "padding";
};

struct AxisGeometry {
  std::int64_t extent = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad_begin = 0;
  std::int64_t pad_end = 0;
  std::int64_t positions = 0;
};

struct Geometry {
  engine::FixedList<AxisGeometry, max_rank> axes{};
  std::int64_t taps = 1;       ///< K
  std::int64_t positions = 1;  ///< L

  int rank() const noexcept { return axes.size(); }
  Dims positions_per_axis() const;
  Dims extents() const;
};

/// An argument that may be a list for the spatial axes.
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

/// Throws Error(missing) for an argument that was left out.
void check_given(std::string_view op, std::string_view name, bool given);

/// Computes positions. Throws Error(value, overflow) for kernels below 1, strides below 1, dilations below 0, sizes that
/// overflow. The lists have extents.size() entries.
Geometry make_geometry(const Names& names, const Dims& extents, const Axes& kernel, const Axes& stride, const Axes& dilation,
                       const Padding& padding);

/// A window without its byte strides.
engine::Window window_of(const AxisGeometry& axis);

}  // namespace patchfold::ops
