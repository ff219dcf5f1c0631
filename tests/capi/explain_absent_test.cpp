// SPDX-License-Identifier: Apache-2.0
// Tests explanations in C with a library that was built without PATCHFOLD_WITH_EXPLAIN.
#include "capi.hpp"

namespace patchfold::test {
namespace {

TEST(CText, OfAnExplanationIsLeftOut) {
  const pf_attribute kernel = pf_text("kernel_size", "2,2");
  const std::int64_t shape[] = {1, 3, 3};
  const pf_tensor image = {nullptr, shape, nullptr, 3, PF_DTYPE_UINT8, 0};
  char before = 0, *text = &before;
  EXPECT_EQ(outcome(pf_explain("unfold", &kernel, 1, &image, 1, nullptr, &text)),
            "unknown_operator: pf_explain: is left out of this build of the library; build the library with "
            "PATCHFOLD_WITH_EXPLAIN");
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(outcome(pf_explain("unfold", &kernel, 1, &image, 1, nullptr, nullptr)),
            "missing: pf_explain: text: must not be NULL");
}

}  // namespace
}  // namespace patchfold::test
