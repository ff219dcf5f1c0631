// SPDX-License-Identifier: Apache-2.0
// The part of ONNX Runtime's C interface that the plug-in uses.
//
// The declarations are copies, so that a build needs no ONNX Runtime, whose Python package has no headers. ONNX Runtime keeps the
// layout of these structs: `Api` is a table of functions to which later versions only append, and `CustomOp` begins with its
// version. A function's number is its place in `OrtApi` of onnxruntime_c_api.h, counted from 0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace patchfold::plugins::ort {

/// The version of the interface: that of ONNX Runtime 1.17, the first with `KernelContext_ParallelFor`.
inline constexpr std::uint32_t api_version = 17;

struct Status;
struct Value;
struct TypeAndShape;
struct KernelInfo;
struct KernelContext;
struct ShapeContext;
struct OpAttribute;
struct Domain;
struct SessionOptions;

enum ErrorCode : int { fail = 1, invalid_argument = 2, not_implemented = 9 };

/// The element types that the plug-in names. The numbers of all types are those of TensorProto.DataType, which dtype_table lists.
enum ElementType : int { undefined = 0, int64 = 7, text = 8 };

enum AttributeKind : int { an_integer = 1, integers = 2, a_number = 3, numbers = 4, a_text = 5, texts = 6 };

/// Whether an input or an output must be given.
enum Presence : int { required = 0 };
enum MemoryKind : int { usual = 0 };

/// The table of functions; a function's index is its number.
struct Api {
  void* functions[512];

  template <int place, class Result = Status*, class... Arguments>
  Result call(Arguments... arguments) const {
    return reinterpret_cast<Result (*)(Arguments...)>(functions[place])(arguments...);
  }

  Status* create_status(ErrorCode code, const char* message) const { return call<0>(code, message); }
  Status* create_domain(const char* name, Domain** domain) const { return call<26>(name, domain); }
  Status* domain_add(Domain* domain, const struct CustomOp* op) const { return call<27>(domain, op); }
  Status* add_domain(SessionOptions* options, Domain* domain) const { return call<28>(options, domain); }
  Status* mutable_data(Value* value, void** data) const { return call<51>(value, data); }
  Status* create_type_and_shape(TypeAndShape** info) const { return call<57>(info); }
  Status* set_element_type(TypeAndShape* info, ElementType type) const { return call<58>(info, type); }
  Status* set_dimensions(TypeAndShape* info, const std::int64_t* extents, std::size_t rank) const {
    return call<59>(info, extents, rank);
  }
  Status* element_type(const TypeAndShape* info, ElementType* type) const { return call<60>(info, type); }
  Status* rank(const TypeAndShape* info, std::size_t* rank) const { return call<61>(info, rank); }
  Status* dimensions(const TypeAndShape* info, std::int64_t* extents, std::size_t rank) const {
    return call<62>(info, extents, rank);
  }
  Status* type_and_shape(const Value* value, TypeAndShape** info) const { return call<65>(value, info); }
  Status* attribute_number(const KernelInfo* info, const char* name, float* value) const {
    return call<85>(info, name, value);
  }
  Status* attribute_integer(const KernelInfo* info, const char* name, std::int64_t* value) const {
    return call<86>(info, name, value);
  }
  Status* attribute_text(const KernelInfo* info, const char* name, char* out, std::size_t* size) const {
    return call<87>(info, name, out, size);
  }
  Status* input_count(const KernelContext* context, std::size_t* count) const { return call<88>(context, count); }
  Status* input(const KernelContext* context, std::size_t index, const Value** value) const {
    return call<90>(context, index, value);
  }
  Status* output(KernelContext* context, std::size_t index, const std::int64_t* extents, std::size_t rank,
                 Value** value) const {
    return call<91>(context, index, extents, rank, value);
  }
  void release_status(Status* status) const { call<93, void>(status); }
  void release_domain(Domain* domain) const { call<101, void>(domain); }
  void release_type_and_shape(TypeAndShape* info) const { call<99, void>(info); }
  Status* attribute_integers(const KernelInfo* info, const char* name, std::int64_t* out, std::size_t* size) const {
    return call<163>(info, name, out, size);
  }
  /// Returns the shape of an input in `info`; the context owns it.
  Status* shape_input(const ShapeContext* context, std::size_t index, TypeAndShape** info) const {
    return call<268>(context, index, info);
  }
  Status* shape_attribute(const ShapeContext* context, const char* name, const OpAttribute** attribute) const {
    return call<269>(context, name, attribute);
  }
  Status* set_output_shape(const ShapeContext* context, std::size_t index, const TypeAndShape* info) const {
    return call<270>(context, index, info);
  }
  Status* set_names(TypeAndShape* info, const char** names, std::size_t rank) const { return call<271>(info, names, rank); }
  Status* read_attribute(const OpAttribute* attribute, AttributeKind kind, void* data, std::size_t bytes,
                         std::size_t* needed) const {
    return call<272>(attribute, kind, data, bytes, needed);
  }
  /// Calls function(user_data, i) for each i in [0, total), on the session's threads and the calling thread.
  Status* parallel_for(const KernelContext* context, void (*function)(void*, std::size_t), std::size_t total,
                       std::size_t batches, void* user_data) const {
    return call<274>(context, function, total, batches, user_data);
  }
};

struct ApiBase {
  const Api* (*api)(std::uint32_t version);
  const char* (*version)();
};

/// An operator, in the form that ONNX Runtime registers.
struct CustomOp {
  std::uint32_t version = api_version;
  void* (*create_kernel)(const CustomOp*, const Api*, const KernelInfo*) = nullptr;
  const char* (*name)(const CustomOp*) = nullptr;
  const char* (*provider)(const CustomOp*) = nullptr;
  ElementType (*input_type)(const CustomOp*, std::size_t) = nullptr;
  std::size_t (*input_count)(const CustomOp*) = nullptr;
  ElementType (*output_type)(const CustomOp*, std::size_t) = nullptr;
  std::size_t (*output_count)(const CustomOp*) = nullptr;
  void (*compute)(void*, KernelContext*) = nullptr;
  void (*destroy)(void*) = nullptr;
  Presence (*input_presence)(const CustomOp*, std::size_t) = nullptr;
  Presence (*output_presence)(const CustomOp*, std::size_t) = nullptr;
  MemoryKind (*input_memory)(const CustomOp*, std::size_t) = nullptr;
  int (*least_variadic_inputs)(const CustomOp*) = nullptr;
  int (*like_variadic_inputs)(const CustomOp*) = nullptr;
  int (*least_variadic_outputs)(const CustomOp*) = nullptr;
  int (*like_variadic_outputs)(const CustomOp*) = nullptr;
  Status* (*create_kernel_v2)(const CustomOp*, const Api*, const KernelInfo*, void** kernel) = nullptr;
  Status* (*compute_v2)(void* kernel, KernelContext*) = nullptr;
  Status* (*infer_shape)(const CustomOp*, ShapeContext*) = nullptr;
  int (*first_version)(const CustomOp*) = nullptr;
  int (*last_version)(const CustomOp*) = nullptr;
};

}  // namespace patchfold::plugins::ort
