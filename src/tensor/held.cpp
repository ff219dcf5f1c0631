// SPDX-License-Identifier: Apache-2.0
#include "tensor/held.hpp"

#include <string>

#include "base/fail.hpp"

namespace patchfold {

void fail_left_out(std::string_view op) {
  std::string held;
  for (const std::string_view name : chosen::operators) held += (held.empty() ? "" : ", ") + std::string(name);
  fail(ErrorCode::unknown_operator, op, "operator", "is left out of this build of the library", {}, held,
       "name it in PATCHFOLD_OPERATORS when you build the library");
}

void check_held(std::string_view op, std::string_view argument, DType dtype) {
  if (holds(dtype)) return;
  std::string held;
  for (const DType each : chosen::types) held += (held.empty() ? "" : ", ") + std::string(name_of(each));
  fail(ErrorCode::dtype, op, argument, "the element type is left out of this build of the library", dtype, held,
       "name it in PATCHFOLD_ELEMENT_TYPES when you build the library");
}

}  // namespace patchfold
