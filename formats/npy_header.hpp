// SPDX-License-Identifier: Apache-2.0
// The header of a .npy file: magic, version, length, and a Python dictionary with 'descr', 'fortran_order' and 'shape'.
// Defined by NumPy's numpy/lib/format.py and NEP 1.
#pragma once

#include <string>

#include "formats/npy_type.hpp"

namespace patchfold::formats {

struct NpyHeader {
  NpyType type{};
  bool fortran_order = false;
  Dims shape{};
  std::size_t bytes = 0;  ///< length of the header, after which the data begins
};

/// The most bytes of a header, including magic, version and length.
inline constexpr std::int64_t longest_npy_header = (std::int64_t{1} << 20) + 12;

/// Returns the header of a file, after checking it; does not check whether the file holds all data. `file` is the whole file or its
/// first `longest_npy_header` bytes; `file_size` is the size of the whole file.
NpyHeader parse_npy_header(std::span<const std::byte> file, std::int64_t file_size, const Subject& subject);
inline NpyHeader parse_npy_header(std::span<const std::byte> file, const Subject& subject) {
  return parse_npy_header(file, static_cast<std::int64_t>(file.size()), subject);
}

/// Returns the offset of the end of the data. Throws Error(file_format) if the file ends before.
std::int64_t checked_npy_end(const NpyHeader& header, std::int64_t file_size, const Subject& subject);

/// Returns the header that NumPy writes for a row-major tensor, byte for byte.
std::string npy_header(const Dims& shape, const ElementType& type);

}  // namespace patchfold::formats
