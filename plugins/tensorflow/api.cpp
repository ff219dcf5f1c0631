// SPDX-License-Identifier: Apache-2.0
#include "plugins/tensorflow/api.hpp"

#include <dlfcn.h>

#include <optional>
#include <type_traits>

namespace patchfold::plugins::tensorflow {
namespace {

void* loaded_tensorflow() {
  for (const char* name : {"libtensorflow_framework.so.2", "libtensorflow_cc.so.2"})
    if (void* const library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) return library;
  return nullptr;
}

std::optional<Api> lookup() {
  void* const library = loaded_tensorflow();
  if (library == nullptr) return std::nullopt;
  Api api{};
  bool complete = true;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    complete = complete && function != nullptr;
  };
  find(api.NewStatus, "TF_NewStatus");
  find(api.DeleteStatus, "TF_DeleteStatus");
  find(api.SetStatus, "TF_SetStatus");
  find(api.GetCode, "TF_GetCode");
  find(api.NewOpDefinitionBuilder, "TF_NewOpDefinitionBuilder");
  find(api.OpDefinitionBuilderAddAttr, "TF_OpDefinitionBuilderAddAttr");
  find(api.OpDefinitionBuilderAddInput, "TF_OpDefinitionBuilderAddInput");
  find(api.OpDefinitionBuilderAddOutput, "TF_OpDefinitionBuilderAddOutput");
  find(api.OpDefinitionBuilderSetShapeInferenceFunction, "TF_OpDefinitionBuilderSetShapeInferenceFunction");
  find(api.RegisterOpDefinition, "TF_RegisterOpDefinition");
  find(api.ShapeInferenceContextSetUnknownShape, "TF_ShapeInferenceContextSetUnknownShape");
  find(api.NewKernelBuilder, "TF_NewKernelBuilder");
  find(api.RegisterKernelBuilder, "TF_RegisterKernelBuilder");
  find(api.OpKernelConstruction_GetAttrSize, "TF_OpKernelConstruction_GetAttrSize");
  find(api.OpKernelConstruction_GetAttrString, "TF_OpKernelConstruction_GetAttrString");
  find(api.OpKernelConstruction_Failure, "TF_OpKernelConstruction_Failure");
  find(api.NumInputs, "TF_NumInputs");
  find(api.GetInput, "TF_GetInput");
  find(api.AllocateOutput, "TF_AllocateOutput");
  find(api.OpKernelContext_Failure, "TF_OpKernelContext_Failure");
  find(api.DeleteTensor, "TF_DeleteTensor");
  find(api.TensorType, "TF_TensorType");
  find(api.NumDims, "TF_NumDims");
  find(api.Dim, "TF_Dim");
  find(api.TensorData, "TF_TensorData");
  find(api.DataTypeSize, "TF_DataTypeSize");
  return complete ? std::optional(api) : std::nullopt;
}

}  // namespace

const Api* find_api() {
  static const std::optional<Api> api = lookup();
  return api ? &*api : nullptr;
}

}  // namespace patchfold::plugins::tensorflow
