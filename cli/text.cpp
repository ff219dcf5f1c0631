// SPDX-License-Identifier: Apache-2.0
#include "cli/text.hpp"

#include <charconv>
#include <iterator>

namespace patchfold::cli {

std::string decimal(double number, int digits) {
  char text[512];  // enough: the largest float64 has 309 digits before the point
  const auto end = std::to_chars(std::begin(text), std::end(text), number, std::chars_format::fixed, digits).ptr;
  return {text, end};
}

}  // namespace patchfold::cli
