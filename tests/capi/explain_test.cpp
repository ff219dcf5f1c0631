// SPDX-License-Identifier: Apache-2.0
// Tests explanations in C.
#include "patchfold/explain.hpp"

#include "tiles.hpp"

namespace patchfold::test {
namespace {

TEST(CText, OfAnExplanationIsThatOfCpp) {
  const pf_attribute attributes[] = {pf_text("kernel_size", "2,2"), pf_text("output_size", "3,3")};
  const std::int64_t shape[] = {1, 3, 3};
  const pf_tensor image = {nullptr, shape, nullptr, 3, PF_DTYPE_UINT8, 0};
  const auto explained = [](const char* op, const pf_attribute* list, std::int32_t count, const pf_tensor* input,
                            const pf_explain_options* options) {
    char* text = nullptr;
    EXPECT_OK(pf_explain(op, list, count, input, input == nullptr ? 0 : 1, options, &text));
    const TextPointer owner(text);
    return std::string(text == nullptr ? "" : text);
  };
  const pf_explain_options with_plan = {sizeof with_plan, 1, nullptr};
  const pf_dtype int16 = PF_DTYPE_INT16;
  const pf_explain_options of_int16 = {sizeof of_int16, 0, &int16};
  const Argument kernel{"kernel_size", Dims{2, 2}}, size{"output_size", Dims{3, 3}};
  const OperatorSpec& unfold = find_operator("unfold");
  EXPECT_EQ(explained("unfold", attributes, 1, &image, nullptr), explain(unfold, {{kernel}}, {1, 3, 3}, DType::uint8));
  EXPECT_EQ(explained("unfold", attributes, 1, &image, &with_plan),
            explain(unfold, {{kernel}}, {1, 3, 3}, DType::uint8, 0, {.plan = true}));
  const Argument both[] = {kernel, size};
  EXPECT_EQ(explained("coverage", attributes, 2, nullptr, nullptr), explain(find_operator("coverage"), both, {}));
  EXPECT_EQ(explained("coverage", attributes, 2, nullptr, &of_int16),
            explain(find_operator("coverage"), both, {}, DType::int16));

  char* text = nullptr;
  EXPECT_EQ(outcome(pf_explain("unfold", attributes, 1, &image, 1, nullptr, nullptr)),
            "missing: pf_explain: text: must not be NULL");
  EXPECT_EQ(outcome(pf_explain(nullptr, attributes, 1, &image, 1, nullptr, &text)),
            "missing: pf_explain: op: must not be NULL");
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(outcome(pf_explain("unfold", attributes, 0, &image, 1, nullptr, &text)).substr(0, 28),
            "missing: unfold: kernel_size");
  const pf_explain_options small = {15, 0, nullptr};
  EXPECT_EQ(outcome(pf_explain("unfold", attributes, 1, &image, 1, &small, &text)),
            "value: unfold: options: size must be the size of the struct; given 15, expected 16");
  const pf_dtype none = 77;
  const pf_explain_options of_none = {sizeof of_none, 0, &none};
  EXPECT_EQ(outcome(pf_explain("coverage", attributes, 2, nullptr, 0, &of_none, &text)),
            "dtype: coverage: dtype: there is no such element type; given 77");
  const pf_dtype opaque = PF_DTYPE_OPAQUE;
  const pf_explain_options of_opaque = {sizeof of_opaque, 0, &opaque};
  EXPECT_EQ(outcome(pf_explain("coverage", attributes, 2, nullptr, 0, &of_opaque, &text)).substr(0, 5), "dtype");
  EXPECT_EQ(text, nullptr);
  pf_text_destroy(nullptr);
}

}  // namespace
}  // namespace patchfold::test
