// SPDX-License-Identifier: Apache-2.0
// Runs the calls that the library for TensorFlow (plugins/tensorflow) passes on, in TensorFlow's own memory.
#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "plugins/tensorflow/run.hpp"
#include "python/native/arrays.hpp"
#include "python/native/linear.hpp"

namespace patchfold::python {
namespace {

namespace tf = plugins::tensorflow;

bool has_no_elements(const Dims& shape) {
  return std::any_of(shape.begin(), shape.end(), [](std::int64_t extent) { return extent == 0; });
}

detail::Planned plan_for_tensor(std::string_view text, const Dims& shape, std::size_t element_size) {
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
  detail::Planned planned{{}, samples};
  planned.output.append(call.output());
  if (!has_no_elements(shape)) planned.plan = call.plan(samples);
  return planned;
}

void run_on_tensor(const tf::Run& run) {
  Dims shape;
  for (std::int32_t axis = 0; axis < run.rank; ++axis) shape.push_back(run.extents[axis]);
  const std::string_view text(run.call, run.call_size);
  detail::PlanKey key(detail::PlanKey::Maker::tensorflow);
  key.add(text, shape, run.element_size);
  const detail::Planned planned = detail::recent_plan(key, [&] { return plan_for_tensor(text, shape, run.element_size); });
  void* const to = run.allocate(run.context, planned.output.begin(), planned.output.size());
  if (to == nullptr) return;
  const std::size_t bytes = static_cast<std::size_t>(element_count(planned.output)) * run.element_size;
  prefer_large_pages(to, bytes);
  if (has_no_elements(shape)) {
    std::memset(to, 0, bytes);
  } else {
    throw_if_failed(planned.plan.run(run.data, to), "patchfold", "result");
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
