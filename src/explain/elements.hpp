// SPDX-License-Identifier: Apache-2.0
// Finds which element of the image belongs to each element of the columns, and how often each element is used.
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
  std::int64_t image = -1;  ///< the flat index; -1: outside the image, where no padding mode reads an element
  std::int64_t column = 0;
  bool padded = false;  ///< the coordinate lies outside the image, and a padding mode reads `image` there
};

/// Calls f for every element of the columns, taps in ascending order. For an operator without data input, f is called for each tap
/// of each patch, with column = 0.
void walk(const Geometry& geometry, const std::function<void(const Pair&)>& f);

/// The facts that walk() gives about all elements. A list is empty if its condition does not hold for the operator.
struct Findings {
  std::vector<std::int64_t> from{};    ///< if the operator moves: for each output element its input element, or -1
  std::vector<bool> padded{};          ///< if it extracts: for each output element, whether it is read through padding
  std::vector<std::int64_t> to{};      ///< if it adds: for each input element its output element, or -1
  std::vector<std::int64_t> counts{};  ///< moves: uses of each input element; sums: number of terms of each output element
};

Findings find(const Subject& subject);

void write_coverage(Text& text, const Subject& subject, const Findings& findings);
void write_order(Text& text, const Subject& subject, const Findings& findings);
/// Writes the columns of a tiny problem. For an extraction, each place shows the number of the image element that is moved there.
/// For a sum, each place shows the number of the image element to which the element there is added.
void write_matrix(Text& text, const Subject& subject, const Findings& findings);

}  // namespace patchfold::explaining
