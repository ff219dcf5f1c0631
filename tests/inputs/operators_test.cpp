// SPDX-License-Identifier: Apache-2.0
// Tests every operator with every wrong input, in C++ and through the C interface.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "patchfold/plan.hpp"
#include "refusal.hpp"
#include "tests/limits/c_call.hpp"
#include "wrong_problems.hpp"

namespace patchfold::inputs {
namespace {

std::vector<std::string_view> names_of_codes(const std::vector<ErrorCode>& codes) {
  std::vector<std::string_view> names;
  for (const ErrorCode code : codes) names.push_back(std::ranges::find(error_catalogue(), code, &ErrorEntry::code)->name);
  return names;
}

void expect_named(const Error& error, std::string_view op, std::string_view argument) {
  const std::string message = error.what();
  EXPECT_NE(message.find(op), std::string::npos) << message;
  EXPECT_NE(message.find(argument), std::string::npos) << message;
  EXPECT_FALSE(error.rule().empty()) << message;
}

/// Memory for the tensors of any valid problem.
alignas(64) std::array<std::byte, 1 << 16> source_memory;
alignas(64) std::array<std::byte, 1 << 16> destination_memory;

/// The valid problem of an operator, with its tensors.
struct Call {
  explicit Call(const OperatorSpec& op)
      : problem(right_problem(op)), spec(op), bound(spec.bind(problem.arguments)), has_data(!spec.data_input.empty()) {
    retype(problem.dtype, problem.element_size);
  }
  void retype(DType dtype, std::size_t element_size) {
    if (dtype == DType::opaque) {  // opaque elements are no numbers, so the only fill value is zero
      std::erase_if(problem.arguments, [](const Argument& each) { return std::holds_alternative<Scalar>(each.value); });
      bound = spec.bind(problem.arguments);
    }
    if (has_data) src = contiguous_opaque(source_memory.data(), problem.shape, element_size);
    dst = contiguous_opaque(destination_memory.data(), bound.output_shape(problem.shape), element_size);
    src.dtype = dst.dtype = dtype;
  }
  void run() const { throw_if_failed(bound.plan(src, dst).run(src.data, dst.data, serial_executor()), spec.name, spec.output); }

