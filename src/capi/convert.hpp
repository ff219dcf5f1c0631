// SPDX-License-Identifier: Apache-2.0
// Turns structs of the C interface into values for the operator table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "patchfold/patchfold.h"
#include "patchfold/table.hpp"

namespace patchfold::capi {

/// A caller's description of an operator: its name, attributes and inputs.
struct Request {
  const char* op;
  const pf_attribute* attributes;
  std::int32_t n_attributes;
  const pf_tensor* inputs;
  std::int32_t n_inputs;
};

/// An operator with its arguments as they were given, and the tensor that it reads; nullptr if it has no data input.
struct Given {
  const OperatorSpec& spec;
  std::vector<Argument> arguments;
  const pf_tensor* data;
};

/// Finds the operator and reads its attributes and shape inputs. Errors name `function` until the operator is known.
Given read(const Request& request, std::string_view function);

/// Checks rank and extents of a tensor, and returns its shape.
Dims shape_of(const pf_tensor& tensor, std::string_view op, std::string_view argument);
/// Returns the view of a tensor; checks everything except the data pointer.
TensorView view_of(const pf_tensor& tensor, std::string_view op, std::string_view argument);
/// Returns the view of a call's data; an empty view if the call has no data.
ConstTensorView data_of(const Given& given);

/// Returns the element type with this number; nothing if there is none.
std::optional<DType> dtype_of(pf_dtype number) noexcept;
/// Returns the element type with this number; throws Error(dtype) if there is none.
DType dtype_of(pf_dtype number, std::string_view op, std::string_view argument);

/// Writes a list to `to`, which may be NULL. *count is the number of entries that fit into `to`, and becomes the length of the
/// list.
void give_list(const Dims& list, std::int64_t* to, std::int32_t* count, std::string_view op, std::string_view argument);
/// Returns a copy of the text, ended by NUL; pf_text_destroy frees it.
char* copy_of(std::string_view text);

}  // namespace patchfold::capi
