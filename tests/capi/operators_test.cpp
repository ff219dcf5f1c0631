// SPDX-License-Identifier: Apache-2.0
// Compares pf_run with the C++ interface for every operator of the table.
#include <array>
#include <cfenv>
#include <cstdlib>
#include <cstring>
#include <map>

#include "capi.hpp"
#include "patchfold/table.hpp"

namespace patchfold::test {
namespace {

/// The example of an operator: the shape of its data, and its arguments as text.
struct Sample {
  std::vector<std::int64_t> data;
  std::map<std::string, std::string> arguments;
};

Sample sample_of(const OperatorSpec& spec) {
  const ProblemText example = parse_problem(std::string(spec.name) + " " + std::string(spec.example));
  Sample sample{{example.shape.begin(), example.shape.end()}, {}};
  for (const Argument& argument : example.arguments) sample.arguments[argument.name] = to_string(argument.value);
  return sample;
}

/// A sample, and all memory that the C interface reads.
struct Problem {
  const OperatorSpec& spec;
  Sample sample;
  Tensor<std::int32_t> data;
  std::vector<pf_attribute> attributes;
  std::vector<Tensor<std::int64_t>> lists;
  std::vector<pf_tensor> inputs;
  std::vector<Argument> arguments;  ///< the arguments for C++

  /// Makes the problem. With `as_inputs`, shape inputs are passed as tensors, otherwise as attributes with text.
  Problem(const OperatorSpec& op, const Sample& chosen, bool as_inputs) : spec(op), sample(chosen), data(chosen.data) {
    data.count_up();
    lists.reserve(spec.arguments.size());
    if (!spec.data_input.empty()) inputs.push_back(data.view());
    for (const auto& argument : spec.arguments) {
      const auto found = sample.arguments.find(std::string(argument.name));
      if (found == sample.arguments.end()) continue;
      const auto value = parse_value(spec, argument, found->second);
      arguments.push_back({found->first, value});
      if (argument.is_input && as_inputs) {
        add_input(value);
      } else {
        attributes.push_back(pf_text(found->first.c_str(), found->second.c_str()));
      }
    }
  }