  ProblemText problem;
  const OperatorSpec& spec;
  BoundOperator bound;
  bool has_data;
  TensorView src{};
  TensorView dst{};
};

/// Tests that facts belong to existing operators, and that all operators of a dialect have facts if one of them has.
TEST(Facts, OfADialectAreThoseOfAllItsOperators) {
  std::set<std::string_view> dialects = {"neutral"};
  for (const std::string_view op : facts::known()) {
    EXPECT_EQ(find_operator(op).name, op);
    dialects.insert(find_operator(op).dialect);
  }
  for (const OperatorSpec& op : operators())
    EXPECT_TRUE(facts::find(op.name) != nullptr || !dialects.contains(op.dialect)) << op.name;
}

void expect_refused(const OperatorSpec& op, const Wrong& wrong) {
  SCOPED_TRACE(wrong.what + ": " + to_string(wrong.problem));
  const auto error = refusal([&] { op.bind(wrong.problem.arguments).output_shape(wrong.problem.shape); });
  if (!error) {
    ADD_FAILURE() << "nothing refused";
    return;
  }
  EXPECT_TRUE(holds(wrong.codes, error->code())) << error->what();
  EXPECT_EQ(error->op(), op.name) << error->what();
  const auto is_named = [&](const std::string& name) { return error->argument().find(name) != std::string::npos; };
  EXPECT_TRUE(std::ranges::any_of(wrong.arguments, is_named)) << error->what();
  expect_named(*error, op.name, error->argument());
  // The C interface has one form for lists and for tensors, so a call in C cannot make this mistake.
  if (wrong.what.ends_with("is a tensor") || wrong.what.ends_with("of floats")) return;
  Dims shape;
  const limits::CCall::Outcome c = limits::CCall(wrong.problem).output_shape(shape);
  EXPECT_TRUE(holds(names_of_codes(wrong.codes), std::string_view(pf_status_name(c.status)))) << c.rule;
  EXPECT_EQ(c.op, op.name);
  EXPECT_NE(c.rule, "");
}

TEST(WrongProblems, OfEveryOperatorAreRefused) {
  for (const OperatorSpec& op : operators())
    for (const Wrong& wrong : wrong_problems(op, facts::find(op.name))) expect_refused(op, wrong);
}

/// Tests every operator as if it had no facts, with the mistakes that its row of the table implies.
TEST(WrongProblems, OfOperatorsWithoutFactsAreRefused) {
  for (const OperatorSpec& op : operators())
    for (const Wrong& wrong : wrong_problems(op, nullptr)) expect_refused(op, wrong);
}

TEST(WrongProblems, OfNoOperatorAreRefused) {
  for (const OperatorSpec& op : operators()) {
    const std::string right(op.name);
    for (const std::string& name : {right + "x", "x" + right, right + "-99"}) {
      const auto error = refusal([&] { find_operator(name); });
      ASSERT_TRUE(error) << name;
      EXPECT_EQ(error->code(), ErrorCode::unknown_operator);
      EXPECT_EQ(error->given(), name);
      EXPECT_TRUE(error->hint().starts_with("did you mean ")) << error->what();
      EXPECT_EQ(refusal([&] { parse_problem(name + " f32 1x1"); })->code(), ErrorCode::unknown_operator);
    }
  }
}

/// A mistake in the tensors of a valid call.
struct WrongTensor {
  std::string_view what;
  ErrorCode code;
  enum class Named { src, dst, any } named;
  bool needs_data;  ///< true if the mistake needs a data input
  void (*change)(Call&);
};

using Named = WrongTensor::Named;

constexpr WrongTensor wrong_tensors[] = {
    {"destination with an axis more", ErrorCode::shape, Named::dst, false,
     [](Call& c) {
       c.dst.shape.push_back(1);
       c.dst.strides.push_back(4);
     }},
    {"destination with an axis less", ErrorCode::shape, Named::dst, false,
     [](Call& c) {
       c.dst.shape = c.dst.shape.slice(1, c.dst.shape.size());
       c.dst.strides = c.dst.strides.slice(1, c.dst.strides.size());
     }},
    {"destination one longer", ErrorCode::shape, Named::dst, false, [](Call& c) { ++c.dst.shape.back(); }},
    {"destination one shorter", ErrorCode::shape, Named::dst, false, [](Call& c) { --c.dst.shape[0]; }},
    {"destination of another type", ErrorCode::dtype, Named::dst, true, [](Call& c) { c.dst.dtype = DType::int32; }},
    {"destination of another size", ErrorCode::dtype, Named::dst, true,
     [](Call& c) {
       c.dst.dtype = DType::opaque;
       c.dst.element_size = 3;
     }},
    {"source whose size is not its type's", ErrorCode::dtype, Named::src, true, [](Call& c) { c.src.element_size = 8; }},
    {"source of no type", ErrorCode::dtype, Named::src, true, [](Call& c) { c.src.dtype = static_cast<DType>(77); }},
    {"source without strides", ErrorCode::strides, Named::src, true, [](Call& c) { c.src.strides = {}; }},
    {"destination without strides", ErrorCode::strides, Named::dst, false, [](Call& c) { c.dst.strides = {}; }},
    {"destination with a stride of 0", ErrorCode::strides, Named::dst, false,
     [](Call& c) {
       for (int axis = 0; axis < c.dst.shape.size(); ++axis)
         if (c.dst.shape[axis] > 1) c.dst.strides[axis] = 0;
     }},
    {"destination whose elements overlap", ErrorCode::strides, Named::dst, false,
     [](Call& c) {
       for (int axis = 0; axis < c.dst.shape.size(); ++axis)
         if (c.dst.shape[axis] > 1) c.dst.strides[axis] = 1;
     }},
    {"source and destination in one place", ErrorCode::overlap, Named::dst, true, [](Call& c) { c.dst.data = c.src.data; }},
    {"destination within the source", ErrorCode::overlap, Named::dst, true,
     [](Call& c) { c.dst.data = static_cast<std::byte*>(c.src.data) + 3; }},
    {"no source", ErrorCode::null_data, Named::any, true, [](Call& c) { c.src.data = nullptr; }},
    {"no destination", ErrorCode::null_data, Named::any, false, [](Call& c) { c.dst.data = nullptr; }},
};

TEST(WrongTensors, OfEveryOperatorAreRefused) {
  for (const OperatorSpec& op : operators()) {
    EXPECT_EQ(refusal([&] { Call(op).run(); }), std::nullopt) << op.name;
    for (const WrongTensor& wrong : wrong_tensors) {
      Call call(op);
      if (wrong.needs_data && !call.has_data) continue;
      SCOPED_TRACE(std::string(op.name) + ": " + std::string(wrong.what));
      wrong.change(call);
      destination_memory.fill(std::byte{0x5A});
      const auto error = refusal([&] { call.run(); });
      if (!error) {
        ADD_FAILURE() << "nothing refused";
        continue;
      }
      EXPECT_EQ(error->code(), wrong.code) << error->what();
      EXPECT_EQ(error->op(), call.spec.name) << error->what();
      EXPECT_FALSE(error->argument().empty()) << error->what();
      expect_named(*error, call.spec.name, error->argument());
      if (wrong.named != Named::any) {
        EXPECT_EQ(error->argument() == call.spec.data_input, wrong.named == Named::src) << error->what();
      }
      EXPECT_TRUE(std::ranges::all_of(destination_memory, [](std::byte b) { return b == std::byte{0x5A}; }));
    }
  }
}

TEST(WrongTypes, OfSumsAreRefusedAndOtherOperatorsMoveThem) {
  const std::pair<DType, std::size_t> types[] = {{DType::float8_e4m3fn, 1},
                                                 {DType::float8_e4m3fnuz, 1},
                                                 {DType::float8_e5m2, 1},
                                                 {DType::float8_e5m2fnuz, 1},
                                                 {DType::opaque, 3}};
  for (const OperatorSpec& op : operators()) {
    for (const auto& [dtype, size] : types) {
      Call call(op);
      SCOPED_TRACE(std::string(op.name) + " of " + std::string(name_of(dtype)));
      call.retype(dtype, size);
      const auto error = refusal([&] { call.run(); });
      EXPECT_EQ(error.has_value(), call.spec.sums);
      if (!error) continue;
      EXPECT_EQ(error->code(), ErrorCode::dtype);
      EXPECT_EQ(error->op(), call.spec.name);
      expect_named(*error, call.spec.name, error->argument());
    }
  }
}

}  // namespace
}  // namespace patchfold::inputs
