// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests of formats: files made of bytes, comparisons of errors, and limits of the process.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/rows.hpp"

namespace patchfold::formats::test {

/// A folder for one test, which the destructor removes.
class TempFolder {
 public:
  TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder();

  const std::filesystem::path& path() const noexcept { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  /// Returns the names in the folder, sorted.
  std::vector<std::string> names() const;

 private:
  std::filesystem::path path_;
};

/// Gives up root's rights while the object lives.
class Unprivileged {
 public:
  Unprivileged();
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;
  ~Unprivileged();

 private:
  bool was_root_;
};

/// Limits the size of files to `bytes` while the object lives, like a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::uint64_t bytes);
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit();

 private:
  std::uint64_t before_ = 0;
  void (*handler_)(int) = nullptr;
};

/// Makes a named pipe.
void make_pipe(const std::filesystem::path& path);

void write_bytes(const std::filesystem::path& path, std::string_view bytes);
std::string read_bytes(const std::filesystem::path& path);

/// Returns a number as its bytes, lowest first.
template <class T>
std::string bytes_of(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}
std::string reversed(std::string bytes);
/// Returns bytes of which each differs from its neighbours.
std::string counting(std::size_t bytes);
/// Returns bytes that look random.
std::string noise(std::size_t size);
template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes;
  for (const T value : values) bytes += bytes_of(value);
  return bytes;
}

/// Returns the bytes of a .npy file. `dictionary` is the text of the header, which is padded as the version requires.
std::string npy_file(std::string_view dictionary, std::string_view data, int major = 1);
/// Returns the text of a header's dictionary, as NumPy writes it.
std::string npy_dictionary(std::string_view descr, std::string_view shape, bool fortran_order = false);

/// Returns the elements of a view in row-major order.
std::string elements_of(const ConstTensorView& view);

/// Returns all rows of a file, read three at a time.
std::string rows_of(RowReader& reader);

/// Runs `action`, and expects an Error with the code, op and path, and with `fragment` in its text.
void expect_error(const std::function<void()>& action, ErrorCode code, std::string_view op,
                  const std::filesystem::path& path, std::string_view fragment);

inline constexpr ErrorCode format = ErrorCode::file_format;
inline constexpr ErrorCode unsupported = ErrorCode::file_unsupported;

/// The content of a damaged file, and the error that it must raise.
struct Damaged {
  std::string name{};
  std::string bytes{};
  ErrorCode code{};
  std::string fragment{};
  std::string_view op{};
};

/// For each of `files`: writes its bytes to `path`, and expects `read` to throw its error. The error's op must be the file's
/// `op`, or the argument `op` where the file has none.
void expect_errors(const std::filesystem::path& path, std::string_view op,
                   const std::function<void(const std::filesystem::path&)>& read, const std::vector<Damaged>& files);

}  // namespace patchfold::formats::test
