// SPDX-License-Identifier: Apache-2.0
// Turns operators into geometries; all operators of all dialects use this code.
//
//   operator of a dialect -> neutral operator and names -> Geometry -> Problem -> plan
//
// The file of a dialect's operator gives the neutral operator and the names of the arguments. The file of a neutral operator
// gives the geometry. The steps after the geometry are written once, in lowering.cpp.
#pragma once

#include <variant>

#include "engine/problem.hpp"
#include "patchfold/geometry.hpp"
#include "patchfold/operators.hpp"

namespace patchfold::ops {

using Names = ArgumentNames;

/// A neutral operator with all its arguments.
using Neutral = std::variant<Unfold, Fold, Coverage, Reorder, Copy, SpaceToBatch, BatchToSpace, SpaceToDepth, DepthToSpace>;

/// Returns the geometry of a neutral operator for data of one shape. Throws Error, with the given names, for every argument and
/// shape that the operator refuses.
Geometry geometry_of(const Unfold& op, const Dims& image, const Names& names);
Geometry geometry_of(const Fold& op, const Dims& columns, const Names& names);
Geometry geometry_of(const Coverage& op, const Dims& none, const Names& names);
Geometry geometry_of(const Reorder& op, const Dims& columns, const Names& names);
Geometry geometry_of(const Copy& op, const Dims& data, const Names& names);
Geometry geometry_of(const SpaceToBatch& op, const Dims& image, const Names& names);
Geometry geometry_of(const BatchToSpace& op, const Dims& batches, const Names& names);
Geometry geometry_of(const SpaceToDepth& op, const Dims& image, const Names& names);
Geometry geometry_of(const DepthToSpace& op, const Dims& deep, const Names& names);

/// Returns the window along a spatial axis, without strides.
engine::Window window_of(const SpatialAxis& axis, PaddingMode mode);
Lowering lower(const Neutral& op, const Dims& data, const Names& names);

}  // namespace patchfold::ops
