// SPDX-License-Identifier: Apache-2.0
// Files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>

#include "formats/npy.hpp"

namespace patchfold::formats {

/// A file that is written under a temporary name in the folder of its path. `commit` renames it; without commit the
/// destructor removes it, and what stood at the path is untouched. Throws Error(file_write).
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  void write(const void* data, std::size_t bytes);
  /// Makes the file `bytes` long, reserves the space on the disk, and maps it for writing.
  std::byte* map(std::size_t bytes);
  void commit();
  /// Path of the temporary file.
  const std::filesystem::path& temporary() const noexcept { return temporary_; }

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
  void* mapping_ = nullptr;
  std::size_t mapped_bytes_ = 0;
};

/// A row-major .npy file of known shape whose elements are computed straight into the mapped file.
class NpyOutput {
 public:
  NpyOutput(std::filesystem::path path, const Dims& shape, const ElementType& type);
  const TensorView& view() const noexcept { return view_; }
  void commit() { file_.commit(); }

 private:
  OutputFile file_;
  TensorView view_{};
};

/// Writes any view as a row-major .npy file, atomically.
void write_npy(const std::filesystem::path& path, const ConstTensorView& tensor, const ElementType& type);

}  // namespace patchfold::formats
