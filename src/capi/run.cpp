// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include "capi/callback_executor.hpp"
#include "capi/convert.hpp"
#include "capi/guard.hpp"
#include "capi/plan.hpp"

namespace patchfold::capi {
namespace {

struct Planned {
  const OperatorSpec& spec;
  ConstTensorView data;
  TensorView output;
  Plan plan;
};

Planned make_plan(const Request& request, const pf_tensor* output, std::string_view function) {
  const Given given = read(request, function);
  Planned planned{given.spec, {}, {}, {}};
  try {
    planned.data = data_of(given);
    planned.output = view_of(*required(output, given.spec.name, given.spec.output), given.spec.name, given.spec.output);
  } catch (const Error&) {
    given.spec.bind(given.arguments);  // checks arguments before tensors
    throw;
  }
  planned.plan = given.spec.plan(given.arguments, planned.data, planned.output);
  return planned;
}

/// Throws the error of a failed run. If data is null, the error names the tensor that lacks it.
void check(Status status, const OperatorSpec& spec, const void* dst) {
  if (status == Status::null_data)
    fail(ErrorCode::null_data, spec.name, dst == nullptr ? spec.output : spec.data_input,
         "a tensor with elements must have data");
  throw_if_failed(status, spec.name, spec.output);
}

void run(const Request& request, const pf_tensor* output, const pf_executor* executor) {
  const Planned planned = make_plan(request, output, "pf_run");
  ChosenExecutor chosen(executor, planned.spec.name);
  check(planned.plan.run(planned.data.data, planned.output.data, chosen.get()), planned.spec, planned.output.data);
}

void output_shape(const Request& request, std::int64_t* shape, std::int32_t* rank) {
  const Given given = read(request, "pf_output_shape");
  const OperatorSpec& spec = given.spec;
  const BoundOperator bound = spec.bind(given.arguments);
  required(rank, spec.name, "rank");
  const Dims result = bound.output_shape(given.data == nullptr ? Dims{} : shape_of(*given.data, spec.name, spec.data_input));
  give_list(result, shape, rank, spec.name, "shape");
}

void run_plan(const pf_plan& plan, const void* src, void* dst, void* scratch, std::size_t scratch_bytes,
              const pf_executor* executor) {
  const OperatorSpec& spec = *plan.spec;
  ChosenExecutor chosen(executor, spec.name);
  if (scratch == nullptr) {
    if (scratch_bytes != 0) fail(ErrorCode::missing, spec.name, "scratch", "must not be NULL", scratch_bytes, 0);
    return check(plan.plan.run(src, dst, chosen.get()), spec, dst);
  }
  const Status status = plan.plan.run(src, dst, {static_cast<std::byte*>(scratch), scratch_bytes}, chosen.get());
  if (status == Status::scratch_too_small)
    fail(ErrorCode::value, spec.name, "scratch", "must have the bytes that the plan asks for", scratch_bytes,
         plan.plan.scratch_bytes(chosen.get().threads()));
  check(status, spec, dst);
}

void describe(const pf_plan& plan, char* buffer, std::size_t capacity, std::size_t* length) {
  if (capacity > 0) required(buffer, plan.spec->name, "buffer");
  const std::string text = plan.plan.describe();
  if (length != nullptr) *length = text.size();
  if (capacity == 0) return;
  const std::size_t copied = std::min(text.size(), capacity - 1);
  std::memcpy(buffer, text.data(), copied);
  buffer[copied] = '\0';
}

}  // namespace
}  // namespace patchfold::capi

using namespace patchfold::capi;  // NOLINT: the functions below are the interface itself

pf_status pf_run(const char* op, const pf_attribute* attributes, int32_t n_attributes, const pf_tensor* inputs,
                 int32_t n_inputs, const pf_tensor* output, const pf_executor* executor) {
  return guarded([&] { run({op, attributes, n_attributes, inputs, n_inputs}, output, executor); });
}

pf_status pf_output_shape(const char* op, const pf_attribute* attributes, int32_t n_attributes, const pf_tensor* inputs,
                          int32_t n_inputs, int64_t* shape, int32_t* rank) {
  return guarded([&] { output_shape({op, attributes, n_attributes, inputs, n_inputs}, shape, rank); });
}

pf_status pf_plan_create(const char* op, const pf_attribute* attributes, int32_t n_attributes, const pf_tensor* inputs,
                         int32_t n_inputs, const pf_tensor* output, pf_plan** plan) {
  return guarded([&] {
    *required(plan, "pf_plan_create", "plan") = nullptr;
    Planned planned = make_plan({op, attributes, n_attributes, inputs, n_inputs}, output, "pf_plan_create");
    *plan = new pf_plan{std::move(planned.plan), &planned.spec};
  });
}

pf_status pf_plan_run(const pf_plan* plan, const void* src, void* dst, void* scratch, size_t scratch_bytes,
                      const pf_executor* executor) {
  return guarded([&] { run_plan(*required(plan, "pf_plan_run", "plan"), src, dst, scratch, scratch_bytes, executor); });
}

pf_status pf_plan_scratch_bytes(const pf_plan* plan, int32_t threads, size_t* bytes) {
  return guarded([&] {
    const auto& known = *required(plan, "pf_plan_scratch_bytes", "plan");
    required(bytes, known.spec->name, "bytes");
    if (threads < 1)
      patchfold::fail(patchfold::ErrorCode::value, known.spec->name, "threads", "must be at least 1", threads);
    *bytes = known.plan.scratch_bytes(threads);
  });
}

pf_status pf_plan_describe(const pf_plan* plan, char* buffer, size_t capacity, size_t* length) {
  return guarded([&] { describe(*required(plan, "pf_plan_describe", "plan"), buffer, capacity, length); });
}

void pf_plan_destroy(pf_plan* plan) {
  delete plan;
}
