// SPDX-License-Identifier: Apache-2.0
// Tests every function of the C interface with failing allocations.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/instruction_set.hpp"
#include "memory.hpp"
#include "operators.hpp"
#include "patchfold/patchfold.h"

namespace patchfold::faults {
namespace {

/// Throws the Error of a status; for PF_OK, expects that there is no message.
void check(pf_status status) {
  if (status == PF_OK) {
    EXPECT_STREQ(pf_last_error(), "");
    return;
  }
  EXPECT_STRNE(pf_last_error(), "");
  EXPECT_STRNE(pf_last_error_part(PF_PART_RULE), "");
  throw Error({.code = static_cast<ErrorCode>(status - 1)});
}

/// The arguments that unfold an image of 2 x 3 x 64 x 64 through the C interface.
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

TEST(CWithoutMemory, GivesAStatusAndAMessage) {
  Problem p;
  const Expectation kept{.kept = 12};  // the thread keeps its last error, with its values and texts, and its last plan
  fail_each_allocation(
      "pf_run",
      [&] {
        engine::forget_plans();
        check(pf_run("unfold", p.attributes, 2, &p.input, 1, &p.output, nullptr));
      },
      kept);
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
      "pf_output_shape of tensors",
      [&] {
        std::int64_t extents[] = {4, 4}, taps[] = {2, 2}, shape[PF_MAX_RANK];
        const std::int64_t columns[] = {1, 4, 9}, two[] = {2};
        const pf_tensor inputs[] = {{nullptr, columns, nullptr, 3, PF_DTYPE_FLOAT32, 0},
                                    {extents, two, nullptr, 1, PF_DTYPE_INT64, 0},
                                    {taps, two, nullptr, 1, PF_DTYPE_INT64, 0}};
        std::int32_t rank = PF_MAX_RANK;
        check(pf_output_shape("onnx.Col2Im", nullptr, 0, inputs, 3, shape, &rank));
      },
      kept);
  fail_each_allocation(
      "pf_plan_create",
      [&] {
        engine::forget_plans();
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

/// A tiling of 16 elements into three tiles of 8 with a stride of 4.
struct Tiles {
  Tiles() {
    spec.stride = stride;
    spec.n_stride = 1;
  }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
  ~Tiles() {
    pf_merger_destroy(merger);
    pf_tiling_destroy(tiling);
  }
  void add(std::int64_t index) {
    const pf_tensor tile = {elements.data(), tile_shape, nullptr, 1, PF_DTYPE_FLOAT32, 0};
    const pf_tile_options options = {sizeof options, 0, nullptr, nullptr, [](void* count) { ++*static_cast<int*>(count); },
                                     &released};
    check(pf_merger_add(merger, index, &tile, &options));
    ++added;
  }
  const std::int64_t shape[1] = {16}, tile_shape[1] = {8}, stride[1] = {4};
  pf_tiling_spec spec = pf_tiling_spec_of(shape, 1, tile_shape, 1);
  pf_merge_spec merge = pf_merge_spec_of(PF_DTYPE_FLOAT32, nullptr, 0);
  std::vector<float> elements = std::vector<float>(16, 1), result = std::vector<float>(16);
  pf_tensor array = {elements.data(), shape, nullptr, 1, PF_DTYPE_FLOAT32, 0};
  pf_tensor output = {result.data(), shape, nullptr, 1, PF_DTYPE_FLOAT32, 0};
  pf_tiling* tiling = nullptr;
  pf_merger* merger = nullptr;
  int added = 0, released = 0;
};

TEST(CWithoutMemory, OfTilesAndTextsGivesAStatus) {
  const Expectation kept{.kept = 12};
  Tiles made;
  check(pf_tiling_create(&made.spec, &made.tiling));
  fail_each_allocation(
      "pf_tiling_create",
      [&] {
        Tiles own;
        const pf_status status = pf_tiling_create(&own.spec, &own.tiling);
        EXPECT_EQ(own.tiling == nullptr, status != PF_OK);
        check(status);
      },
      kept);
  fail_each_allocation(
      "pf_tiling_cut",
      [&] {
        const pf_tensor tile = {made.result.data(), made.tile_shape, nullptr, 1, PF_DTYPE_FLOAT32, 0};
        check(pf_tiling_cut(made.tiling, 1, &made.array, &tile, nullptr));
      },
      kept);
  for (const bool with_tiles : {false, true})
    fail_each_allocation(
        "pf_tiling_json",
        [&] {
          char* text = nullptr;
          const pf_status status = pf_tiling_json(made.tiling, with_tiles, &text);
          EXPECT_EQ(text == nullptr, status != PF_OK);
          pf_text_destroy(text);
          check(status);
        },
        kept);
  Problem p;
  fail_each_allocation(
      "pf_explain",
      [&] {
        const std::int64_t shape[] = {1, 1, 3, 3};
        const pf_tensor image = {nullptr, shape, nullptr, 4, PF_DTYPE_FLOAT32, 0};
        char* text = nullptr;
        const pf_status status = pf_explain("unfold", p.attributes, 2, &image, 1, nullptr, &text);
        EXPECT_EQ(text == nullptr, status != PF_OK);
        pf_text_destroy(text);
        check(status);
      },
      kept);
  for (const int copy : {0, 1})
    fail_each_allocation(
        "pf_merger",
        [&] {
          Tiles own;
          own.merge.copy = copy;
          pf_merge_bytes bytes{};
          bytes.size = sizeof bytes;
          check(pf_merge_memory(made.tiling, &own.merge, 0, &bytes));
          const pf_status status = pf_merger_create(made.tiling, &own.merge, &own.output, nullptr, &own.merger);
          EXPECT_EQ(own.merger == nullptr, status != PF_OK);
          check(status);
          const auto end = [&] {
            pf_merger_destroy(own.merger);
            own.merger = nullptr;
            EXPECT_EQ(own.released, own.added);
          };
          try {
            for (const std::int64_t index : {0, 2, 1}) own.add(index);
            check(pf_merger_finish(own.merger));
          } catch (...) {
            end();
            throw;
          }
          end();
          EXPECT_EQ(own.result, std::vector<float>(16, 1));
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
  // Functions that return text or numbers return null or 0 while memory is missing.
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
