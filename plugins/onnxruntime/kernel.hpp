// SPDX-License-Identifier: Apache-2.0
// The library's operators in the form in which ONNX Runtime registers and runs operators.
#pragma once

#include <limits>
#include <utility>

#include "plugins/common/operation.hpp"
#include "plugins/onnxruntime/api.hpp"

namespace patchfold::plugins::ort {

struct Operator : CustomOp {
  Operator(const Definition& definition, const Api& api);
  std::pair<const Definition&, const Api&> parts() const { return {definition, api}; }

  const Definition& definition;
  const Api& api;
};

}  // namespace patchfold::plugins::ort
