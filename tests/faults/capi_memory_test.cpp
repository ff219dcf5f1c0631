// SPDX-License-Identifier: Apache-2.0
// Memory runs out in every function of the C interface.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "memory.hpp"
#include "operators.hpp"
#include "patchfold/patchfold.h"

namespace patchfold::faults {
namespace {

/// Throws the error that a status stands for.
void check(pf_status status) {
  if (status == PF_OK) {
    EXPECT_STREQ(pf_last_error(), "");
    return;
  }
  EXPECT_STRNE(pf_last_error(), "");
  EXPECT_STRNE(pf_last_error_part(PF_PART_RULE), "");
  throw Error({.code = static_cast<ErrorCode>(status - 1)});
}

/// unfold of an image of 2 x 3 x 64 x 64 in C.
struct Problem {
  const std::int64_t shape[4] = {2, 3, 64, 64}, result[3] = {2, 27, 4096}, kernel[2] = {3, 3};
  std::vector<float> image = std::vector<float>(2 * 3 * 64 * 64, 1), columns = std::vector<float>(2 * 27 * 4096);
  pf_attribute attributes[2] = {pf_integers("kernel_size", kernel, 2), pf_text("padding", "1:1,1:1")};
  pf_tensor input = {image.data(), shape, nullptr, 4, PF_DTYPE_FLOAT32, 0};
  pf_tensor output = {columns.data(), result, nullptr, 3, PF_DTYPE_FLOAT32, 0};
};

struct Plans {
  explicit Plans(Problem& p) : p(p) {}
  Plans(const Plans&) = delete;
  Plans& operator=(const Plans&) = delete;
  ~Plans() { pf_plan_destroy(plan); }
  void create() { check(pf_plan_create("unfold", p.attributes, 2, &p.input, 1, &p.output, &plan)); }
  Problem& p;
  pf_plan* plan = nullptr;
};

// claim: memory-errors
TEST(CWithoutMemory, GivesAStatusAndAMessage) {
  Problem p;
  const Expectation kept{.kept = 12};  // the thread keeps its last error, with its values and texts
  fail_each_allocation(
      "pf_run", [&] { check(pf_run("unfold", p.attributes, 2, &p.input, 1, &p.output, nullptr)); }, kept);
  fail_each_allocation(
      "pf_output_shape",
      [&] {
        std::int64_t shape[PF_MAX_RANK];
        std::int32_t rank = PF_MAX_RANK;
        check(pf_output_shape("unfold", p.attributes, 2, &p.input, 1, shape, &rank));
        EXPECT_EQ(rank, 3);
      },
      kept);
  fail_each_allocation(
      "pf_plan_create",
      [&] {
        Plans made(p);
        const pf_status status = pf_plan_create("unfold", p.attributes, 2, &p.input, 1, &p.output, &made.plan);
        EXPECT_EQ(made.plan == nullptr, status != PF_OK);
        check(status);
      },
      kept);
  Plans made(p);
  made.create();
  fail_each_allocation(
      "pf_plan_run", [&] { check(pf_plan_run(made.plan, p.image.data(), p.columns.data(), nullptr, 0, nullptr)); }, kept);
  fail_each_allocation(
      "pf_plan_describe",
      [&] {
        char text[100];
        std::size_t length = 0;
        check(pf_plan_describe(made.plan, text, sizeof(text), &length));
        EXPECT_GT(length, 100U);
      },
      kept);
  fail_each_allocation(
      "pf_plan_scratch_bytes",
      [&] {
        std::size_t bytes = 0;
        check(pf_plan_scratch_bytes(made.plan, 3, &bytes));
      },
      kept);
  fail_each_allocation(
      "pf_find_operator",
      [&] {
        std::int32_t index = -1;
        check(pf_find_operator("openvino.ExtractImagePatches", &index));
        pf_operator op{};
        op.size = sizeof(op);
        check(pf_operator_info(index, &op));
        pf_argument argument{};
        argument.size = sizeof(argument);
        check(pf_argument_info(index, 0, &argument));
        pf_dtype dtype = -1;
        check(pf_dtype_from_name("complex128", &dtype));
        EXPECT_STREQ(op.name, "openvino.ExtractImagePatches-3");
      },
      kept);
  fail_each_allocation(
      "settings",
      [&] {
        check(pf_use_instruction_set(pf_instruction_set_name(0)));
        check(pf_use_instruction_set(nullptr));
        check(pf_set_num_threads(2));
        check(pf_set_num_threads(0));
      },
      kept);
}

TEST(CWithoutMemory, ReportsMistakesAsWhatTheyAre) {
  Problem p;
  const pf_attribute wrong = pf_text("kernel_size", "three");
  fail_each_allocation(
      "wrong",
      [&] {
        for (const char* op : {"unfold", "an operator that there is not"}) {
          const pf_status status = pf_run(op, &wrong, 1, &p.input, 1, &p.output, nullptr);
          EXPECT_TRUE(status == PF_ERROR_OUT_OF_MEMORY || status == PF_ERROR_TYPE || status == PF_ERROR_UNKNOWN_OPERATOR)
              << status;
          EXPECT_STRNE(pf_last_error(), "");
        }
        const pf_status status = pf_set_num_threads(-1);
        EXPECT_TRUE(status == PF_ERROR_OUT_OF_MEMORY || status == PF_ERROR_VALUE) << status;
        const pf_status named = pf_use_instruction_set("an instruction set that there is not");
        EXPECT_TRUE(named == PF_ERROR_OUT_OF_MEMORY || named == PF_ERROR_VALUE) << named;
      },
      {.kept = 12});
}

TEST(CWithoutMemory, BeforeTheLibraryHasBeenUsed) {
  Problem p;
  // What returns text and numbers says that there is none as long as there is no memory.
  fail_each_first_allocation("names", [&] {
    const std::int32_t count = pf_operator_count();
    EXPECT_TRUE(count == 0 || pf_operator_name(0) != nullptr);
    if (count == 0 || pf_status_name(PF_ERROR_RANK) == nullptr || pf_status_doc(PF_OK) == nullptr ||
        pf_instruction_set_count() == 0 || pf_operator_name(count - 1) == nullptr)
      throw Error({.code = ErrorCode::out_of_memory});
    check(pf_run("unfold", p.attributes, 2, &p.input, 1, &p.output, pf_serial_executor()));
  });
}

}  // namespace
}  // namespace patchfold::faults
