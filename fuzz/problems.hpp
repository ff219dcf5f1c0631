// SPDX-License-Identifier: Apache-2.0
// Problems made of bytes: a legal problem of any operator, then a few changes of any kind. Tilings and merges made of bytes are
// mostly valid, and small.
#pragma once

#include <cstddef>

#include "patchfold/tiling.hpp"
#include "problem.hpp"

namespace patchfold::fuzz {

struct DrawnProblem {
  testing::Problem problem{};
  bool sums = false;
  bool is_legal = true;  ///< true if nothing was changed
};

DrawnProblem draw_problem(testing::Random& random);

/// Returns a number: mostly a small one, sometimes one near the limit of a type or near a power of two.
std::int64_t draw_number(testing::Random& random);
std::string draw_text(testing::Random& random);

/// Returns whether a problem is small enough to run it and to compare it with the reference.
bool is_small(const ProblemText& text, const Dims& output);

TilingSpec draw_tiling(testing::Random& random);
/// Returns a random merge of tiles whose elements have the type `dtype`, and `size` bytes.
MergeSpec draw_merge(testing::Random& random, const Tiling& tiling, DType dtype, std::size_t size);

/// Returns whether a tiling is small enough to cut and merge arrays with it.
bool is_small(const Tiling& tiling);

}  // namespace patchfold::fuzz
