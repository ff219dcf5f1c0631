// SPDX-License-Identifier: Apache-2.0
// Files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

#include "formats/npy.hpp"

namespace patchfold::formats {

/// Takes the bytes of a file, in order.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void write(const void* data, std::size_t bytes) = 0;
};

/// A file that is written under a temporary name, in the folder of its path, or of the file to which the path links.
/// `commit` gives the file its own name. Without commit the destructor removes the temporary file, and the file at the path
/// stays as it was. A new file gets the permissions of the file that it replaces. Standard output ("-"), /dev/null, pipes
/// and other files that are not regular are written directly. Throws Error(file_write) with the writer as op and the path as
/// argument.
class OutputFile final : public ByteSink {
 public:
  /// regular: the file is not written in order, from its first byte to its last. A standard stream then gets the bytes of a
  /// temporary file on commit; other paths to files that are not regular are refused before they are opened.
  enum class Kind { any, regular };

  explicit OutputFile(std::filesystem::path path, std::string_view writer = "file", Kind kind = Kind::any);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() override;

  void write(const void* data, std::size_t bytes) override;
  /// write_at() writes at any offset of a `regular` file, in place of `write`. read_at() reads back up to `bytes` bytes and returns
  /// their number.
  void write_at(std::int64_t offset, const void* data, std::size_t bytes);
  std::size_t read_at(std::int64_t offset, void* dst, std::size_t bytes);
  /// Makes the file `bytes` long, reserves its space on the disk, and returns it mapped for writing. Must be called at most
  /// once, before any write.
  std::byte* map(std::size_t bytes);
  void commit();
  /// Returns the path of the temporary file; empty if the file is written directly.
  const std::filesystem::path& temporary() const noexcept { return temporary_; }

 private:
  void create_temporary();
  void copy_to_stream();
  void unmap() noexcept;

  std::filesystem::path path_;
  std::string_view writer_;
  std::filesystem::path target_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
  int stream_ = -1;  ///< the stream that gets the file on commit
  void* mapping_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  bool is_buffer_ = false;  ///< the mapping is memory without a file, whose bytes commit writes
};

/// A new row-major .npy file of known shape, whose elements are computed in place, in the mapped file.
class NpyOutput {
 public:
  NpyOutput(std::filesystem::path path, const Dims& shape, const ElementType& type);
  const TensorView& view() const noexcept { return view_; }
  void commit() { file_.commit(); }

 private:
  OutputFile file_;
  TensorView view_{};
};

/// Writes any view as a row-major .npy file. The file appears complete or not at all.
void write_npy(const std::filesystem::path& path, const ConstTensorView& tensor, const ElementType& type);

}  // namespace patchfold::formats
