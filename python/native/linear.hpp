// SPDX-License-Identifier: Apache-2.0
// Calls as systems with automatic derivatives need them: one line of text that says all, its adjoint, and samples.
//
// Every operator of the table is linear, but for a fill other than 0. So its derivative is the operator itself, and the
// derivative's transpose is the same geometry in the other direction.
#pragma once

#include <string>
#include <string_view>

#include "patchfold/table.hpp"
#include "python/native/errors.hpp"

namespace patchfold::python {

/// A call: a problem (table.hpp), after the word "adjoint" for the adjoint of its operator:
///   unfold float32 1x3x8x8 kernel_size=3,3          adjoint unfold float32 1x3x8x8 kernel_size=3,3
/// The adjoint takes what has the shape of the operator's output, and gives what has the shape of its data. It is that of a
/// fill of 0. Operators that do not pad with zeros only have none: Error(value).
struct LinearCall {
  Lowering lowering{};
  DType dtype = DType::float32;
  std::size_t element_size = 4;

  const Dims& input() const { return lowering.geometry.data; }
  const Dims& output() const { return lowering.geometry.output; }
  /// A plan for row-major tensors of these shapes. They begin with the same samples, any number of axes, in each of which
  /// the call is made.
  Plan plan(const Dims& samples) const;
  /// The same for any strides. The input is ignored if the operator has none.
  Plan plan(const Dims& samples, const ConstTensorView& input, const TensorView& output) const;
};

/// Throws Error(usage) for text that is no call, and what the operator throws.
LinearCall linear_call(std::string_view text);

/// Throws Error(usage) about a call that a system makes with other buffers than the call's.
[[noreturn]] void refuse_call(const char* system, std::string rule, std::string given, std::string expected);

void bind_linear(nanobind::module_& module);
/// XLA's foreign function interface: the target that runs a call.
void bind_xla(nanobind::module_& module);
/// What TensorFlow's operator runs a call with.
void bind_tensorflow(nanobind::module_& module);

}  // namespace patchfold::python
