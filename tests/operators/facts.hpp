// SPDX-License-Identifier: Apache-2.0
// What tests know about an operator beyond its row of the operator table: its definition written a second time, and which
// wrong inputs it cannot get. A dialect's facts are one file of this folder. An operator without facts is tested by its row.
#pragma once

#include <string_view>
#include <vector>

#include "patchfold/table.hpp"

namespace patchfold::facts {

class Work;

/// An axis of the example's data. One element more there makes the problem wrong; or the reason why no axis does.
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

/// A wrong input that the operator cannot get.
struct Exempt {
  std::string_view what;
  std::string_view reason;
};

/// What Facts::more_axes says of an operator that refuses them.
constexpr std::string_view refused;

struct Facts {
  std::string_view op;
  void (*formula)(Work&);      ///< the output's shape, in 128 bits
  std::string_view more_axes;  ///< `refused` if one more axis in front of the example's is; or the reason why it is not
  Cell divisible;              ///< an extent that is no multiple
  Cell positions;              ///< another number of positions than the formula gives
  std::vector<Exempt> exempt{};
};

/// The facts of a dialect, known from the start of the program on. `const Known torch({..});`
class Known {
 public:
  explicit Known(std::vector<Facts> dialect);
};

/// Null for an operator without facts.
const Facts* find(std::string_view op);
/// The names of all operators with facts.
std::vector<std::string_view> known();

/// Reasons that many operators share.
constexpr std::string_view any_axes = "any number of axes before those that it looks at";
constexpr Cell no_multiples = none("nothing has to be a multiple");
constexpr Cell no_columns = none("it takes no columns");
constexpr Cell any_blocks = none("any number of blocks");
constexpr std::string_view crops = "negative pads crop";
constexpr std::string_view steps = "a step beyond the image leaves one position";
constexpr std::string_view zero_dilation = "all taps of a dilation of 0 lie in one place";
constexpr std::string_view other_rank = "another length means another number of spatial axes";

}  // namespace patchfold::facts