  void add_input(const ArgumentValue& value) {
    if (const auto* dims = std::get_if<Dims>(&value)) {
      lists.push_back(list(std::vector<std::int64_t>(dims->begin(), dims->end())));
    } else {
      const auto& pairs = std::get<PadsList>(value);
      auto& tensor = lists.emplace_back(std::vector<std::int64_t>{pairs.size(), 2});
      for (int i = 0; i < pairs.size(); ++i) {
        tensor.values[static_cast<std::size_t>(2 * i)] = pairs[i].begin;
        tensor.values[static_cast<std::size_t>(2 * i + 1)] = pairs[i].end;
      }
    }
    inputs.push_back(lists.back().view());
  }
  std::int32_t n_attributes() const { return static_cast<std::int32_t>(attributes.size()); }
  std::int32_t n_inputs() const { return static_cast<std::int32_t>(inputs.size()); }
};

TEST(Fold, AveragesAndFills) {
  Tensor<std::uint8_t> columns({1, 2, 2}, {250, 254, 255, 10});
  const std::int64_t size[] = {4}, kernel[] = {2};
  const std::vector<pf_attribute> attributes = {pf_integers("output_size", size, 1), pf_integers("kernel_size", kernel, 1),
                                                pf_integer("dilation", 1),           pf_text("padding", "0:-1"),
                                                pf_text("reduce", "mean"),           pf_integer("fill", 9)};
  Tensor<std::uint8_t> image({1, 1, 4});
  const pf_tensor input = columns.view(), output = image.view();
  const auto count = static_cast<std::int32_t>(attributes.size());
  ASSERT_OK(pf_run("fold", attributes.data(), count, &input, 1, &output, nullptr));
  EXPECT_EQ(image.values, (std::vector<std::uint8_t>{250, 254, 10, 9}));  // 254 = (255 + 254) / 2, rounded to even
}

TEST(EveryOperator, IsNamedInItsErrors) {
  for (const auto& spec : operators()) {
    const std::string name(spec.name);
    Problem problem(spec, sample_of(spec), false);
    const Dims right = spec.bind(problem.arguments).output_shape(Dims(std::span(problem.sample.data)));
    std::vector<std::int64_t> wrong{1};
    wrong.insert(wrong.end(), right.begin(), right.end());
    Tensor<std::int32_t> result(wrong);
    const pf_tensor output = result.view();
    EXPECT_NE(pf_run(name.c_str(), problem.attributes.data(), problem.n_attributes(), problem.inputs.data(),
                     problem.n_inputs(), &output, nullptr),
              PF_OK);
    EXPECT_EQ(pf_last_error_part(PF_PART_OPERATOR), name) << pf_last_error();
    pf_plan* plan = nullptr;
    EXPECT_NE(pf_plan_create(name.c_str(), problem.attributes.data(), problem.n_attributes(), problem.inputs.data(),
                             problem.n_inputs(), &output, &plan),
              PF_OK);
    EXPECT_EQ(pf_last_error_part(PF_PART_OPERATOR), name) << pf_last_error();
  }
}

TEST(EveryOperator, GivesWhatTheCppInterfaceGives) {
  for (const auto& spec : operators()) {
    const std::string name(spec.name);
    for (const bool as_inputs : {true, false}) {
      SCOPED_TRACE(name + (as_inputs ? ", shape inputs" : ", attributes only"));
      Problem problem(spec, sample_of(spec), as_inputs);
      const auto bound = spec.bind(problem.arguments);
      const Dims expected_shape = bound.output_shape(Dims(std::span(problem.sample.data)));

      std::int64_t shape[PF_MAX_RANK];
      std::int32_t rank = PF_MAX_RANK;
      ASSERT_OK(pf_output_shape(name.c_str(), problem.attributes.data(), problem.n_attributes(), problem.inputs.data(),
                                problem.n_inputs(), shape, &rank));
      ASSERT_EQ(to_string(Dims(std::span(shape, static_cast<std::size_t>(rank)))), to_string(expected_shape));

      Tensor<std::int32_t> expected({shape, shape + rank}), result({shape, shape + rank}), planned({shape, shape + rank});
      const auto source =
          view(static_cast<const std::int32_t*>(problem.data.values.data()), Dims(std::span(problem.sample.data)));
      const auto plan = bound.plan(source, view(expected.values.data(), expected_shape));
      ASSERT_EQ(plan.run(source.data, expected.values.data()), Status::ok);

      const pf_tensor output = result.view();
      ASSERT_OK(pf_run(name.c_str(), problem.attributes.data(), problem.n_attributes(), problem.inputs.data(),
                       problem.n_inputs(), &output, nullptr));
      EXPECT_EQ(result.values, expected.values);
      EXPECT_NE(result.values, planned.values) << "nothing but zeros";

      for (auto& input : problem.inputs)
        input.data = &input == problem.inputs.data() && !spec.data_input.empty() ? nullptr : input.data;
      pf_tensor target = output;
      target.data = nullptr;
      pf_plan* made = nullptr;
      ASSERT_OK(pf_plan_create(name.c_str(), problem.attributes.data(), problem.n_attributes(), problem.inputs.data(),
                               problem.n_inputs(), &target, &made));
      EXPECT_OK(pf_plan_run(made, problem.data.values.data(), planned.values.data(), nullptr, 0, nullptr));
      pf_plan_destroy(made);
      EXPECT_EQ(planned.values, expected.values);
    }
  }
}

TEST(Fill, HasTheSameBytesInEveryRoundingMode) {
  const std::int64_t one = 1, shape[] = {1, 1, 1}, padded[] = {1, 1, 3};
  for (const char* type : {"float16", "float32", "float64", "float8_e4m3fn"})
    for (const char* text : {"0.1", "-0.3", "0.0123", "447.9"}) {
      pf_dtype dtype = -1;
      ASSERT_OK(pf_dtype_from_name(type, &dtype));
      const std::uint64_t zero = 0;
      const auto filled = [&](int mode, const pf_attribute& value) {
        const pf_tensor input = {const_cast<std::uint64_t*>(&zero), shape, nullptr, 3, dtype, 0};
        std::array<std::byte, 24> bytes{};
        const pf_tensor output = {bytes.data(), padded, nullptr, 3, dtype, 0};
        const pf_attribute attributes[] = {pf_integers("kernel_size", &one, 1), pf_integer("padding", 1), value};
        std::fesetround(mode);
        const pf_status status = pf_run("unfold", attributes, 3, &input, 1, &output, nullptr);
        std::fesetround(FE_TONEAREST);
        EXPECT_OK(status);
        return bytes;
      };
      const auto expected = filled(FE_TONEAREST, pf_number("value", std::strtod(text, nullptr)));
      EXPECT_NE(expected, (std::array<std::byte, 24>{}));
      for (const int mode : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        EXPECT_EQ(filled(mode, pf_number("value", std::strtod(text, nullptr))), expected) << type << ' ' << text;
        EXPECT_EQ(filled(mode, pf_text("value", text)), expected) << type << " text " << text;
      }
    }
}

TEST(EveryOperator, TakesElementsOfEveryTypeThatItCanMove) {
  for (const auto& spec : operators()) {
    for (pf_dtype dtype = 0; dtype <= PF_DTYPE_OPAQUE; ++dtype) {
      Problem problem(spec, sample_of(spec), true);
      const std::uint32_t size = dtype == PF_DTYPE_OPAQUE ? 5 : pf_dtype_size(dtype);
      std::int64_t shape[PF_MAX_RANK];
      std::int32_t rank = PF_MAX_RANK;
      ASSERT_OK(pf_output_shape(spec.name.data(), problem.attributes.data(), problem.n_attributes(), problem.inputs.data(),
                                problem.n_inputs(), shape, &rank));
      std::vector<char> from(problem.data.count() * size, 1), to(4096 * size);
      if (!spec.data_input.empty()) {
        problem.inputs[0].data = from.data();
        problem.inputs[0].dtype = dtype;
        problem.inputs[0].element_size = size;
      }
      std::erase_if(problem.attributes, [](const auto& attribute) { return std::strcmp(attribute.name, "value") == 0; });
      const pf_tensor output = {to.data(), shape, nullptr, rank, dtype, size};
      const auto status = pf_run(spec.name.data(), problem.attributes.data(), problem.n_attributes(), problem.inputs.data(),
                                 problem.n_inputs(), &output, nullptr);
      EXPECT_TRUE(status == PF_OK || (status == PF_ERROR_DTYPE && !pf_dtype_is_summable(dtype)))
          << spec.name << " " << pf_dtype_name(dtype) << " " << pf_last_error();
    }
  }
}

/// Calls pf_output_shape() and, if it succeeds, pf_plan_create(). Every status must have a name, and every error a message
/// that names the operator.
void survive(Problem& problem) {
  const char* name = problem.spec.name.data();
  const auto understood = [&](pf_status status) {
    ASSERT_NE(pf_status_name(status), nullptr);
    EXPECT_NE(status, PF_ERROR_INTERNAL) << name << " " << pf_last_error();
    EXPECT_EQ(status == PF_OK, std::string(pf_last_error()).empty());
    if (status != PF_OK) {
      EXPECT_STREQ(pf_last_error_part(PF_PART_OPERATOR), name) << pf_last_error();
    }
  };
  std::int64_t shape[PF_MAX_RANK];
  std::int32_t rank = PF_MAX_RANK;
  const auto status = pf_output_shape(name, problem.attributes.data(), problem.n_attributes(), problem.inputs.data(),
                                      problem.n_inputs(), shape, &rank);
  understood(status);
  if (status != PF_OK) return;
  const pf_tensor output = {nullptr, shape, nullptr, rank, PF_DTYPE_INT32, 0};
  pf_plan* plan = nullptr;
  const auto planned = pf_plan_create(name, problem.attributes.data(), problem.n_attributes(), problem.inputs.data(),
                                      problem.n_inputs(), &output, &plan);
  understood(planned);
  EXPECT_EQ(planned == PF_OK, plan != nullptr);
  if (planned == PF_OK) {
    std::size_t bytes = 0;
    EXPECT_OK(pf_plan_describe(plan, nullptr, 0, nullptr));
    for (const std::int32_t threads : {1, 64, INT32_MAX}) EXPECT_OK(pf_plan_scratch_bytes(plan, threads, &bytes));
  }
  pf_plan_destroy(plan);
}

TEST(EveryOperator, SurvivesWrongValuesOfEveryArgument) {
  const std::int64_t numbers[74] = {INT64_MIN, -1, 0, 1, INT64_MAX, INT64_MAX / 2, std::int64_t{1} << 40};
  for (const auto& spec : operators()) {
    for (const auto& argument : spec.arguments) {
      const std::string name(argument.name);
      std::vector<pf_attribute> wrong;
      for (const auto number : {INT64_MIN, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1} << 40, INT64_MAX})
        wrong.push_back(pf_integer(name.c_str(), number));
      for (int first = 0; first < 8; ++first) {
        for (const int count : {0, 1, 2, 3, 4, 8, 32, 33}) {
          wrong.push_back(pf_integers(name.c_str(), numbers + first, count));
          wrong.push_back(pf_pairs(name.c_str(), numbers + first, count));
        }
      }
      for (const char* text :
           {"", "x", "1,", ",", "1:2", "1:2,3", "99999999999999999999", "-1", "nan", "true", "valid", "\xff"})
        wrong.push_back(pf_text(name.c_str(), text));
      wrong.push_back(pf_number(name.c_str(), 1.5));
      wrong.push_back(pf_number(name.c_str(), -1e308));
      wrong.push_back(pf_attribute_of_kind(name.c_str(), PF_VALUE_COMPLEX));
      wrong.push_back(pf_attribute_of_kind(name.c_str(), PF_VALUE_UNSIGNED));
      for (const auto& attribute : wrong) {
        Problem problem(spec, sample_of(spec), false);
        std::erase_if(problem.attributes, [&](const auto& other) { return name == other.name; });
        problem.attributes.push_back(attribute);
        survive(problem);
      }
    }
  }
}

TEST(EveryOperator, SurvivesDataOfEveryRankAndExtent) {
  for (const auto& spec : operators()) {
    if (spec.data_input.empty()) continue;
    for (const std::int64_t extent :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{12}, std::int64_t{1} << 20, INT64_MAX}) {
      for (std::int32_t rank = 0; rank <= PF_MAX_RANK; ++rank) {
        Problem problem(spec, sample_of(spec), true);
        const std::vector<std::int64_t> shape(static_cast<std::size_t>(rank), extent);
        problem.inputs[0].shape = shape.data();
        problem.inputs[0].rank = rank;
        survive(problem);
      }
    }
    for (std::size_t axis = 0; axis < sample_of(spec).data.size(); ++axis) {
      for (const std::int64_t extent : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1} << 40, INT64_MAX, INT64_MIN}) {
        Problem problem(spec, sample_of(spec), true);
        auto shape = problem.data.shape;
        shape[axis] = extent;
        problem.inputs[0].shape = shape.data();
        survive(problem);
      }
    }
  }
}

TEST(EveryOperator, RefusesATooShortListOfInputs) {
  for (const auto& spec : operators()) {
    Problem problem(spec, sample_of(spec), true);
    for (std::int32_t n = 0; n < problem.n_inputs(); ++n) {
      std::int32_t rank = 0;
      EXPECT_EQ(pf_output_shape(spec.name.data(), problem.attributes.data(), problem.n_attributes(), problem.inputs.data(),
                                n, nullptr, &rank),
                PF_ERROR_MISSING)
          << spec.name << " " << n << " " << pf_last_error();
    }
    problem.inputs.resize(problem.inputs.size() + 5, problem.data.view());
    std::int32_t rank = 0;
    EXPECT_EQ(pf_output_shape(spec.name.data(), problem.attributes.data(), problem.n_attributes(), problem.inputs.data(),
                              problem.n_inputs(), nullptr, &rank),
              PF_ERROR_LENGTH)
        << spec.name << " " << pf_last_error();
  }
}

}  // namespace
}  // namespace patchfold::test
