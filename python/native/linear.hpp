// SPDX-License-Identifier: Apache-2.0
// Calls of operators for systems with automatic derivatives. A call is one line of text; it has an adjoint, and can run on
// several samples at once.
//
// Every operator of the table is linear if its fill is 0. So the derivative of an operator is the operator with the fill 0,
// and the transpose of the derivative has the same geometry in the other direction.
#pragma once

#include <string>
#include <string_view>

#include "patchfold/table.hpp"
#include "python/native/errors.hpp"

namespace patchfold::python {

/// A call: the text of a problem (table.hpp). The word "adjoint" before the text means the adjoint of the operator:
///   unfold float32 1x3x8x8 kernel_size=3,3          adjoint unfold float32 1x3x8x8 kernel_size=3,3
/// The adjoint takes a tensor with the shape of the operator's output, and gives a tensor with the shape of the operator's data.
/// The fill counts as 0. An operator that pads with elements of the image, or that averages, has no adjoint: Error(value).
struct LinearCall {
  Lowering lowering{};
  DType dtype = DType::float32;
  std::size_t element_size = 4;

  const Dims& input() const { return lowering.geometry.data; }
  const Dims& output() const { return lowering.geometry.output; }
  /// Returns the number of batch axes: the first axes of both tensors along which the output at each index depends only on the
  /// input at this index.
  int batch_axes() const;
  /// Sets the extents of the batch axes to the first extents of `shape`.
  void set_batch(const Dims& shape);
  /// Returns a plan for row-major tensors. Input and output begin with additional axes, whose extents are `samples`; the
  /// plan makes the call for each sample.
  Plan plan(const Dims& samples) const;
  /// Returns a plan for tensors of any strides. `input` is ignored if the operator has no data input.
  Plan plan(const Dims& samples, const ConstTensorView& input, const TensorView& output) const;
};

/// Returns the call that a text describes. Throws Error(usage) for other text, and the operator's own errors.
LinearCall linear_call(std::string_view text);

/// Throws Error(usage), which says that the system ran a call on buffers that do not fit the call.
[[noreturn]] void refuse_call(const char* system, std::string rule, std::string given, std::string expected);

void bind_linear(nanobind::module_& module);
/// Adds the target that runs a call in XLA's foreign function interface.
void bind_xla(nanobind::module_& module);
/// Adds the function that runs a call for TensorFlow's operator.
void bind_tensorflow(nanobind::module_& module);

}  // namespace patchfold::python
