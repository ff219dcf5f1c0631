// SPDX-License-Identifier: Apache-2.0
#include "c_call.hpp"

#include <algorithm>

namespace patchfold::limits {

CCall::CCall(const ProblemText& problem) : problem_(problem), has_data_(!find_operator(problem.op).data_input.empty()) {
  const OperatorSpec& spec = find_operator(problem.op);
  numbers_.reserve(problem.arguments.size());
  // Shape inputs are passed as tensors only if all of them are tensors, since the C interface identifies inputs by their
  // places.
  const auto is_tensor = [&](const ArgumentSpec& input) {
    const auto found = std::ranges::find(problem.arguments, input.name, &Argument::name);
    return !input.is_input || (found != problem.arguments.end() && std::holds_alternative<IndexTensor>(found->value));
  };
  const bool as_inputs = std::ranges::all_of(spec.arguments, is_tensor);
  for (const ArgumentSpec& input : spec.arguments)
    if (as_inputs && input.is_input)
      tensors_.push_back(&std::get<IndexTensor>(std::ranges::find(problem.arguments, input.name, &Argument::name)->value));
  for (const Argument& argument : problem.arguments) {
    const char* name = argument.name.c_str();
    const auto list = [&](const Dims& values) -> const std::vector<std::int64_t>& {
      return numbers_.emplace_back(values.begin(), values.end());
    };
    if (const auto* number = std::get_if<std::int64_t>(&argument.value)) {
      attributes_.push_back(pf_integer(name, *number));
    } else if (const auto* word = std::get_if<std::string>(&argument.value)) {
      attributes_.push_back(pf_text(name, word->c_str()));
    } else if (const auto* dims = std::get_if<Dims>(&argument.value)) {
      attributes_.push_back(pf_integers(name, list(*dims).data(), dims->size()));
    } else if (const auto* pairs = std::get_if<PadsList>(&argument.value)) {
      auto& flat = numbers_.emplace_back();
      for (int i = 0; i < pairs->size(); ++i) flat.insert(flat.end(), {(*pairs)[i].begin, (*pairs)[i].end});
      attributes_.push_back(pf_pairs(name, flat.data(), pairs->size()));
    } else if (const auto* scalar = std::get_if<Scalar>(&argument.value)) {
      attributes_.push_back(scalar->kind() == Scalar::Kind::real ? pf_number(name, scalar->real())
                                                                 : pf_integer(name, scalar->as_signed()));
    } else if (const auto* tensor = std::get_if<IndexTensor>(&argument.value); tensor != nullptr && !as_inputs) {
      attributes_.push_back(pf_integers(name, list(tensor->values).data(), tensor->values.size()));
    }
  }
}

pf_tensor CCall::tensor(const Dims& shape) const {
  return {nullptr,
          shape.begin(),
          nullptr,
          shape.size(),
          static_cast<pf_dtype>(problem_.dtype),
          static_cast<std::uint32_t>(problem_.element_size)};
}

std::vector<pf_tensor> CCall::inputs() const {
  std::vector<pf_tensor> all;
  if (has_data_) all.push_back(tensor(problem_.shape));
  for (const IndexTensor* tensor : tensors_)
    all.push_back({const_cast<std::int64_t*>(tensor->values.begin()), tensor->shape.begin(), nullptr, tensor->shape.size(),
                   PF_DTYPE_INT64, 8});
  return all;
}

CCall::Outcome CCall::outcome(pf_status status) {
  return {status, pf_last_error_part(PF_PART_OPERATOR), pf_last_error_part(PF_PART_RULE)};
}

CCall::Outcome CCall::output_shape(Dims& shape) const {
  const auto given = inputs();
  std::int64_t extents[PF_MAX_RANK];
  std::int32_t rank = PF_MAX_RANK;
  const pf_status status =
      pf_output_shape(problem_.op.c_str(), attributes_.data(), static_cast<std::int32_t>(attributes_.size()), given.data(),
                      static_cast<std::int32_t>(given.size()), extents, &rank);
  if (status == PF_OK) shape = Dims(std::span(extents, static_cast<std::size_t>(rank)));
  return outcome(status);
}

CCall::Outcome CCall::plan(const Dims& output) const {
  const auto given = inputs();
  const pf_tensor to = tensor(output);
  pf_plan* plan = nullptr;
  const pf_status status =
      pf_plan_create(problem_.op.c_str(), attributes_.data(), static_cast<std::int32_t>(attributes_.size()), given.data(),
                     static_cast<std::int32_t>(given.size()), &to, &plan);
  const Outcome result = outcome(status);
  pf_plan_destroy(plan);
  return result;
}

}  // namespace patchfold::limits
