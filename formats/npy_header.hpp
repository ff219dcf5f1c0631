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

/// Checks everything but whether the data is all there.
NpyHeader parse_npy_header(std::span<const std::byte> file, const Subject& subject);

/// The header that NumPy writes for a row-major tensor, byte for byte.
std::string npy_header(const Dims& shape, const ElementType& type);

}  // namespace patchfold::formats
