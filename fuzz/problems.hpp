// SPDX-License-Identifier: Apache-2.0
// Problems made of bytes: a legal one of any operator, and then a few changes of any kind. Tilings and merges made of bytes:
// mostly valid, and small.
#pragma once

#include <cstddef>

#include "patchfold/tiling.hpp"
#include "problem.hpp"

namespace patchfold::fuzz {

struct DrawnProblem {
  testing::Problem problem{};
  bool sums = false;
  bool is_legal = true;  ///< no change was made
};

DrawnProblem draw_problem(testing::Random& random);

/// Returns a number that is mostly small, and sometimes near the limit of a type, a power of two.
std::int64_t draw_number(testing::Random& random);
std::string draw_text(testing::Random& random);

/// Returns whether the problem needs little memory and time, so that it can run and be compared with the reference.
bool is_small(const ProblemText& text, const Dims& output);

TilingSpec draw_tiling(testing::Random& random);
/// Returns a random merge of tiles of the element type.
MergeSpec draw_merge(testing::Random& random, const Tiling& tiling, DType dtype, std::size_t size);

/// Returns whether arrays can be cut and merged with little memory and time.
bool is_small(const Tiling& tiling);

}  // namespace patchfold::fuzz
