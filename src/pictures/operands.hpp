// SPDX-License-Identifier: Apache-2.0
// The checks of tensors that the functions for pictures share.
#pragma once

#include <string_view>

#include "ops/operands.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold::pictures {

/// Checks a tensor of bytes.
ops::Sound check_bytes(std::string_view op, std::string_view argument, const ConstTensorView& view);

/// Checks the tensor that receives a result of this shape and element type; its elements must not share memory.
ops::Sound check_result(std::string_view op, std::string_view argument, const TensorView& view, const Dims& shape,
                        DType dtype);

/// Throws Error(null_data) unless a tensor has data, and Error(overlap) if its memory reaches into the result's memory.
void check_memory(std::string_view op, std::string_view argument, const ConstTensorView& view, const ops::Sound& sound,
                  std::string_view result_argument, const TensorView& result, const ops::Sound& sound_result);

}  // namespace patchfold::pictures
