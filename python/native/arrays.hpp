// SPDX-License-Identifier: Apache-2.0
// Arrays of any kind as tensors: NumPy arrays directly, all others through patchfold._arrays.memory, which returns a RawArray.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "python/native/device.hpp"
#include "python/native/numpy_arrays.hpp"

namespace patchfold::python {

/// A tensor in memory that another library owns.
struct RawArray {
  TensorView view{};
  Location location{};
  bool writable = false;
  std::string dtype{};           ///< patchfold's name of the element type
  nb::object owner{};            ///< keeps the memory alive
  std::shared_ptr<void> hold{};  ///< keeps the memory alive if it came through DLPack

  /// Returns a tensor. address: the address of the element with index 0 on every axis; strides: in bytes; dtype: a name of
  /// patchfold; cuda: the number of its CUDA device, or -1; stream: its CUstream.
  static RawArray make(std::uintptr_t address, nb::handle shape, nb::handle strides, const std::string& dtype, bool writable,
                       nb::object owner, int cuda, std::uintptr_t stream);
  /// Returns the tensor of an object with __dlpack__. stream: nothing for memory of the processor (device type 1 of DLPack); for
  /// memory of a CUDA device the CUstream on which the tensor is used, for which the object's library makes the memory ready.
  /// writable: whether the caller knows that the tensor may be written to.
  /// Throws Error(type) for other memory, Error(dtype) for element types that the library lacks.
  static RawArray from_dlpack(nb::handle object, const std::string& op, const std::string& argument,
                              std::optional<std::uintptr_t> stream, bool writable);
};

/// An array that takes part in a call.
struct Operand {
  TensorView view{};
  bool writable = false;
  nb::object dtype{};  ///< the element type: NumPy's descriptor, or a name for other arrays
  nb::object owner{};
  bool is_torch = false;  ///< whether torch_memory() made the view
  Location location{};
};

/// Returns the type of a DLPack tensor's elements; null if the library lacks the type.
const DTypeInfo* type_of_dlpack(int code, int bits, int lanes);

bool is_numpy(nb::handle object);

/// Returns the operand of a torch tensor whose memory may be read directly (torch_memory()); nothing for other objects.
std::optional<Operand> torch_operand(nb::handle object);
/// Where the array of a call may lie.
enum class Reach : std::uint8_t { processor, anywhere };
/// Returns the operand of any array. Throws Error(type) for other objects, and for arrays that lie out of reach.
Operand operand_of(nb::handle object, const ArrayRole& role, bool to_write, Reach reach = Reach::processor);

/// Returns the addresses of the first byte of a view and of the byte after its last byte; two equal addresses for a view without
/// elements. Throws Error(overflow) for a view that reaches over 2^60 bytes or more.
std::pair<std::uintptr_t, std::uintptr_t> bytes_of(const TensorView& view, const ArrayRole& role);

/// Returns the element type of a NumPy array of numbers in the other byte order; nothing for other arrays.
std::optional<DType> swapped_type(const Operand& operand);
/// Returns an array in the other byte order as a row-major copy in this machine's order; with `form_only` only the layout of the
/// copy.
Operand in_own_order(const Operand& swapped, bool form_only);
/// Returns whether the NumPy array has the other byte order, while its view has a number's type, as if in this machine's
/// order.
bool is_in_own_order(const Operand& operand);
/// Exchanges the bytes of each element of a NumPy array in place.
void swap_bytes(nb::handle array);

/// Returns whether two arrays have the same element type. If both are NumPy arrays, NumPy compares their types.
bool same_elements(const Operand& a, const Operand& b);
std::string dtype_text(const Operand& operand);

/// A new array of the same kind as `like`.
class Output {
 public:
  Output(nb::handle like, const Operand& operand, const Dims& shape);
  void* data() const { return data_; }
  /// Returns the array in the caller's library. Call result() after the data is written, since some libraries copy the data.
  nb::object result() const;

 private:
  void* data_ = nullptr;
  nb::object holder_{};
  bool finished_ = true;  ///< whether the holder is the result itself
};

/// The least size in bytes of a result whose memory lies on large pages; NumPy has the same limit for its own arrays.
inline constexpr std::size_t least_on_large_pages = std::size_t{1} << 22;
/// Asks the system for large pages for the memory of a new result, if the result is large. Call this before anything is written.
void prefer_large_pages(void* memory, std::size_t bytes) noexcept;

/// Returns memory for a result, aligned to cache lines, as an object with __dlpack__.
nb::object new_buffer(nb::handle shape, const std::string& dtype);

}  // namespace patchfold::python
