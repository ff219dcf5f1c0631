// SPDX-License-Identifier: Apache-2.0
// The part of XLA's foreign function interface that patchfold uses.
//
// The structs are copied from XLA's C API (xla/ffi/api/c_api.h, version 0.3), so that a build needs neither XLA nor jaxlib. Only
// the package of jaxlib, of 80 MB, has this header. XLA keeps the layout of the structs: it only appends fields, and each struct
// begins with its size. A test compares every offset and number of this file with the header of the installed jaxlib.
#pragma once

#include <cstddef>
#include <cstdint>

namespace patchfold::python::xla {

struct Extension {
  std::size_t struct_size;
  int type;
  Extension* next;
};
inline constexpr int extension_metadata = 1;

struct Version {
  std::size_t struct_size;
  Extension* extensions;
  int major;
  int minor;
};
inline constexpr int version_major = 0;
inline constexpr int version_minor = 3;

struct Metadata {
  std::size_t struct_size;
  Version version;
  std::uint32_t traits;
};
struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

struct Error;
struct ExecutionContext;

inline constexpr int error_invalid_argument = 3;
inline constexpr int error_resource_exhausted = 8;
inline constexpr int error_internal = 13;

struct ErrorCreateArgs {
  std::size_t struct_size;
  Extension* extensions;
  const char* message;
  int code;
};
struct ErrorDestroyArgs {
  std::size_t struct_size;
  Extension* extensions;
  Error* error;
};

using Task = void(void* data);
struct ScheduleArgs {
  std::size_t struct_size;
  Extension* extensions;
  ExecutionContext* context;
  Task* task;
  void* data;
};
struct NumThreadsArgs {
  std::size_t struct_size;
  Extension* extensions;
  ExecutionContext* context;
  std::int64_t* num_threads;
};

struct StreamGetArgs {
  std::size_t struct_size;
  Extension* extensions;
  ExecutionContext* context;
  void* stream;
};

struct Api {
  std::size_t struct_size;
  Extension* extensions;
  Version version;
  const void* internal_api;
  Error* (*error_create)(ErrorCreateArgs*);
  void* error_get_message;
  void (*error_destroy)(ErrorDestroyArgs*);
  void* handler_register;
  Error* (*stream_get)(StreamGetArgs*);
  void* others[6];
  Error* (*schedule)(ScheduleArgs*);
  Error* (*num_threads)(NumThreadsArgs*);
};

/// A row-major array.
struct Buffer {
  std::size_t struct_size;
  Extension* extensions;
  int dtype;
  void* data;
  std::int64_t rank;
  std::int64_t* dims;
};
inline constexpr int type_buffer = 1;  ///< the type of an argument or a result that is a buffer

/// Returns the bytes of an element; 0 for types whose elements are not whole bytes.
constexpr std::size_t element_size(int dtype) {
  switch (dtype) {
    case 1:
    case 2:
    case 6:
    case 19:
    case 20:
    case 23:
    case 24:
    case 25:
    case 28:
    case 29:
    case 33: return 1;
    case 3:
    case 7:
    case 10:
    case 16: return 2;
    case 4:
    case 8:
    case 11: return 4;
    case 5:
    case 9:
    case 12:
    case 15: return 8;
    case 18: return 16;
    default: return 0;
  }
}

struct Buffers {
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t size;
  int* types;
  void** buffers;
};

struct ByteSpan {
  const char* ptr;
  std::size_t len;
};
inline constexpr int attribute_string = 4;

struct Attributes {
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t size;
  int* types;
  ByteSpan** names;
  void** values;
};

inline constexpr int stage_execute = 3;

struct CallFrame {
  std::size_t struct_size;
  Extension* extensions;
  const Api* api;
  ExecutionContext* context;
  int stage;
  Buffers arguments;
  Buffers results;
  Attributes attributes;
};

}  // namespace patchfold::python::xla
