// SPDX-License-Identifier: Apache-2.0
#include "patchfold/explain.hpp"

#include "capi/convert.hpp"
#include "capi/guard.hpp"

namespace patchfold::capi {
namespace {

char* explained(const Request& request, const pf_explain_options* options) {
  const Given given = read(request, "pf_explain");
  pf_explain_options own{};
  if (options != nullptr) own = load<pf_explain_options>(options, sizeof(pf_explain_options), given.spec.name, "options");
  TensorView like{.data = nullptr, .shape = {}, .strides = {}, .dtype = DType::float32, .element_size = sizeof(float)};
  if (given.data != nullptr) {
    like = view_of(*given.data, given.spec.name, given.spec.data_input);
  } else if (own.dtype != nullptr) {
    like.dtype = dtype_of(*own.dtype, given.spec.name, "dtype");
    like.element_size = size_of(like.dtype);
  }
  return copy_of(explain(given.spec, given.arguments, like.shape, like.dtype, like.element_size, {.plan = own.plan != 0}));
}

}  // namespace
}  // namespace patchfold::capi

using namespace patchfold::capi;  // NOLINT: the functions below are the interface itself

pf_status pf_explain(const char* op, const pf_attribute* attributes, int32_t n_attributes, const pf_tensor* inputs,
                     int32_t n_inputs, const pf_explain_options* options, char** text) {
  return guarded([&] {
    *required(text, "pf_explain", "text") = nullptr;
    *text = explained({op, attributes, n_attributes, inputs, n_inputs}, options);
  });
}
