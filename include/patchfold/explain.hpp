// SPDX-License-Identifier: Apache-2.0
// Explains what an operator does to a tensor of a given shape, as text for people.
#pragma once

#include <span>
#include <string>

#include "patchfold/table.hpp"

namespace patchfold {

/// The largest number of elements of input or output for which explain() shows coverage and order. For an operator without a
/// data input, the taps of all patches count instead. explain() visits each of these elements once and needs
/// memory for them; for larger problems it leaves these sections out and says so.
inline constexpr std::int64_t explain_limit = std::int64_t{1} << 22;

/// What an explanation shows beside what the operator does.
struct ExplainOptions {
  bool plan = false;  ///< how this library runs the operator, and where the operator is defined
};

/// Explains one operator for one shape of its data input (ignored if the operator has none):
///   what the operator does; its arguments in force; shapes and bytes; for operators with windows the positions on every
///   axis; coverage: how often each pixel is used, or how many elements meet in it; order: which element comes from which,
///   or goes where; for tiny shapes the columns as a matrix; the plan, if it is asked for.
/// The text is ASCII, in lines of at most 100 characters, each ended by a newline. `element_size` is used only for opaque
/// elements. Throws the same Error as planning the operator.
PATCHFOLD_API std::string explain(const OperatorSpec& op, std::span<const Argument> arguments, const Dims& data_shape,
                                  DType dtype = DType::float32, std::size_t element_size = 0, ExplainOptions options = {});
PATCHFOLD_API std::string explain(const ProblemText& problem, ExplainOptions options = {});

}  // namespace patchfold
