// SPDX-License-Identifier: Apache-2.0
// Finds coverage and order: the number of uses of each element, and the pairs of elements of columns and image.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "explain/lines.hpp"
#include "explain/subject.hpp"

namespace patchfold::explaining {

/// One element of the columns and its element of the image, as row-major numbers.
struct Pair {
  std::int64_t image = -1;  ///< -1: outside the image, with no padding mode that reads an element
  std::int64_t column = 0;
  bool padded = false;  ///< outside the image: a padding mode reads `image`
};

/// Calls f for every element of the columns, taps in ascending order. If there is no data input, the columns have no
/// elements in memory: f is then called for each tap of each patch, with column = 0.
void walk(const Geometry& geometry, const std::function<void(const Pair&)>& f);

/// The facts that a walk over all elements finds.
struct Findings {
  std::vector<std::int64_t> from{};    ///< of operators that move: for each output element its input element, or -1
  std::vector<bool> padded{};          ///< of extractions: whether an output element lies outside the image and is padded
  std::vector<std::int64_t> to{};      ///< of operators that add: for each input element its output element, or -1
  std::vector<std::int64_t> counts{};  ///< moves: uses of each input element; sums: elements that meet in an output element
};

Findings find(const Subject& subject);

void write_coverage(Text& text, const Subject& subject, const Findings& findings);
void write_order(Text& text, const Subject& subject, const Findings& findings);
/// Writes the columns of a tiny problem: the result of extracting 0, 1, 2, .., or for a sum the image element to which each column
/// element is added.
void write_matrix(Text& text, const Subject& subject, const Findings& findings);

}  // namespace patchfold::explaining
