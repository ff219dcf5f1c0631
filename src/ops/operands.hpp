// SPDX-License-Identifier: Apache-2.0
// The checks of tensors that all operators share.
#pragma once

#include <string_view>

#include "engine/problem.hpp"
#include "patchfold/plan.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold::ops {

/// Checks extents: none negative, all below 2^60, and fewer than 2^60 elements.
void check_shape(std::string_view op, std::string_view argument, const Dims& shape);

/// The strides of a source and a destination that have passed their checks, and the beginning of their problem. Strides of axes
/// with at most one element are set to 0.
struct Operands {
  Dims src_strides{};
  Dims dst_strides{};
  engine::Problem problem{};  ///< without dims and windows
};

/// A view that has passed its checks.
struct Sound {
  Dims strides{};             ///< 0 for axes of at most one element, and in empty tensors
  engine::ByteRange range{};  ///< the bytes that the view spans
};

/// Checks one view by itself. Throws Error(strides, dtype, overflow).
Sound check_view(std::string_view op, std::string_view name, const ConstTensorView& view);

/// Checks that `src` is a sound view, and that `dst` has `dst_shape`, the element type of `src`, and elements that share no
/// memory. Throws Error(strides, dtype, shape, overflow).
Operands check_operands(std::string_view op, std::string_view src_name, const ConstTensorView& src,
                        std::string_view dst_name, const TensorView& dst, const Dims& dst_shape);

/// Throws Error(dtype) unless elements of the tensor's type can be added.
void check_summable(std::string_view op, std::string_view argument, const ConstTensorView& tensor);

/// Returns the plan of the problem. Throws Error(limit).
Plan make_plan(std::string_view op, const engine::Problem& problem);

}  // namespace patchfold::ops
