// SPDX-License-Identifier: Apache-2.0
#include "capi/convert.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/fail.hpp"
#include "capi/guard.hpp"

namespace patchfold::capi {
namespace {

static_assert(PF_MAX_RANK == max_rank);

/// Calls f, and adds operator and argument to its errors, since errors of src/tensor lack both.
template <class F>
auto naming(std::string_view op, std::string_view argument, F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    Error::Parts parts = error.parts();
    parts.op = op;
    parts.argument = argument;
    throw Error(std::move(parts));
  }
}

template <class T>
std::int64_t integer_at(const void* address, std::string_view op, std::string_view argument) {
  T value;
  std::memcpy(&value, address, sizeof value);
  if (!std::in_range<std::int64_t>(value)) fail(ErrorCode::overflow, op, argument, "entries must fit into 63 bits", value);
  return static_cast<std::int64_t>(value);
}

using ReadInteger = std::int64_t (*)(const void*, std::string_view, std::string_view);

ReadInteger reader_of(DType dtype, std::string_view op, std::string_view argument) {
  return visit(dtype, [&]<class T>(std::type_identity<T>) -> ReadInteger {
    if constexpr (std::integral<T>)
      return integer_at<T>;
    else
      fail(ErrorCode::type, op, argument, "a shape input must hold integers", dtype);
  });
}

/// Returns the entries of a shape input, row-major; reads them through its strides.
IndexTensor index_tensor_of(const pf_tensor& tensor, std::string_view op, std::string_view argument) {
  const TensorView view = view_of(tensor, op, argument);
  const ReadInteger read = reader_of(view.dtype, op, argument);
  const std::int64_t count = element_count(view.shape);
  if (count > max_rank) fail(ErrorCode::limit, op, argument, "a shape input holds too many entries", count, max_rank);
  if (count > 0 && view.data == nullptr) fail(ErrorCode::null_data, op, argument, "a tensor with elements must have data");

  IndexTensor result{.values = {}, .shape = view.shape, .dtype = view.dtype};
  for (std::int64_t entry = 0; entry < count; ++entry) {
    // The caller's strides may be wrong, so addresses are computed as unsigned numbers, whose overflow is defined.
    auto address = reinterpret_cast<std::uintptr_t>(view.data);
    std::int64_t rest = entry;
    for (int axis = view.shape.size() - 1; axis >= 0; --axis) {
      address += static_cast<std::uintptr_t>(rest % view.shape[axis]) * static_cast<std::uintptr_t>(view.strides[axis]);
      rest /= view.shape[axis];
    }
    result.values.push_back(read(reinterpret_cast<const void*>(address), op, argument));
  }
  return result;
}

/// Returns the numbers of a list or of pairs; an entry has `width` numbers.
std::span<const std::int64_t> numbers_of(const pf_attribute& attribute, std::int64_t width, std::string_view op) {
  if (attribute.count < 0) fail(ErrorCode::length, op, attribute.name, "count must be at least 0", attribute.count);
  if (attribute.count > max_rank)
    fail(ErrorCode::limit, op, attribute.name, "the list has too many entries", attribute.count, max_rank);
  if (attribute.count == 0) return {};
  if (attribute.integers == nullptr) fail(ErrorCode::missing, op, attribute.name, "integers must not be NULL");
  return {attribute.integers, static_cast<std::size_t>(attribute.count * width)};
}

ArgumentValue text_value(const pf_attribute& attribute, const OperatorSpec& spec) {
  if (attribute.text == nullptr) fail(ErrorCode::missing, spec.name, attribute.name, "text must not be NULL");
  for (const auto& argument : spec.arguments)
    if (argument.name == attribute.name || argument.old_name == attribute.name)
      return parse_value(spec, argument, attribute.text);
  return std::string(attribute.text);
}

ArgumentValue value_of(const pf_attribute& attribute, const OperatorSpec& spec) {
  switch (attribute.kind) {
    case PF_VALUE_INTEGER: return attribute.integer;
    case PF_VALUE_UNSIGNED:
      if (attribute.integer >= 0) return attribute.integer;
      return Scalar(static_cast<std::uint64_t>(attribute.integer));
    case PF_VALUE_NUMBER: return Scalar(attribute.number);
    case PF_VALUE_COMPLEX: return Scalar(std::complex<double>(attribute.number, attribute.imaginary));
    case PF_VALUE_INTEGERS: return Dims(numbers_of(attribute, 1, spec.name));
    case PF_VALUE_PAIRS: {
      const auto numbers = numbers_of(attribute, 2, spec.name);
      PadsList pairs;
      for (std::size_t i = 0; i < numbers.size(); i += 2) pairs.push_back({numbers[i], numbers[i + 1]});
      return pairs;
    }
    case PF_VALUE_TEXT: return text_value(attribute, spec);
    default: fail(ErrorCode::type, spec.name, attribute.name, "there is no such kind of value", attribute.kind);
  }
}

/// Reads the attributes. The first entry states its size, which is the step from entry to entry of the array.
void read_attributes(const Request& request, const OperatorSpec& spec, std::vector<Argument>& arguments) {
  if (request.n_attributes < 0)
    fail(ErrorCode::length, spec.name, "n_attributes", "must be at least 0", request.n_attributes);
  if (request.n_attributes == 0) return;
  const std::size_t step = required(request.attributes, spec.name, "attributes")->size;
  const auto* bytes = reinterpret_cast<const std::byte*>(request.attributes);
  for (std::int32_t i = 0; i < request.n_attributes; ++i) {
    const std::string place = "attributes[" + std::to_string(i) + "]";
    const auto attribute =
        load<pf_attribute>(bytes + static_cast<std::size_t>(i) * step, sizeof(pf_attribute), spec.name, place);
    if (attribute.size != step)
      fail(ErrorCode::value, spec.name, place, "all attributes of an array must have the same size", attribute.size, step);
    if (attribute.name == nullptr) fail(ErrorCode::missing, spec.name, place, "name must not be NULL");
    arguments.push_back({attribute.name, value_of(attribute, spec)});
  }
}

/// Reads the shape inputs, in the order of the table, and returns the data input.
const pf_tensor* read_inputs(const Request& request, const OperatorSpec& spec, std::vector<Argument>& arguments) {
  const int data_inputs = spec.data_input.empty() ? 0 : 1;
  if (request.n_inputs < data_inputs)
    fail(ErrorCode::missing, spec.name, spec.data_input, "the first input must be given", request.n_inputs, data_inputs);
  if (request.n_inputs > 0) required(request.inputs, spec.name, "inputs");
  std::int32_t next = data_inputs;
  for (const auto& argument : spec.arguments) {
    if (!argument.is_input || next >= request.n_inputs) continue;
    arguments.push_back({std::string(argument.name), index_tensor_of(request.inputs[next++], spec.name, argument.name)});
  }
  if (next < request.n_inputs)
    fail(ErrorCode::length, spec.name, "inputs", "there are more inputs than the operator has", request.n_inputs, next);
  return data_inputs ? request.inputs : nullptr;
}

}  // namespace

