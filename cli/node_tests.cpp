// SPDX-License-Identifier: Apache-2.0
#include "cli/node_tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>

#include "cli/convert.hpp"
#include "cli/inputs.hpp"
#include "cli/report.hpp"
#include "formats/node_test.hpp"

namespace patchfold::cli {
namespace {

/// The operator's result in memory of its own.
struct Result {
  TensorView view{};
  std::shared_ptr<std::byte> owner{};
  bool is_sum = false;  ///< the operator adds elements
};

bool adds(const BoundOperator& op, ConstTensorView data, TensorView output) {
  data.dtype = output.dtype = DType::opaque;  // what can be moved only
  try {
    op.plan(data, output);
    return false;
  } catch (const Error&) {
    return true;
  }
}

Result run_data_set(const OperatorSpec& op, const formats::NodeTest& test, const formats::NodeTestDataSet& set) {
  // The reader has checked that the model gives the data and every shape input.
  std::vector<Argument> arguments = test.attributes;
  auto input = set.inputs.begin();
  const ConstTensorView data = (input++)->view;
  for (const auto& argument : op.arguments)
    if (argument.is_input) arguments.push_back({std::string(argument.name), index_tensor(op, argument, *input++)});

  const BoundOperator bound = op.bind(arguments);
  const Dims shape = bound.output_shape(data.shape);
  Result result{{nullptr, shape, contiguous_strides(shape, data.element_size), data.dtype, data.element_size}};
  const Plan plan = bound.plan(data, result.view);
  result.is_sum = adds(bound, data, result.view);
  const std::filesystem::path path = set.name;
  const auto bytes = element_count(shape) * static_cast<std::int64_t>(data.element_size);
  result.owner = formats::allocate(bytes, {"onnx", path});
  result.view.data = result.owner.get();
  throw_if_failed(plan.run(data.data, result.view.data), op.name);
  return result;
}

/// The largest finite magnitude of a tensor.
double largest(const ConstTensorView& view) {
  double value = 0;
  for_each_offset(view.shape, view.strides, [&](std::int64_t offset) {
    const double magnitude = std::fabs(real_value(view.dtype, static_cast<const std::byte*>(view.data) + offset));
    if (std::isfinite(magnitude)) value = std::max(value, magnitude);
  });
  return value;
}

/// How far a sum may lie from the expected one; 0 for all types that are added exactly as the tests' reference does.
double tolerance(const Result& result, const formats::NodeTestDataSet& set) {
  const DType dtype = result.view.dtype;
  if (!result.is_sum || (dtype != DType::float16 && dtype != DType::bfloat16)) return 0;
  const double unit = dtype == DType::float16 ? 0x1p-10 : 0x1p-7;
  return 16 * unit * std::max(largest(set.inputs.front().view), largest(set.expected.view));
}

bool same(DType dtype, std::size_t size, const std::byte* got, const std::byte* expected, double tolerance) {
  if (std::memcmp(got, expected, size) == 0) return true;
  if (dtype == DType::opaque) return false;
  if (dtype == DType::complex64 || dtype == DType::complex128) {
    const DType part = dtype == DType::complex64 ? DType::float32 : DType::float64;
    return same(part, size / 2, got, expected, tolerance) &&
           same(part, size / 2, got + size / 2, expected + size / 2, tolerance);
  }
  const double a = real_value(dtype, got), b = real_value(dtype, expected);
  return (std::isnan(a) && std::isnan(b)) || (tolerance > 0 && std::fabs(a - b) <= tolerance);
}

std::string type_text(const ConstTensorView& view) {
  return fmt::format("{} {}", name_of(view.dtype), shape_text(view.shape));
}

/// What differs first, or nothing.
std::optional<std::string> difference(const Result& result, const formats::NodeTestDataSet& set) {
  const ConstTensorView got = result.view, expected = set.expected.view;
  if (got.dtype != expected.dtype || got.element_size != expected.element_size || got.shape != expected.shape)
    return fmt::format("got {}, expected {}", type_text(got), type_text(expected));
  const double allowed = tolerance(result, set);
  const auto* element = static_cast<const std::byte*>(got.data);
  std::int64_t at = 0;
  std::optional<std::string> found;
  for_each_offset(expected.shape, expected.strides, [&](std::int64_t offset) {
    const auto* other = static_cast<const std::byte*>(expected.data) + offset;
    if (!found && !same(got.dtype, got.element_size, element, other, allowed)) {
      Dims index = Dims::filled(got.shape.size(), 0);
      auto rest = at;
      for (int axis = got.shape.size() - 1; axis >= 0; rest /= got.shape[axis--]) index[axis] = rest % got.shape[axis];
      found = fmt::format("first difference at [{}]", fmt::join(index.begin(), index.end(), ","));
      if (got.dtype != DType::opaque)
        *found += fmt::format(": got {}, expected {}", value_text(got.dtype, element), value_text(got.dtype, other));
    }
    element += got.element_size;
    ++at;
  });
  return found;
}

struct Counts {
  int passed = 0;
  int failed = 0;
};

void run_folder(const std::string& folder, const RunRequest& request, Counts& counts) {
  const formats::NodeTest test = formats::read_node_test(folder);
  const OperatorSpec& op = find_operator(test.op);
  const std::string prefix = request.folders.size() > 1 ? folder + "/" : "";
  for (const auto& set : test.data_sets) {
    std::optional<std::string> wrong;
    std::string type;
    try {
      const Result result = run_data_set(op, test, set);
      wrong = difference(result, set);
      type = " " + type_text(result.view);
    } catch (const Error& error) {
      wrong = error.what();
    }
    ++(wrong ? counts.failed : counts.passed);
    if (wrong || !request.quiet)
      print(fmt::format("{} {}{} {}{}{}{}\n", wrong ? "fail" : "pass", prefix, set.name, test.op, type, wrong ? ": " : "",
                        wrong.value_or("")));
  }
}

}  // namespace

int run_node_tests(const RunRequest& request) {
  Counts counts;
  for (const auto& folder : request.folders) {
    try {
      run_folder(folder, request, counts);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::file_write) throw;  // nobody reads what is printed
      print_error(error);
      ++counts.failed;
    }
  }
  print(fmt::format("{} passed, {} failed\n", counts.passed, counts.failed));
  return counts.failed == 0 ? done : failed;
}

}  // namespace patchfold::cli
