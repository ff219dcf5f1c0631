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
  std::size_t bytes = 0;  ///< of the header: where the data begins
};

/// No header is longer, with what stands before it.
inline constexpr std::int64_t longest_npy_header = (std::int64_t{1} << 20) + 12;

/// Checks everything but whether the data is all there. `file` is the file, or its first `longest_npy_header` bytes;
/// `file_size` is that of all of it.
NpyHeader parse_npy_header(std::span<const std::byte> file, std::int64_t file_size, const Subject& subject);
inline NpyHeader parse_npy_header(std::span<const std::byte> file, const Subject& subject) {
  return parse_npy_header(file, static_cast<std::int64_t>(file.size()), subject);
}

/// Where the data ends; throws Error(file_format) if the file ends before.
std::int64_t checked_npy_end(const NpyHeader& header, std::int64_t file_size, const Subject& subject);

/// The header that NumPy writes for a row-major tensor, byte for byte.
std::string npy_header(const Dims& shape, const ElementType& type);

}  // namespace patchfold::formats