std::optional<DType> dtype_of(pf_dtype number) noexcept {
  const auto dtype = static_cast<DType>(number);
  if (static_cast<pf_dtype>(dtype) != number || !is_enumerator(dtype)) return std::nullopt;
  return dtype;
}

DType dtype_of(pf_dtype number, std::string_view op, std::string_view argument) {
  const auto dtype = dtype_of(number);
  if (!dtype) fail(ErrorCode::dtype, op, argument, "there is no such element type", number);
  return *dtype;
}

Dims shape_of(const pf_tensor& tensor, std::string_view op, std::string_view argument) {
  if (tensor.rank < 0 || tensor.rank > max_rank)
    fail(ErrorCode::rank, op, argument, "rank must lie between 0 and " + std::to_string(max_rank), tensor.rank);
  if (tensor.rank == 0) return {};
  if (tensor.shape == nullptr) fail(ErrorCode::missing, op, argument, "shape must not be NULL");
  const Dims shape(std::span(tensor.shape, static_cast<std::size_t>(tensor.rank)));
  naming(op, argument, [&] { return element_count(shape); });
  return shape;
}

TensorView view_of(const pf_tensor& tensor, std::string_view op, std::string_view argument) {
  const Dims shape = shape_of(tensor, op, argument);
  const DType dtype = dtype_of(tensor.dtype, op, argument);
  const std::size_t natural = size_of(dtype);
  const std::size_t size = tensor.element_size == 0 ? natural : tensor.element_size;
  if (size == 0) fail(ErrorCode::dtype, op, argument, "element_size of opaque elements must be at least 1", 0);
  if (dtype != DType::opaque && size != natural)
    fail(ErrorCode::dtype, op, argument, "element_size must be that of " + std::string(name_of(dtype)), size, natural);
  const Dims strides = tensor.stride_bytes != nullptr && tensor.rank > 0
                           ? Dims(std::span(tensor.stride_bytes, static_cast<std::size_t>(tensor.rank)))
                           : naming(op, argument, [&] { return contiguous_strides(shape, size); });
  return {tensor.data, shape, strides, dtype, size};
}

ConstTensorView data_of(const Given& given) {
  return given.data == nullptr ? ConstTensorView{} : view_of(*given.data, given.spec.name, given.spec.data_input);
}

Given read(const Request& request, std::string_view function) {
  Given given{find_operator(required(request.op, function, "op")), {}, nullptr};
  given.arguments.reserve(given.spec.arguments.size());
  read_attributes(request, given.spec, given.arguments);
  given.data = read_inputs(request, given.spec, given.arguments);
  return given;
}

void give_list(const Dims& list, std::int64_t* to, std::int32_t* count, std::string_view op, std::string_view argument) {
  const std::int32_t capacity = *count;
  *count = list.size();
  if (to == nullptr) return;
  if (capacity < list.size()) fail(ErrorCode::length, op, argument, "must have room for every axis", capacity, list.size());
  std::copy(list.begin(), list.end(), to);
}

char* copy_of(std::string_view text) {
  char* copy = new char[text.size() + 1];
  text.copy(copy, text.size());
  copy[text.size()] = '\0';
  return copy;
}

}  // namespace patchfold::capi
