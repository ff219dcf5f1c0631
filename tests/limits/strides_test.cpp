// SPDX-License-Identifier: Apache-2.0
// Tests views with strides and sizes near the limits of arithmetic. A view is refused if arithmetic in 128 bits finds an
// offset beyond the limit, and otherwise planned without data. Tests every operator with numbers near the limits of
// arithmetic: refusals and shapes agree with formulas in 128 bits, in C++ and in C. Planning needs no data and little
// memory.
//   PATCHFOLD_SEED    another seed           PATCHFOLD_CASES   a factor of the number of cases
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "allocations.hpp"
#include "c_call.hpp"
#include "edges.hpp"
#include "patchfold/table.hpp"
#include "tests/operators/facts.hpp"
#include "tests/operators/work.hpp"
#include "tests/random/problem.hpp"

namespace patchfold::limits {
namespace {

using namespace patchfold::testing;

/// Returns whether all offsets in bytes lie between -2^60 and 2^60; true for empty tensors.
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

/// Makes the plan of a case. Returns the code of the error, or nothing if the plan is made.
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
          if (!is_empty(c.output)) continue;  // padding gives elements to write
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

using patchfold::testing::Random;
using patchfold::testing::Subject;
using patchfold::testing::subjects;

constexpr std::size_t most_bytes = std::size_t{16} << 20;

Dims narrow(const std::vector<Wide>& shape) {
  Dims dims;
  for (const Wide extent : shape) dims.push_back(static_cast<std::int64_t>(extent));
  return dims;
}

/// Returns the Error that f throws, or nothing. Any other exception is a failure.
template <class F>
std::optional<Error> error_of(F&& f) {
  try {
    f();
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  }
}

/// Sets one integer (an extent or a number of an argument) in a copy of the problem that slots_of() was given.
using ProblemSlot = std::function<void(ProblemText&, std::int64_t)>;

/// Returns a ProblemSlot for each integer of a problem: the extents of the data, and the numbers of all arguments.
std::vector<ProblemSlot> slots_of(const ProblemText& problem) {
  std::vector<ProblemSlot> slots;
  for (int axis = 0; axis < problem.shape.size(); ++axis)
    slots.push_back([axis](ProblemText& p, std::int64_t value) { p.shape[axis] = value; });
  const OperatorSpec& spec = find_operator(problem.op);
  for (std::size_t a = 0; a < problem.arguments.size(); ++a) {
    const Argument& argument = problem.arguments[a];
    const auto kind = std::ranges::find(spec.arguments, argument.name, &ArgumentSpec::name)->kind;
    if (kind == ArgumentKind::boolean || kind == ArgumentKind::number) continue;
    const auto add = [&](auto set) {
      slots.push_back([a, set](ProblemText& p, std::int64_t value) { set(p.arguments[a].value, value); });
    };
    if (std::holds_alternative<std::int64_t>(argument.value)) add([](ArgumentValue& to, std::int64_t v) { to = v; });
    if (const auto* list = std::get_if<Dims>(&argument.value))
      for (int i = 0; i < list->size(); ++i) add([i](ArgumentValue& to, std::int64_t v) { std::get<Dims>(to)[i] = v; });
    if (const auto* tensor = std::get_if<IndexTensor>(&argument.value))
      for (int i = 0; i < tensor->values.size(); ++i)
        add([i](ArgumentValue& to, std::int64_t v) { std::get<IndexTensor>(to).values[i] = v; });
    if (const auto* pairs = std::get_if<PadsList>(&argument.value))
      for (int i = 0; i < 2 * pairs->size(); ++i)
        add([i](ArgumentValue& to, std::int64_t v) {
          const PadsList before = std::get<PadsList>(to);
          PadsList after;
          for (int axis = 0; axis < before.size(); ++axis)
            after.push_back({2 * axis == i ? v : before[axis].begin, 2 * axis + 1 == i ? v : before[axis].end});
          to = after;
        });
  }
  return slots;
}

class Limits : public ::testing::Test {
 public:
  explicit Limits(const Subject& subject) : subject_(subject) {}

  void TestBody() override {
    const int problems = std::max(1, static_cast<int>(2 * scale_of_run()));
    const int pairs = std::max(1, static_cast<int>(250 * scale_of_run()));
    for (int number = 0; number < problems; ++number) {
      Random random(seed_of_case(seed_of_run(), subject_.op, number));
      const auto types = subject_.sums ? summable_types() : all_types();
      const ProblemText legal = subject_.make(random, {random.pick(types)}).text;
      const std::vector<ProblemSlot> slots = slots_of(legal);
      check(legal);
      for (const ProblemSlot& slot : slots)
        for (const std::int64_t value : edges()) {
          ProblemText problem = legal;
          slot(problem, value);
          check(problem);
        }
      for (int pair = 0; pair < pairs; ++pair) {
        ProblemText problem = legal;
        // Changes two numbers, sometimes three, since products that wrap to small numbers need three factors.
        for (int i = random.chance(30) ? 3 : 2; i > 0; --i) random.pick(slots)(problem, random.pick(edges()));
        check(problem);
      }
      if (HasFailure()) return;
    }
    EXPECT_GT(accepted_, 0);
    EXPECT_GT(refused_, 0);
    EXPECT_GT(overflows_, 0);
    EXPECT_GT(planned_, 0);
  }

