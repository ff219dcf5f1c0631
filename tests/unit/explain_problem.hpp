// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "patchfold/explain.hpp"

namespace patchfold {

inline std::string explain_problem(std::string_view problem) {
  return explain(parse_problem(problem));
}

}  // namespace patchfold
