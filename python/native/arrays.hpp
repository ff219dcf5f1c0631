// SPDX-License-Identifier: Apache-2.0
// Arrays of any kind as tensors: NumPy's directly, all others through patchfold._arrays.memory, which hands over a RawArray.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "python/native/numpy_arrays.hpp"

namespace patchfold::python {

/// A tensor in memory that another library owns.
struct RawArray {
  TensorView view{};
  bool writable = false;
  std::string dtype{};           ///< as its library names it
  nb::object owner{};            ///< keeps the memory alive
  std::shared_ptr<void> hold{};  ///< the same for what came through DLPack

  /// address: of the element with index 0 on every axis; strides: in bytes; dtype: a name of the library.
  static RawArray make(std::uintptr_t address, nb::handle shape, nb::handle strides, const std::string& dtype, bool writable,
                       nb::object owner);
  /// From an object with __dlpack__ in memory that the processor reads. Throws Error(type) for other memory, Error(dtype)
  /// for element types that the library does not have.
  static RawArray from_dlpack(nb::handle object, const std::string& op, const std::string& argument);
};

/// An array that takes part in a call.
struct Operand {
  TensorView view{};
  bool writable = false;
  nb::object dtype{};  ///< for NumPy the descriptor, for others the name
  nb::object owner{};
  bool is_torch = false;  ///< a tensor that torch_memory() found
};

/// The type of a DLPack tensor's elements; null if the library does not have it.
const DTypeInfo* type_of_dlpack(int code, int bits, int lanes);

bool is_numpy(nb::handle object);

/// A tensor of torch whose elements may just be read (torch_memory()); nothing for any other object.
std::optional<Operand> torch_operand(nb::handle object);
/// Throws Error(type) for what is no array.
Operand operand_of(nb::handle object, const ArrayRole& role, bool to_write);

/// First and one past the last byte of a view; the same twice if it has no elements. Throws Error(overflow) for strides that
/// no memory has.
std::pair<std::uintptr_t, std::uintptr_t> bytes_of(const TensorView& view, const ArrayRole& role);

/// Whether the elements of both are the same to the library that owns them.
bool same_elements(const Operand& a, const Operand& b);
std::string dtype_text(const Operand& operand);

/// A new array of the same kind as `like`.
class Output {
 public:
  Output(nb::handle like, const Operand& operand, const Dims& shape);
  void* data() const { return data_; }
  /// The array, as the caller's library knows it. Call it after the data is written: some libraries copy.
  nb::object result() const;

 private:
  void* data_ = nullptr;
  nb::object holder_{};
  bool finished_ = true;  ///< the holder is the result
};

/// Bytes from which on the memory of a result lies on large pages, as NumPy's own arrays do.
inline constexpr std::size_t least_on_large_pages = std::size_t{1} << 22;
/// Asks for large pages behind the memory of a new result, if it is large. Call it before anything is written there.
void prefer_large_pages(void* memory, std::size_t bytes) noexcept;

/// Memory for a result, aligned to cache lines, as an object with __dlpack__.
nb::object new_buffer(nb::handle shape, const std::string& dtype);

}  // namespace patchfold::python
