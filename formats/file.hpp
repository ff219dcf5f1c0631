// SPDX-License-Identifier: Apache-2.0
// Basics of all readers and writers: files as bytes, memory, and errors that name the file. Every function of formats/ that is not
// noexcept throws std::bad_alloc if memory runs out.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "patchfold/error.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold::formats {

/// The names, for errors, of a reader or writer and of its file.
struct Subject {
  std::string_view op;
  const std::filesystem::path& path;

  [[noreturn]] void fail(ErrorCode code, std::string rule, std::string given = {}, ErrorValue expected = {}) const;
  /// Throws the error of a failed system call: the rule, followed by the meaning of `error_number`, a value of errno.
  [[noreturn]] void fail_system(ErrorCode code, std::string_view rule, int error_number) const;
};

/// Returns the open descriptor for which a path of the command line stands; -1 for other paths. Such paths are "-" (its descriptor
/// is `dash`: 0 for a file to read, 1 for a file to write), /dev/stdin, /dev/stdout, /dev/stderr, /dev/fd/N and /proc/self/fd/N.
int standard_descriptor(std::string_view path, int dash) noexcept;
/// Returns whether a path names a device that takes bytes of any format.
bool is_device_name(std::string_view path) noexcept;
/// Opens a file without a name in the folder for temporary files ($TMPDIR, or the system's). Throws Error(file_write).
int open_unnamed_file(const Subject& subject);

/// The bytes of a whole file, if possible mapped into memory. Nobody may shorten the file while it is read.
struct FileBytes {
  std::span<const std::byte> bytes{};
  std::shared_ptr<const void> owner{};
};

/// Returns the bytes of a regular file, or of a stream for which standard_descriptor() finds a descriptor. Throws Error(file_open)
/// for anything else (a folder, a named pipe, a device).
FileBytes open_file(const Subject& subject);

/// A descriptor that is closed at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor();
  int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

/// A regular file that is read in parts. It is not mapped, so it does not count as memory of the process, and reading throws an
/// error if somebody shortens it. Readers jump within a file, so the bytes of a pipe are first stored in an unnamed temporary file,
/// once for the process. A stream whose first bytes show no known format is not stored.
class InputFile {
 public:
  /// Opens the file. Throws Error(file_open) in the same cases as open_file, and Error(file_write) if a stream cannot be stored.
  explicit InputFile(const Subject& subject);

  std::int64_t size() const noexcept { return size_; }
  int descriptor() const noexcept { return descriptor_.get(); }
  /// Reads at most `count` bytes and returns their number, which is smaller only at the end of the file; -1 and errno on failure.
  std::int64_t try_read_at(std::int64_t offset, void* dst, std::int64_t count) const noexcept;
  /// Reads as try_read_at() does, but throws Error(file_open) on failure.
  std::int64_t read_at(std::int64_t offset, void* dst, std::int64_t count, const Subject& subject) const;
  /// Reads exactly `count` bytes. Throws Error(file_open), and Error(file_format) if the file ends before.
  void read_all_at(std::int64_t offset, void* dst, std::int64_t count, const Subject& subject) const;

 private:
  std::int64_t size_ = 0;
  Descriptor descriptor_;
};

/// A file that is read once from beginning to end: the input of codecs in C, through which no exception may pass.
class InputChunks {
 public:
  explicit InputChunks(InputFile file) : file_(std::move(file)), buffer_(std::size_t{1} << 16) {}

  const InputFile& file() const noexcept { return file_; }
  /// Reads and returns the next bytes; an empty span at the end of the file, or if the system cannot read.
  std::span<const std::byte> next() noexcept;
  /// Throws Error(file_open) if next() returned an empty span because the system could not read.
  void throw_if_failed(const Subject& subject) const;

 private:
  InputFile file_;
  std::vector<std::byte> buffer_;
  std::int64_t position_ = 0;
  int error_ = 0;
};

/// Returns memory without initial values. Throws Error(out_of_memory) if memory is short, or at once if the machine has less than
/// `bytes`.
std::shared_ptr<std::byte> allocate(std::int64_t bytes, const Subject& subject);

/// Returns the number of bytes of a tensor; nothing if an extent is negative, or if the tensor would have more than 63 bits
/// of bytes with 1 in place of extents of 0.
std::optional<std::int64_t> byte_count(const Dims& shape, std::size_t element_size);

/// Returns the byte strides of a tensor without gaps, whose size byte_count() has checked. The last axis is the innermost axis;
/// with `fortran_order` the first axis is.
Dims dense_strides(const Dims& shape, std::size_t element_size, bool fortran_order = false);

/// Returns the first 40 characters, or all if there are fewer, with '?' for characters that are not printable ASCII.
std::string excerpt(std::string_view text);
/// Returns a text in Latin-1 as UTF-8.
std::string utf8_of_latin1(std::string_view text);
/// Returns "(1, 27, 49)", "(3,)", "()": a shape as Python writes it.
std::string shape_text(const Dims& shape);
/// Returns the names of all entries of a folder, in any order. Throws Error(file_open).
std::vector<std::string> names_in(const std::filesystem::path& folder, std::string_view op);
/// Returns "1 byte", "7 bytes".
std::string bytes_text(std::uint64_t count);

}  // namespace patchfold::formats
