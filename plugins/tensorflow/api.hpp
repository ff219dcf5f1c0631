// SPDX-License-Identifier: Apache-2.0
// The used part of TensorFlow's C interface for operators.
//
// The declarations are copied, so a build needs no TensorFlow, and one library works with all versions of TensorFlow, which all
// have these functions. find_api() looks the functions up in the TensorFlow that the process has loaded.
#pragma once

#include <cstddef>
#include <cstdint>

namespace patchfold::plugins::tensorflow {

struct Status;
struct Tensor;
struct OpDefinition;
struct KernelBuilder;
struct Construction;
struct Context;
struct ShapeContext;

enum Code : int { invalid_argument = 3, resource_exhausted = 8, failed_precondition = 9, internal_error = 13 };

/// The functions, under TensorFlow's names without TF_.
struct Api {
  Status* (*NewStatus)();
  void (*DeleteStatus)(Status*);
  void (*SetStatus)(Status*, int code, const char* message);
  int (*GetCode)(const Status*);

  OpDefinition* (*NewOpDefinitionBuilder)(const char* name);
  void (*OpDefinitionBuilderAddAttr)(OpDefinition*, const char*);
  void (*OpDefinitionBuilderAddInput)(OpDefinition*, const char*);
  void (*OpDefinitionBuilderAddOutput)(OpDefinition*, const char*);
  void (*OpDefinitionBuilderSetShapeInferenceFunction)(OpDefinition*, void (*)(ShapeContext*, Status*));
  void (*RegisterOpDefinition)(OpDefinition*, Status*);
  void (*ShapeInferenceContextSetUnknownShape)(ShapeContext*, Status*);

  KernelBuilder* (*NewKernelBuilder)(const char* op, const char* device, void* (*create)(Construction*),
                                     void (*compute)(void*, Context*), void (*destroy)(void*));
  void (*RegisterKernelBuilder)(const char* name, KernelBuilder*, Status*);
  void (*OpKernelConstruction_GetAttrSize)(Construction*, const char* name, std::int32_t* items, std::int32_t* bytes,
                                           Status*);
  void (*OpKernelConstruction_GetAttrString)(Construction*, const char* name, char* text, std::size_t size, Status*);
  void (*OpKernelConstruction_Failure)(Construction*, Status*);

  int (*NumInputs)(Context*);
  void (*GetInput)(Context*, int index, Tensor**, Status*);
  Tensor* (*AllocateOutput)(Context*, int index, int dtype, const std::int64_t* extents, int rank, std::size_t bytes,
                            Status*);
  void (*OpKernelContext_Failure)(Context*, Status*);

  void (*DeleteTensor)(Tensor*);
  int (*TensorType)(const Tensor*);
  int (*NumDims)(const Tensor*);
  std::int64_t (*Dim)(const Tensor*, int axis);
  void* (*TensorData)(const Tensor*);
  std::size_t (*DataTypeSize)(int dtype);
};

/// Returns the functions of the TensorFlow that the process has loaded; nullptr if TensorFlow or a function is missing.
const Api* find_api();

}  // namespace patchfold::plugins::tensorflow
