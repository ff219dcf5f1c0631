// SPDX-License-Identifier: Apache-2.0
// The part of TensorFlow's C interface for operators that the plug-in uses.
//
// The declarations are copies, so a build needs no TensorFlow, and one plug-in works with all versions of TensorFlow that have
// these functions. find_api() looks the functions up in the TensorFlow that the process has loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace patchfold::plugins::tensorflow {

struct Status;
struct Tensor;
struct OpDefinition;
struct KernelBuilder;
struct Construction;
struct Context;
struct ShapeContext;

enum Code : int { invalid_argument = 3, resource_exhausted = 8, failed_precondition = 9, internal_error = 13 };

/// Calls X(name, type) for each function; `name` is TensorFlow's name without "TF_".
#define PATCHFOLD_TENSORFLOW_FUNCTIONS(X)                                                                             \
  X(NewStatus, Status*())                                                                                             \
  X(DeleteStatus, void(Status*))                                                                                      \
  X(SetStatus, void(Status*, int code, const char* message))                                                          \
  X(GetCode, int(const Status*))                                                                                      \
  X(NewOpDefinitionBuilder, OpDefinition*(const char* name))                                                          \
  X(OpDefinitionBuilderAddAttr, void(OpDefinition*, const char*))                                                     \
  X(OpDefinitionBuilderAddInput, void(OpDefinition*, const char*))                                                    \
  X(OpDefinitionBuilderAddOutput, void(OpDefinition*, const char*))                                                   \
  X(OpDefinitionBuilderSetShapeInferenceFunction, void(OpDefinition*, void (*)(ShapeContext*, Status*)))              \
  X(RegisterOpDefinition, void(OpDefinition*, Status*))                                                               \
  X(ShapeInferenceContextSetUnknownShape, void(ShapeContext*, Status*))                                               \
  X(NewKernelBuilder, KernelBuilder*(const char* op, const char* device, void* (*create)(Construction*),              \
                                     void (*compute)(void*, Context*), void (*destroy)(void*)))                       \
  X(RegisterKernelBuilder, void(const char* name, KernelBuilder*, Status*))                                           \
  X(OpKernelConstruction_GetAttrSize,                                                                                 \
    void(Construction*, const char* name, std::int32_t* items, std::int32_t* bytes, Status*))                         \
  X(OpKernelConstruction_GetAttrString, void(Construction*, const char* name, char* text, std::size_t size, Status*)) \
  X(OpKernelConstruction_Failure, void(Construction*, Status*))                                                       \
  X(NumInputs, int(Context*))                                                                                         \
  X(GetInput, void(Context*, int index, Tensor**, Status*))                                                           \
  X(AllocateOutput,                                                                                                   \
    Tensor*(Context*, int index, int dtype, const std::int64_t* extents, int rank, std::size_t bytes, Status*))       \
  X(OpKernelContext_Failure, void(Context*, Status*))                                                                 \
  X(DeleteTensor, void(Tensor*))                                                                                      \
  X(TensorType, int(const Tensor*))                                                                                   \
  X(NumDims, int(const Tensor*))                                                                                      \
  X(Dim, std::int64_t(const Tensor*, int axis))                                                                       \
  X(TensorData, void*(const Tensor*))                                                                                 \
  X(DataTypeSize, std::size_t(int dtype))

struct Api {
#define PATCHFOLD_TENSORFLOW_MEMBER(name, ...) std::add_pointer_t<__VA_ARGS__> name;
  PATCHFOLD_TENSORFLOW_FUNCTIONS(PATCHFOLD_TENSORFLOW_MEMBER)
#undef PATCHFOLD_TENSORFLOW_MEMBER
};

/// Returns the functions of the TensorFlow that the process has loaded; nullptr if TensorFlow or a function is missing.
const Api* find_api();

}  // namespace patchfold::plugins::tensorflow
