// SPDX-License-Identifier: Apache-2.0
// Images and columns: unfold, fold, coverage, and the depth operators, which are the same with kernel = stride = block.
// Dialects call these with the names of their own arguments.
#pragma once

#include "ops/geometry.hpp"
#include "patchfold/operators.hpp"

namespace patchfold::ops {

inline constexpr Names unfold_names{.op = Unfold::name};
inline constexpr Names fold_names{.op = Fold::name};

/// Of a depth operator: `image` and `deep` are its tensors, `block` the argument that gives all sizes.
constexpr Names depth_names(std::string_view op, std::string_view image, std::string_view deep, std::string_view block) {
  return {.op = op, .image = image, .columns = deep, .output_size = block, .kernel_size = block, .stride = block};
}

Dims unfold_shape(const Unfold& op, const Dims& image, const Names& names);
Plan unfold_plan(const Unfold& op, const ConstTensorView& image, const TensorView& columns, const Names& names);

Dims fold_shape(const Fold& op, const Dims& columns, const Names& names);
/// `verb` is combine_sum, or combine_copy where every image element has one column element.
Plan fold_plan(const Fold& op, const ConstTensorView& columns, const TensorView& image, const Names& names,
               engine::Verb verb = engine::Verb::combine_sum);

/// The depth operators with the names of a dialect's arguments: `kernel_size` is the block.
Dims space_to_depth_shape(const SpaceToDepth& op, const Dims& image, const Names& names);
Plan space_to_depth_plan(const SpaceToDepth& op, const ConstTensorView& image, const TensorView& deep, const Names& names);
Dims depth_to_space_shape(const DepthToSpace& op, const Dims& deep, const Names& names);
Plan depth_to_space_plan(const DepthToSpace& op, const ConstTensorView& deep, const TensorView& image, const Names& names);

}  // namespace patchfold::ops
