// SPDX-License-Identifier: Apache-2.0
// The plug-in that tensorflow.load_op_library loads: one operator, PatchfoldLinear, which runs any call of patchfold.
#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "plugins/tensorflow/api.hpp"
#include "plugins/tensorflow/run.hpp"

namespace patchfold::plugins::tensorflow {
namespace {

constexpr const char* op_name = "PatchfoldLinear";

/// The function that runs calls, which patchfold's Python module sets after it has loaded this plug-in.
std::atomic<RunFunction*> run_function = nullptr;

class OwnStatus {
 public:
  explicit OwnStatus(const Api& api) : api_(api), status_(api.NewStatus()) {}
  ~OwnStatus() { api_.DeleteStatus(status_); }
  OwnStatus(const OwnStatus&) = delete;
  OwnStatus& operator=(const OwnStatus&) = delete;
  operator Status*() const { return status_; }
  bool ok() const { return api_.GetCode(status_) == 0; }
  void set(int code, const char* message) { api_.SetStatus(status_, code, message); }

 private:
  const Api& api_;
  Status* status_;
};

struct DeleteTensor {
  void operator()(Tensor* tensor) const { find_api()->DeleteTensor(tensor); }
};
using OwnTensor = std::unique_ptr<Tensor, DeleteTensor>;

OwnTensor input_of(const Api& api, Context* context, int index, Status* status) {
  Tensor* tensor = nullptr;
  api.GetInput(context, index, &tensor, status);
  return OwnTensor(tensor);
}

struct Kernel {
  std::string call;
};

void* create(Construction* construction) {
  const Api& api = *find_api();
  OwnStatus status(api);
  auto kernel = std::make_unique<Kernel>();
  std::int32_t items = 0;
  std::int32_t bytes = 0;
  api.OpKernelConstruction_GetAttrSize(construction, "call", &items, &bytes, status);
  if (status.ok()) {
    kernel->call.resize(static_cast<std::size_t>(bytes));
    api.OpKernelConstruction_GetAttrString(construction, "call", kernel->call.data(), kernel->call.size(), status);
  }
  if (status.ok()) return kernel.release();
  api.OpKernelConstruction_Failure(construction, status);
  return nullptr;
}

void destroy(void* kernel) {
  delete static_cast<Kernel*>(kernel);
}

/// Replaces " ? " in the text of a call by the shape, such as "1x3x8x8".
void put_shape(std::string& call, const Api& api, const Tensor& shape) {
  const std::size_t place = call.find(" ? ");
  if (place == std::string::npos) return;
  std::string text;
  const auto* extents = static_cast<const std::int64_t*>(api.TensorData(&shape));
  for (std::int64_t axis = 0; axis < api.Dim(&shape, 0); ++axis) text += (axis ? "x" : "") + std::to_string(extents[axis]);
  call.replace(place + 1, 1, text);
}

struct Computation {
  const Api& api;
  Context* context;
  OwnStatus status;
  int dtype = 0;
  std::size_t element_size = 0;
  OwnTensor output = nullptr;
};

void* allocate(void* context, const std::int64_t* extents, std::int32_t rank) {
  auto& computation = *static_cast<Computation*>(context);
  std::size_t bytes = computation.element_size;
  for (std::int32_t axis = 0; axis < rank; ++axis) bytes *= static_cast<std::size_t>(extents[axis]);
  computation.output.reset(
      computation.api.AllocateOutput(computation.context, 0, computation.dtype, extents, rank, bytes, computation.status));
  return computation.status.ok() ? computation.api.TensorData(computation.output.get()) : nullptr;
}

void refuse(void* context, Fault fault, const char* message) {
  auto& computation = *static_cast<Computation*>(context);
  if (!computation.status.ok()) return;
  switch (fault) {
    case Fault::invalid_argument: computation.status.set(invalid_argument, message); break;
    case Fault::out_of_memory: computation.status.set(resource_exhausted, message); break;
    case Fault::internal: computation.status.set(internal_error, message); break;
  }
}

void compute_into(Computation& computation, const Kernel& kernel) {
  const Api& api = computation.api;
  RunFunction* const run = run_function;
  if (run == nullptr) {
    computation.status.set(failed_precondition,
                           "patchfold: its operators are not there: call patchfold.tensorflow.library()");
    return;
  }
  const OwnTensor x = input_of(api, computation.context, 0, computation.status);
  if (!computation.status.ok()) return;
  std::string call = kernel.call;
  if (api.NumInputs(computation.context) > 1) {
    const OwnTensor shape = input_of(api, computation.context, 1, computation.status);
    if (!computation.status.ok()) return;
    if (api.NumDims(shape.get()) != 1) {
      computation.status.set(invalid_argument, "patchfold: shape: must have one axis");
      return;
    }
    put_shape(call, api, *shape);
  }
  std::vector<std::int64_t> extents;
  for (int axis = 0; axis < api.NumDims(x.get()); ++axis) extents.push_back(api.Dim(x.get(), axis));
  computation.dtype = api.TensorType(x.get());
  computation.element_size = api.DataTypeSize(computation.dtype);
  run({call.data(), call.size(), api.TensorData(x.get()), extents.data(), static_cast<std::int32_t>(extents.size()),
       computation.element_size, &computation, allocate, refuse});
}

void compute(void* kernel, Context* context) {
  const Api& api = *find_api();
  Computation computation{api, context, OwnStatus(api)};
  try {
    compute_into(computation, *static_cast<Kernel*>(kernel));
  } catch (const std::bad_alloc&) {
    refuse(&computation, Fault::out_of_memory, "patchfold: out of memory");
  }
  if (!computation.status.ok()) api.OpKernelContext_Failure(context, computation.status);
}

void unknown_shape(ShapeContext* context, Status* status) {
  find_api()->ShapeInferenceContextSetUnknownShape(context, status);
}

/// Registers the operator, while TensorFlow loads the plug-in. Returns whether TensorFlow accepted it.
bool register_op() {
  const Api* const api = find_api();
  if (api == nullptr) return false;
  OwnStatus status(*api);
  OpDefinition* const op = api->NewOpDefinitionBuilder(op_name);
  api->OpDefinitionBuilderAddAttr(op, "T: type");
  api->OpDefinitionBuilderAddAttr(op, "N: int >= 0");
  api->OpDefinitionBuilderAddAttr(op, "call: string");
  api->OpDefinitionBuilderAddInput(op, "x: T");
  api->OpDefinitionBuilderAddInput(op, "shape: N * int64");
  api->OpDefinitionBuilderAddOutput(op, "y: T");
  api->OpDefinitionBuilderSetShapeInferenceFunction(op, unknown_shape);
  api->RegisterOpDefinition(op, status);
  if (!status.ok()) return false;
  api->RegisterKernelBuilder(op_name, api->NewKernelBuilder(op_name, "CPU", create, compute, destroy), status);
  return status.ok();
}

const bool registered = register_op();

}  // namespace
}  // namespace patchfold::plugins::tensorflow

/// Sets the function that runs calls. Returns 1 if the operator is registered in this process's TensorFlow, else 0.
extern "C" __attribute__((visibility("default"))) int patchfold_tensorflow_use(void* run) {
  namespace plugin = patchfold::plugins::tensorflow;
  plugin::run_function = reinterpret_cast<plugin::RunFunction*>(run);
  return plugin::registered ? 1 : 0;
}
