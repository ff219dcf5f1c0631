// SPDX-License-Identifier: Apache-2.0
// The type of an element, as the entry 'descr' of a .npy header describes it.
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

/// "f4": an element type without its byte order.
std::string npy_name(const DTypeInfo& info);

/// An element, or a field of a record.
struct NpyType {
  char kind = 'V';            ///< NumPy's letter: b i u f c S U V M m; R for a record
  std::size_t size = 0;       ///< bytes
  std::size_t swap_unit = 1;  ///< bytes of a number that has to be reversed, in foreign byte order; else 1
  std::size_t repeat = 1;     ///< elements of the sub-array that a field of a record has
  std::string descr{};        ///< the entry in native byte order
  std::vector<NpyType> fields{};
};

/// Throws Error(file_format) for a text that does not name a type, and Error(file_unsupported) for objects and unknown
/// types.
NpyType npy_type(const Literal& descr, const Subject& subject);

/// The library's element type for it.
ElementType element_type(const NpyType& type);

/// Returns whether some numbers are in foreign byte order.
bool is_foreign(const NpyType& type);

/// Copies `count` elements, turning them into native byte order.
void copy_native(const NpyType& type, const std::byte* src, std::byte* dst, std::size_t count);

}  // namespace patchfold::formats
