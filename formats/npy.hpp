// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files, versions 1 to 3.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "patchfold/tensor.hpp"

namespace patchfold::formats {

/// The element type of a file. `descr` is the header's entry 'descr', in native byte order; new files get this entry too.
/// For opaque elements (strings, datetimes, records) it is the only name of their type.
struct ElementType {
  DType dtype = DType::float32;
  std::size_t size = 4;
  std::string descr = "'<f4'";
};

/// Returns the element type with which .npy files store a dtype: 'V2' for bfloat16, 'V1' for float8.
ElementType element_type(DType dtype);

/// A tensor that was read from a file. Its data is the mapped file, or memory of its own if bytes had to be swapped.
struct LoadedTensor {
  ConstTensorView view{};
  ElementType type{};
  std::shared_ptr<const void> owner{};  ///< keeps `view` alive
};

/// Reads a .npy file. `reinterpret_as` is the true type of elements that NumPy stores as V1, V2, u1 or u2 of the same size
/// (bfloat16, float8). The header's shape is compared with the size of the file before memory is allocated. Throws Error(file_open,
/// file_format, file_unsupported) with op "npy" and the path as argument.
LoadedTensor read_npy(const std::filesystem::path& path, std::optional<DType> reinterpret_as = std::nullopt);

}  // namespace patchfold::formats
