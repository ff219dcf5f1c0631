// SPDX-License-Identifier: Apache-2.0
// Facts of an operator beyond its row of the operator table: a second implementation of the shape of its output, and the
// inputs that are right for this operator though wrong for most. Each dialect with such operators has a file of
// facts. An operator without facts is tested by its row.
#pragma once

#include <string_view>
#include <vector>

#include "patchfold/table.hpp"

namespace patchfold::facts {

class Work;

/// An axis of the example's data on which one more element makes the problem wrong, or the reason why there is no such axis.
struct Cell {
  int axis = 0;
  std::string_view reason{};
};
constexpr Cell longer(int axis) {
  return {axis, ""};
}
constexpr Cell none(std::string_view reason) {
  return {0, reason};
}

/// An input that wrong_problems() lists as wrong, although it is right for the operator, and the reason.
struct Exempt {
  std::string_view what;
  std::string_view reason;
};

/// The value of Facts::more_axes for an operator that refuses data with one more axis.
constexpr std::string_view refused;

struct Facts {
  std::string_view op;
  void (*formula)(Work&);      ///< computes the output's shape, in 128 bits
  std::string_view more_axes;  ///< `refused` if one more axis in front is refused; else the reason why it is accepted
  Cell divisible;              ///< the axis whose extent must be a multiple of a number
  Cell positions;              ///< the axis whose extent must be the number of positions
  std::vector<Exempt> exempt{};
};

/// An object that registers the facts of a dialect at the program's start: `const Known torch({..});`
class Known {
 public:
  explicit Known(std::vector<Facts> dialect);
};

/// Returns the facts of an operator, or null.
const Facts* find(std::string_view op);
/// Returns the names of all operators with facts.
std::vector<std::string_view> known();

/// The reasons that many operators share.
constexpr std::string_view any_axes = "any number of axes before those that it looks at";
constexpr Cell no_multiples = none("nothing has to be a multiple");
constexpr Cell no_columns = none("it takes no columns");
constexpr Cell any_blocks = none("any number of blocks");
constexpr std::string_view crops = "negative pads crop";
constexpr std::string_view steps = "a step beyond the image leaves one position";
constexpr std::string_view zero_dilation = "all taps of a dilation of 0 lie in one place";
constexpr std::string_view other_rank = "another length means another number of spatial axes";

}  // namespace patchfold::facts
