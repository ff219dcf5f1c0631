// SPDX-License-Identifier: Apache-2.0
// Space-to-batch and its inverse. Dialects call these with the names of their own arguments: `kernel_size` is the block,
// `columns` the tensor with the larger batch.
#pragma once

#include "ops/geometry.hpp"
#include "patchfold/operators.hpp"

namespace patchfold::ops {

Dims space_to_batch_shape(const SpaceToBatch& op, const Dims& image, const Names& names);
Plan space_to_batch_plan(const SpaceToBatch& op, const ConstTensorView& image, const TensorView& batches,
                         const Names& names);
Dims batch_to_space_shape(const BatchToSpace& op, const Dims& batches, const Names& names);
Plan batch_to_space_plan(const BatchToSpace& op, const ConstTensorView& batches, const TensorView& image,
                         const Names& names);

}  // namespace patchfold::ops
