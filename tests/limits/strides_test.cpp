// SPDX-License-Identifier: Apache-2.0
// Tests views whose strides and sizes reach outside of all memory: they are refused if the result in 128 bits says so, otherwise
// planned without data.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "allocations.hpp"
#include "edges.hpp"
#include "patchfold/table.hpp"
#include "tests/random/problem.hpp"

namespace patchfold::limits {
namespace {

using namespace patchfold::testing;

/// Returns whether all offsets in bytes are below 2^60; true for empty tensors.
bool stays_below_limit(const ConstTensorView& view) {
  Wide begin = 0;
  Wide end = static_cast<Wide>(view.element_size);
  for (int axis = 0; axis < view.shape.size(); ++axis) {
    if (view.shape[axis] == 0) return true;
    const Wide reach = Wide{view.strides[axis]} * (view.shape[axis] - 1);
    (reach < 0 ? begin : end) += reach;
  }
  return begin > -limits::size_limit && end < limits::size_limit;
}

bool is_empty(const Dims& shape) {
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

struct Case {
  Case(const Subject& subject, int number) {
    Random random(seed_of_case(seed_of_run(), subject.op, number));
    const auto types = subject.sums ? summable_types() : all_types();
    text = subject.make(random, {random.pick(types)}).text;
    output = bound().output_shape(text.shape);
    has_data = !find_operator(text.op).data_input.empty();
    if (has_data) src = contiguous_opaque(static_cast<const void*>(nullptr), text.shape, text.element_size);
    dst = contiguous_opaque(static_cast<void*>(nullptr), output, text.element_size);
    src.dtype = dst.dtype = text.dtype;
  }
  BoundOperator bound() const { return find_operator(text.op).bind(text.arguments); }

  ProblemText text{};
  Dims output{};
  bool has_data = true;
  ConstTensorView src{};
  TensorView dst{};
};

/// Makes the plan of a case. Returns the error of a call; nothing if the call succeeds.
std::optional<ErrorCode> refusal(const Case& c, Plan* made = nullptr) {
  constexpr std::size_t most_bytes = std::size_t{16} << 20;
  reset_allocations();
  try {
    const Plan plan = c.bound().plan(c.src, c.dst);
    EXPECT_FALSE(plan.describe().empty());
    if (made != nullptr) *made = plan;
    EXPECT_LT(plan.scratch_bytes(4), most_bytes);
    EXPECT_LT(largest_allocation(), most_bytes);
    return std::nullopt;
  } catch (const Error& error) {
    EXPECT_EQ(error.op(), c.text.op) << error.what();
    EXPECT_FALSE(error.argument().empty()) << error.what();
    EXPECT_FALSE(error.rule().empty()) << error.what();
    return error.code();
  }
}

TEST(Strides, OfTheDataAreRefusedWhereTheyLeadOutOfMemory) {
  int refused = 0, planned = 0;
  for (const Subject& subject : subjects()) {
    const Case legal(subject, 0);
    if (!legal.has_data || is_empty(legal.text.shape)) continue;
    for (int axis = 0; axis < legal.text.shape.size(); ++axis) {
      for (const std::int64_t stride : edges()) {
        Case c = legal;
        c.src.strides[axis] = stride;
        SCOPED_TRACE(to_string(c.text) + " strides " + to_string(c.src.strides));
        const auto code = refusal(c);
        (code ? refused : planned) += 1;
        EXPECT_EQ(!code, stays_below_limit(c.src));
        EXPECT_TRUE(!code || *code == ErrorCode::overflow);
      }
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(planned, 1000);
}

TEST(Strides, OfTheOutputAreRefusedWhereTheyLeadOutOfMemoryOrMeet) {
  int refused = 0, planned = 0;
  for (const Subject& subject : subjects()) {
    const Case legal(subject, 0);
    if (is_empty(legal.output)) continue;
    for (int axis = 0; axis < legal.output.size(); ++axis) {
      for (const std::int64_t stride : edges()) {
        Case c = legal;
        c.dst.strides[axis] = stride;
        SCOPED_TRACE(to_string(c.text) + " strides " + to_string(c.dst.strides));
        const auto code = refusal(c);
        (code ? refused : planned) += 1;
        EXPECT_TRUE(!code || *code == ErrorCode::strides || *code == ErrorCode::overflow);
        EXPECT_EQ(code == ErrorCode::overflow, !stays_below_limit(c.dst));
      }
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(planned, 500);
}

/// Tests tensors of few elements that have very many bytes each.
TEST(ElementSizes, AreRefusedWhereTheBytesAreTooMany) {
  int refused = 0, planned = 0;
  for (const Subject& subject : subjects()) {
    if (subject.sums) continue;
    const Case legal(subject, 0);
    for (const std::int64_t size : edges()) {
      Case c = legal;
      c.src.dtype = c.dst.dtype = DType::opaque;
      c.src.element_size = c.dst.element_size = static_cast<std::size_t>(size);
      for (auto* strides : {&c.src.strides, &c.dst.strides})
        for (auto& stride : *strides)
          stride = static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) / c.text.element_size *
                                             static_cast<std::uint64_t>(size));
      SCOPED_TRACE(to_string(c.text) + " elements of " + std::to_string(size) + " bytes");
      std::erase_if(c.text.arguments, [](const Argument& argument) { return argument.name == "value"; });
      const auto code = refusal(c);
      (code ? refused : planned) += 1;
      const bool is_size = size > 0 && size < limits::size_limit;
      EXPECT_TRUE(code || is_size);
      EXPECT_TRUE(!code || *code == (is_size ? ErrorCode::overflow : ErrorCode::dtype));
    }
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(planned, 100);
}

/// Tests tensors with an empty axis and a very long axis: a run does nothing and needs no data.
TEST(EmptyAxes, BesideLongOnesRunOnNothing) {
  int refused = 0, planned = 0;
  for (const Subject& subject : subjects()) {
    const Case legal(subject, 0);
    for (int empty = 0; empty < legal.text.shape.size(); ++empty) {
      for (int other = 0; other < legal.text.shape.size(); ++other) {
        for (const std::int64_t extent : edges()) {
          Case c = legal;
          c.text.shape[other] = extent;
          c.text.shape[empty] = 0;
          SCOPED_TRACE(to_string(c.text));
          try {
            c.output = c.bound().output_shape(c.text.shape);
          } catch (const Error& error) {
            EXPECT_EQ(error.op(), c.text.op) << error.what();
            EXPECT_FALSE(error.rule().empty()) << error.what();
            ++refused;
            continue;
          }
          if (!is_empty(c.output)) continue;  // with padding there are elements to write
          c.src = {nullptr, c.text.shape, Dims::filled(c.text.shape.size(), extent), c.text.dtype, c.text.element_size};
          c.dst = {nullptr, c.output, Dims::filled(c.output.size(), extent), c.text.dtype, c.text.element_size};
          Plan plan;
          EXPECT_EQ(refusal(c, &plan), std::nullopt);
          EXPECT_EQ(plan.run(nullptr, nullptr, serial_executor()), Status::ok);
          ++planned;
        }
      }
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(planned, 1000);
}

/// Tests that an empty list of blocks does not skip the check of the shape.
TEST(EmptyBlocks, OfTensorFlowDoNotHideWrongExtents) {
  for (const std::string_view op : {"tensorflow.SpaceToBatchND", "tensorflow.BatchToSpaceND"}) {
    const std::string pads = op == "tensorflow.SpaceToBatchND" ? "paddings" : "crops";
    const std::vector<Argument> arguments = {{"block_shape", Dims{}}, {pads, PadsList{}}};
    const BoundOperator bound = find_operator(op).bind(arguments);
    EXPECT_TRUE(bound.output_shape({2, 3}) == Dims({2, 3}));
    EXPECT_THROW(bound.output_shape({-2, 3}), Error);
    EXPECT_THROW(bound.output_shape({std::int64_t{1} << 32, std::int64_t{1} << 32}), Error);
  }
}

}  // namespace
}  // namespace patchfold::limits
