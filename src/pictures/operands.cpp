// SPDX-License-Identifier: Apache-2.0
#include "pictures/operands.hpp"

#include "base/fail.hpp"

namespace patchfold::pictures {

ops::Sound check_bytes(std::string_view op, std::string_view argument, const ConstTensorView& view) {
  const ops::Sound sound = ops::check_view(op, argument, view);
  if (view.dtype != DType::uint8)
    fail(ErrorCode::dtype, op, argument, "must have bytes as elements", view.dtype, DType::uint8);
  return sound;
}

ops::Sound check_result(std::string_view op, std::string_view argument, const TensorView& view, const Dims& shape,
                        DType dtype) {
  if (view.dtype != dtype)
    fail(ErrorCode::dtype, op, argument, "must have the element type of the result", view.dtype, dtype);
  // A source of one element, repeated, satisfies every check of a source.
  const ConstTensorView any{nullptr, shape, Dims::filled(shape.size(), 0), dtype, size_of(dtype)};
  const ops::Operands operands = ops::check_operands(op, argument, any, argument, view, shape);
  return {operands.dst_strides, operands.problem.dst_range};
}

void check_memory(std::string_view op, std::string_view argument, const ConstTensorView& view, const ops::Sound& sound,
                  std::string_view result_argument, const TensorView& result, const ops::Sound& sound_result) {
  const auto* from = static_cast<const std::byte*>(view.data);
  const auto* to = static_cast<const std::byte*>(result.data);
  if (from == nullptr) fail(ErrorCode::null_data, op, argument, "a tensor with elements must have data");
  if (to == nullptr) fail(ErrorCode::null_data, op, result_argument, "a tensor with elements must have data");
  if (engine::overlap(from, sound.range, to, sound_result.range))
    fail(ErrorCode::overlap, op, result_argument, "source and destination must not share memory");
}

}  // namespace patchfold::pictures
