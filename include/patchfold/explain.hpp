// SPDX-License-Identifier: Apache-2.0
// What an operator does to a tensor of a given shape, as text for people.
#pragma once

#include <span>
#include <string>

#include "patchfold/table.hpp"

namespace patchfold {

/// Most elements on either side for which explain() shows coverage and order; without a data input, the taps of all patches
/// count. It finds them by running the operator on tensors of indices, 8 bytes an element, up to some hundred times; for
/// larger problems it says so and shows the rest.
inline constexpr std::int64_t explain_limit = std::int64_t{1} << 22;

/// Explains one operator for one shape of its data input, which is ignored if the operator has none:
///   what the operator does; its arguments in force; shapes and bytes; for operators with windows the positions on every
///   axis; coverage: how often each pixel is used, or how many elements meet in it; order: which element comes from which,
///   or goes where; the plan.
/// The text is ASCII, in lines of at most 100 columns, each ended by a newline. `element_size` counts for opaque elements
/// only. Throws the Error that planning the operator throws.
PATCHFOLD_API std::string explain(const OperatorSpec& op, std::span<const Argument> arguments, const Dims& data_shape,
                                  DType dtype = DType::float32, std::size_t element_size = 0);
PATCHFOLD_API std::string explain(const ProblemText& problem);

}  // namespace patchfold
