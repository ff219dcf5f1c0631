// SPDX-License-Identifier: Apache-2.0
// pf_explain in builds without PATCHFOLD_WITH_EXPLAIN.
#include "capi/guard.hpp"

using namespace patchfold::capi;  // NOLINT: the function below is the interface itself

pf_status pf_explain(const char*, const pf_attribute*, int32_t, const pf_tensor*, int32_t, const pf_explain_options*,
                     char** text) {
  return guarded([&] {
    *required(text, "pf_explain", "text") = nullptr;
    patchfold::fail(patchfold::ErrorCode::unknown_operator, "pf_explain", "", "is left out of this build of the library", {},
                    {}, "build the library with PATCHFOLD_WITH_EXPLAIN");
  });
}
