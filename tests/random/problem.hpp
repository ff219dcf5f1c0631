// SPDX-License-Identifier: Apache-2.0
// Random problems of every operator.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>

#include "elements.hpp"
#include "patchfold/table.hpp"

namespace patchfold::testing {

/// What a generated problem must be like.
struct Request {
  ElementType type{};
  bool big = false;  ///< large enough that several threads share the work
  /// The extent of the image's last axis, rounded up to a multiple of the block; 0 allows any extent. Problems with a width above 0
  /// have a medium size and no empty axes, and most have more than one row.
  std::int64_t width = 0;
};

struct Problem {
  ProblemText text{};
  Features features{};
  std::uint64_t result_digest = 0;  ///< hash of the result alone, set by check()
  std::uint64_t digest = 0;         ///< hash of the problem and its result, set by check(); all NaNs of a sum count as one
};

/// Returns whether NaNs in a problem's result have specified bits: those of movement and means have, those of sums have not.
inline bool has_certain_nans(const ProblemText& text, bool sums) {
  return !sums || std::ranges::any_of(text.arguments, [](const Argument& argument) {
    const auto* word = std::get_if<std::string>(&argument.value);
    return argument.name == "reduce" && word != nullptr && *word == "mean";
  });
}

using Names = std::vector<std::string>;

inline Names operator+(Names a, const Names& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// An operator's generator of problems, and the features that a run must have shown.
struct Subject {
  std::string_view op;
  std::function<Problem(Random& random, const Request& request)> make;
  bool sums = false;
  int lowest_rank = 1;  ///< the smallest number of spatial axes
  int highest_rank = 6;
  Names features{};  ///< the features that its problems must have, besides the features for every operator
};

/// Returns a generator for every operator.
std::span<const Subject> subjects();

std::vector<Subject> window_subjects();
std::vector<Subject> block_subjects();
/// Returns generators that change the examples of the table, for operators that are not among `known`.
std::vector<Subject> subjects_from_table(std::span<const Subject> known);
/// The feature of a problem that is the unchanged example of its row, because every change was refused.
inline constexpr std::string_view unchanged_example = "unchanged example";

}  // namespace patchfold::testing
