// SPDX-License-Identifier: Apache-2.0
// The shape that each operator gives, by the formulas of its definition, in 128 bits.
#pragma once

#include <string_view>
#include <vector>

#include "edges.hpp"
#include "patchfold/table.hpp"

namespace patchfold::limits {

struct Formula {
  bool is_legal = true;  ///< every number lies in its range, and what must be a multiple is one
  bool fits = true;      ///< extents, pads and effective kernels stay below 2^60, and so do the elements of both tensors
  std::vector<Wide> output{};
};

/// For the rank and the lengths of lists that the operator takes.
Formula formula_of(const ProblemText& problem);
/// The operators that it knows.
std::vector<std::string_view> known_formulas();

}  // namespace patchfold::limits
