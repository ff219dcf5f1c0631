// SPDX-License-Identifier: Apache-2.0
// Coverage and order: how often elements are used, and which comes from which.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "explain/lines.hpp"
#include "explain/subject.hpp"

namespace patchfold::explaining {

/// One element of the columns and the element of the image that it belongs to, as row-major numbers.
struct Pair {
  std::int64_t image = -1;  ///< -1: outside the image, and no padding mode reads anything there
  std::int64_t column = 0;
  bool padded = false;  ///< outside the image, where a padding mode reads `image`
};

/// Calls f for every element of the columns, taps in ascending order. Without a data input the columns have no elements in
/// memory: f is called for each tap of each patch then, with column = 0.
void walk(const Geometry& geometry, const std::function<void(const Pair&)>& f);

/// What the walk has shown.
struct Findings {
  std::vector<std::int64_t> from{};    ///< of operators that move: for each output element the input element, or -1
  std::vector<bool> padded{};          ///< of extractions: whether an output element lies outside and is padded
  std::vector<std::int64_t> to{};      ///< of operators that add: for each input element the output element, or -1
  std::vector<std::int64_t> counts{};  ///< moves: how often each input element is used; sums: how many meet in each output
};

Findings find(const Subject& subject);

void write_coverage(Text& text, const Subject& subject, const Findings& findings);
void write_order(Text& text, const Subject& subject, const Findings& findings);
/// The columns of a tiny problem as they are: what an extraction makes of 0, 1, 2, .., or where a sum puts each element.
void write_matrix(Text& text, const Subject& subject, const Findings& findings);

}  // namespace patchfold::explaining