 private:
  void check(const ProblemText& problem) {
    SCOPED_TRACE(to_string(problem));
    // For an operator without facts, only C++ and C are compared.
    std::optional<facts::Formula> formula;
    if (facts_ != nullptr) {
      facts::Work work(problem);
      facts_->formula(work);
      formula = work.formula;
    }
    Dims shape;
    reset_allocations();
    const auto error =
        error_of([&] { shape = find_operator(problem.op).bind(problem.arguments).output_shape(problem.shape); });
    const CCall c(problem);
    Dims c_shape;
    const CCall::Outcome c_outcome = c.output_shape(c_shape);
    if (error) {
      ++refused_;
      overflows_ += error->code() == ErrorCode::overflow;
      EXPECT_FALSE(formula && formula->is_legal && formula->fits) << error->what();
      EXPECT_TRUE(!formula || !formula->is_legal || error->code() == ErrorCode::overflow) << error->what();
      expect_complete(*error);
      EXPECT_NE(c_outcome.status, PF_OK);
      EXPECT_EQ(c_outcome.op, problem.op);
      EXPECT_NE(c_outcome.rule, "");
    } else {
      ++accepted_;
      EXPECT_TRUE(!formula || (formula->is_legal && formula->fits)) << to_string(shape);
      if (formula && formula->is_legal && formula->fits) {
        EXPECT_EQ(to_string(shape), to_string(narrow(formula->output)));
      }
      EXPECT_EQ(c_outcome.status, PF_OK) << c_outcome.rule;
      EXPECT_EQ(to_string(c_shape), to_string(shape));
    }
    if (!::testing::Test::HasFailure()) plan(problem, error ? Dims{1, 1, 1} : shape, error.has_value());
    EXPECT_LT(largest_allocation(), most_bytes);
  }

  /// Makes a plan without data, and checks whether it fails as expected.
  void plan(const ProblemText& problem, const Dims& shape, bool must_fail) {
    Plan made;
    const auto error = error_of([&] {
      const auto src =
          find_operator(problem.op).data_input.empty() ? ConstTensorView{} : view<ConstTensorView>(problem, problem.shape);
      made = find_operator(problem.op).bind(problem.arguments).plan(src, view<TensorView>(problem, shape));
    });
    const CCall c(problem);
    const CCall::Outcome c_outcome = c.plan(shape);
    EXPECT_EQ(c_outcome.status == PF_OK, !error) << c_outcome.rule;
    if (error) {
      expect_complete(*error);
      EXPECT_TRUE(must_fail || error->code() == ErrorCode::overflow || error->code() == ErrorCode::limit) << error->what();
      return;
    }
    EXPECT_FALSE(must_fail);
    ++planned_;
    EXPECT_FALSE(made.describe().empty());
    EXPECT_LT(made.scratch_bytes(4), most_bytes);
    const bool is_empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    EXPECT_EQ(made.run(nullptr, nullptr, serial_executor()), is_empty ? Status::ok : Status::null_data);
  }

  template <class View>
  static View view(const ProblemText& problem, const Dims& shape) {
    // Strides are computed modulo 2^64, so the operator must notice a size in bytes that does not fit.
    View made{nullptr, shape, shape, problem.dtype, problem.element_size};
    std::uint64_t stride = problem.element_size;
    for (int axis = shape.size() - 1; axis >= 0; --axis) {
      made.strides[axis] = static_cast<std::int64_t>(stride);
      stride *= static_cast<std::uint64_t>(shape[axis]);
    }
    return made;
  }

  void expect_complete(const Error& error) const {
    EXPECT_EQ(error.op(), subject_.op) << error.what();
    EXPECT_FALSE(error.argument().empty()) << error.what();
    EXPECT_FALSE(error.rule().empty()) << error.what();
  }

  const Subject& subject_;
  const facts::Facts* facts_ = facts::find(subject_.op);
  int accepted_ = 0, refused_ = 0, overflows_ = 0, planned_ = 0;
};

}  // namespace

void register_operators() {
  for (const Subject& subject : subjects()) {
    std::string name(subject.op);
    std::ranges::replace_if(
        name, [](char c) { return c == '.' || c == '-'; }, '_');
    ::testing::RegisterTest("Limits", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [&subject]() -> ::testing::Test* { return new Limits(subject); });
  }
}

}  // namespace patchfold::limits

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  patchfold::limits::register_operators();
  return RUN_ALL_TESTS();
}
