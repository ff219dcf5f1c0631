// SPDX-License-Identifier: Apache-2.0
// The type of an element from the entry 'descr' of a .npy header.
#pragma once

#include <bit>
#include <cstddef>
#include <string>
#include <vector>

#include "formats/file.hpp"
#include "formats/literal.hpp"
#include "formats/npy.hpp"

namespace patchfold::formats {

inline constexpr char native_order = std::endian::native == std::endian::little ? '<' : '>';

/// Returns "f4", ..: an element type without its byte order.
std::string npy_name(const DTypeInfo& info);

/// The type of an element, or of a field of a record.
struct NpyType {
  char kind = 'V';            ///< NumPy's letter: b i u f c S U V M m; R for a record
  std::size_t size = 0;       ///< bytes
  std::size_t swap_unit = 1;  ///< the bytes of a number, which are reversed if the byte order is foreign; 1: none are
  std::size_t repeat = 1;     ///< of a record's field: the number of elements in its sub-array
  std::string descr{};        ///< the header's entry in native byte order
  std::vector<NpyType> fields{};
};

/// Returns the type that a 'descr' entry describes. Throws Error(file_format) for a text that names no type, and
/// Error(file_unsupported) for objects and unknown types.
NpyType npy_type(const Literal& descr, const Subject& subject);

/// Returns the library's element type for an NpyType.
ElementType element_type(const NpyType& type);

/// Returns whether the type contains numbers that are not in the machine's byte order.
bool is_foreign(const NpyType& type);

/// Copies `count` elements, turning them into native byte order.
void copy_native(const NpyType& type, const std::byte* src, std::byte* dst, std::size_t count);

}  // namespace patchfold::formats
