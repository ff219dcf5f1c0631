// SPDX-License-Identifier: Apache-2.0
#include "reference/reference.hpp"

#include "reference/operators.hpp"

namespace reference {
namespace {

Functions& table() {
  static Functions functions;
  return functions;
}

const Listed neutral({
    {"unfold", unfold},
    {"fold", [](const Array& data, const Arguments& arguments) { return fold(data, arguments, nullptr); }},
    {"coverage", coverage},
    {"reorder", reorder},
    {"copy", copied},
    {"space_to_batch", space_to_batch},
    {"batch_to_space", batch_to_space},
    {"space_to_depth", space_to_depth},
    {"depth_to_space", depth_to_space},
});

}  // namespace

Listed::Listed(Functions functions) {
  table().merge(functions);
}

std::vector<std::string> operators() {
  std::vector<std::string> names;
  for (const auto& row : table()) names.push_back(row.first);
  return names;
}

Array run(const std::string& op, const Array& data, const Arguments& arguments, const Array* held) {
  if (op == "fold") return fold(data, arguments, held);
  return table().at(op)(data, arguments);
}

}  // namespace reference
