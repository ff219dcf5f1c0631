// SPDX-License-Identifier: Apache-2.0
// What the library for TensorFlow (plugins/tensorflow) runs a call with, on TensorFlow's own memory.
#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "plugins/tensorflow/run.hpp"
#include "python/native/arrays.hpp"
#include "python/native/linear.hpp"
#include "python/native/shared_plans.hpp"

namespace patchfold::python {
namespace {

namespace tf = plugins::tensorflow;

struct Planned {
  std::optional<Plan> plan;  ///< none: the result is zeros
  Dims output;
};

/// Lives as long as the process: TensorFlow's threads may still run when static objects are gone.
SharedPlans<Planned>& plans_for_tensors() {
  static auto& all = *new SharedPlans<Planned>;
  return all;
}

bool has_no_elements(const Dims& shape) {
  return std::any_of(shape.begin(), shape.end(), [](std::int64_t extent) { return extent == 0; });
}

Planned plan_for_tensor(std::string_view text, const Dims& shape, std::size_t element_size) {
  const LinearCall call = linear_call(text);
  if (!call.lowering.geometry.has_data) refuse_call("TensorFlow", "must have an operator with data", "", "");
  if (element_size != call.element_size)
    refuse_call("TensorFlow", "must have tensors of its element type", std::to_string(element_size) + " bytes",
                std::to_string(call.element_size));
  const Dims samples = shape.slice(0, std::max(shape.size() - call.input().size(), 0));
  Dims expected = samples;
  expected.append(call.input());
  if (!(shape == expected))
    refuse_call("TensorFlow", "must have a tensor of its shape", to_string(shape), to_string(expected));
  Planned planned{std::nullopt, samples};
  planned.output.append(call.output());
  if (!has_no_elements(shape)) planned.plan = call.plan(samples);
  return planned;
}

void run_on_tensor(const tf::Run& run) {
  Dims shape;
  for (std::int32_t axis = 0; axis < run.rank; ++axis) shape.push_back(run.extents[axis]);
  const std::string_view text(run.call, run.call_size);
  const std::string key = std::string(text) + ';' + std::to_string(run.element_size) + to_string(shape);
  const Planned planned = plans_for_tensors().find(key, [&] { return plan_for_tensor(text, shape, run.element_size); });
  void* const to = run.allocate(run.context, planned.output.begin(), planned.output.size());
  if (to == nullptr) return;
  const std::size_t bytes = static_cast<std::size_t>(element_count(planned.output)) * run.element_size;
  prefer_large_pages(to, bytes);
  if (planned.plan) {
    throw_if_failed(planned.plan->run(run.data, to), "patchfold", "result");
  } else {
    std::memset(to, 0, bytes);
  }
}

void run_for_tensorflow(const tf::Run& call) noexcept {
  try {
    run_on_tensor(call);
  } catch (const std::bad_alloc&) {
    call.refuse(call.context, tf::Fault::out_of_memory, "patchfold: out of memory");
  } catch (const std::exception& error) {
    call.refuse(call.context, tf::Fault::invalid_argument, error.what());
  } catch (...) {
    call.refuse(call.context, tf::Fault::internal, "patchfold: an unknown error");
  }
}

}  // namespace

void bind_tensorflow(nb::module_& module) {
  module.def("tensorflow_target", [] { return reinterpret_cast<std::uintptr_t>(&run_for_tensorflow); });
}

}  // namespace patchfold::python
