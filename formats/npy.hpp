// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files, versions 1 to 3.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "patchfold/tensor.hpp"

namespace patchfold::formats {

/// An element type as a .npy file or the user names it. `descr` is the text of the header's 'descr' entry, native byte
/// order, and is what is written back: for opaque elements (strings, datetimes, records) it is the only name they have.
struct ElementType {
  DType dtype = DType::float32;
  std::size_t size = 4;
  std::string descr = "'<f4'";
};

/// The element type that .npy files give a dtype of this library: bfloat16 is written as 'V2', float8 as 'V1'.
ElementType element_type(DType dtype);

/// A tensor read from a file. The data is the mapped file itself, or memory of its own where bytes had to be swapped.
struct LoadedTensor {
  ConstTensorView view{};
  ElementType type{};
  std::shared_ptr<const void> owner{};  ///< keeps `view` alive
};

/// Reads a .npy file. `reinterpret_as` names what NumPy writes as V1, V2, u1 or u2 (bfloat16, float8): same size required.
/// Throws Error(file_open, file_format, file_unsupported) with op "npy" and the path as argument. Nothing is allocated in
/// proportion to what the header says before it has been compared with the size of the file.
LoadedTensor read_npy(const std::filesystem::path& path, std::optional<DType> reinterpret_as = std::nullopt);

}  // namespace patchfold::formats
