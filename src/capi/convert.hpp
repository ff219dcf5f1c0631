// SPDX-License-Identifier: Apache-2.0
// From the structs of the C interface to the values that the operator table takes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "patchfold/patchfold.h"
#include "patchfold/table.hpp"

namespace patchfold::capi {

/// The description of an operator, as a caller hands it over.
struct Request {
  const char* op;
  const pf_attribute* attributes;
  std::int32_t n_attributes;
  const pf_tensor* inputs;
  std::int32_t n_inputs;
};

/// An operator with its arguments, and the tensor that it reads; nullptr if it has no data input.
struct Call {
  const OperatorSpec& spec;
  BoundOperator bound;
  const pf_tensor* data;
};

/// An operator with its arguments as they were given, and the tensor that it reads; nullptr if it has no data input.
struct Given {
  const OperatorSpec& spec;
  std::vector<Argument> arguments;
  const pf_tensor* data;
};

/// Finds the operator and reads its attributes and shape inputs. `function` stands in messages before there is an operator.
Given read(const Request& request, std::string_view function);
/// Reads them in the same way, and binds them.
Call bind(const Request& request, std::string_view function);

/// Shape alone; rank and extents are checked.
Dims shape_of(const pf_tensor& tensor, std::string_view op, std::string_view argument);
/// The whole tensor; everything but the data pointer is checked.
TensorView view_of(const pf_tensor& tensor, std::string_view op, std::string_view argument);
/// The view of a call's data; an empty view if it has none.
ConstTensorView data_of(const Given& given);

/// An element type from its number; empty if there is none.
std::optional<DType> dtype_of(pf_dtype number) noexcept;
/// Returns the element type of a number; throws Error(dtype) if there is none.
DType dtype_of(pf_dtype number, std::string_view op, std::string_view argument);

/// Writes a list where a caller asks for one: *count is the room that `to` has, then the length of the list. `to` may be
/// NULL.
void give_list(const Dims& list, std::int64_t* to, std::int32_t* count, std::string_view op, std::string_view argument);
/// The text in memory of its own, ended by NUL; pf_text_destroy frees it.
char* copy_of(std::string_view text);

}  // namespace patchfold::capi
