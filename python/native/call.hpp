// SPDX-License-Identifier: Apache-2.0
// Operators and plans, with the functions that Python calls.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "patchfold/table.hpp"
#include "python/native/arrays.hpp"
#include "python/native/sequence.hpp"

namespace patchfold::python {

/// The values of an operator's arguments, in the order of its row in the table; std::nullopt for an argument that is not
/// given.
using Values = std::vector<std::optional<ArgumentValue>>;

/// A row of the operator table. A call gives the values of the row's arguments by position.
class Operator {
 public:
  /// data: Python's name of the data argument, in place of the name in the table.
  explicit Operator(const std::string& name, const std::string& data);

  const OperatorSpec& spec() const { return *spec_; }
  std::string name() const { return std::string(spec_->name); }
  const std::string& data_name() const { return data_; }

  /// Runs the operator; returns `out`, or a new array of x's kind. x is None for an operator without a data input.
  nb::object call(nb::handle x, nb::handle out, const nb::args& values) const;
  /// Runs on a plain tensor (torch_tensors.hpp). Returns NotImplemented if the derivative must be recorded. Returns None for
  /// tensors that are not plain, for values other than integers or lists of integers, and for wrong calls. checked: whether
  /// an earlier call with the same tensor returned NotImplemented; then the tensor is read without further checks.
  /// keeps_memory_format: whether the output gets the tensor's memory format by torch's rule; otherwise the output is
  /// row-major.
  nb::object call_torch(nb::handle tensor, bool checked, bool keeps_memory_format, const nb::args& values) const;
  nb::tuple output_shape(nb::handle shape, const nb::args& values) const;

  Values parse(std::span<const nb::handle> values) const;
  /// Returns the shape of the output. shape: the shape of the data; data: the data's name in errors.
  Dims output_dims(const Dims& shape, const Values& values, std::string_view data) const;
  /// Returns the operand of x; an empty one for an operator without a data input.
  Operand source(nb::handle x) const;
  /// Returns the operand of x for a call with these values. Numbers in the other byte order are copied to this machine's
  /// order if the call adds them or has a fill other than 0. form_only: only the layout of the copy is made.
  Operand source(nb::handle x, std::span<const nb::handle> values, bool form_only = false) const;
  Operand destination(nb::handle out, const Operand& src) const;
  /// Returns a plan for these tensors, from the cache if possible. If `dst` is null, the output is a new row-major tensor.
  detail::Planned prepare(const TensorView& src, const TensorView* dst, std::span<const nb::handle> values) const;
  /// Runs a plan; returns `out`, or a new array of x's kind.
  nb::object run_into(const detail::Planned& planned, nb::handle x, nb::handle out, const Operand& src,
                      const std::optional<Operand>& dst) const;

 private:
  BoundOperator bind(const Values& values) const;
  /// Returns whether a call reads elements as numbers, and does not only move their bytes.
  bool reads_numbers(std::span<const nb::handle> values) const;
  /// Throws Error(overlap) if the source and the destination share memory. The plan cannot see this if it reads a copy of
  /// the source.
  void check_apart(const Operand& src, const Operand& dst) const;
  /// Throws Error(missing) if a call without `out` needs one: for an operator without a data input, or for a sum on top of
  /// the content of `out`.
  void check_new_output(const Values& values) const;

  const OperatorSpec* spec_;
  std::string data_;
};

/// A plan for arrays of one shape, layout and type.
class PlannedCall {
 public:
  PlannedCall(Operator op, nb::handle x, nb::handle out, const nb::args& values);
  nb::object call(nb::handle x, nb::handle out) const;
  std::string describe() const { return prepared_.plan.describe(); }
  std::string name() const { return op_.name(); }
  nb::tuple input_shape() const;
  nb::tuple output_shape() const;
  /// Returns the element type of the data, or of the output if the operator has no data input.
  std::string dtype() const { return dtype_text(src_.dtype.is_valid() ? src_ : *dst_); }
  /// Returns (shape, byte strides, element type) of the data, or None without a data input.
  nb::object source() const;
  /// Returns (shape, byte strides, element type) of the output, or None if each call makes its own output.
  nb::object destination() const;

 private:
  Operator op_;
  Operand src_;                   ///< the layout and type that x must have, without an owner
  std::optional<Operand> dst_{};  ///< the layout and type that out must have
  detail::Planned prepared_{};
};

/// Return views of patches and of blocks: patchfold.unfold_view and patchfold.space_to_depth_view.
nb::object unfold_view(nb::handle x, nb::handle kernel_size, nb::handle stride, nb::handle dilation, nb::handle layout,
                       nb::handle allow_empty);
nb::object space_to_depth_view(nb::handle x, nb::handle block, nb::handle mode, nb::handle layout);

/// Copies patches at corners into out, or into a new array of x's kind: patchfold.gather_patches.
nb::object gather_patches(nb::handle x, nb::handle corners, nb::handle size, nb::handle out);

/// Writes the table's entries for the bytes of x to out. Errors name `op`.
void apply_table(const std::string& op, nb::handle x, int axis, nb::handle table, nb::handle out);
/// Resizes the pictures x (.., rows, columns) to out. Errors name `op`. The words must be the library's.
void resize(const std::string& op, nb::handle x, nb::handle out, const std::string& filter, const std::string& fixed_point,
            const std::optional<std::array<float, 4>>& box);

}  // namespace patchfold::python
