// SPDX-License-Identifier: Apache-2.0
// Uses libtiff with InputFile and OutputFile: libtiff calls functions here to read and write; it neither maps files nor prints.
#pragma once

#include <tiffio.h>

#include <exception>

#include "formats/file.hpp"
#include "formats/metadata.hpp"
#include "formats/output_file.hpp"
#include "patchfold/dtype.hpp"

namespace patchfold::formats {

/// Returns the constant of libtiff for the kind of a dtype: SAMPLEFORMAT_UINT, _INT or _IEEEFP; 0 if TIFF files do not hold the
/// dtype.
constexpr int sample_format(DType dtype) noexcept {
  switch (kind_of(dtype)) {
    case ElementKind::unsigned_integer: return SAMPLEFORMAT_UINT;
    case ElementKind::signed_integer: return SAMPLEFORMAT_INT;
    case ElementKind::real: return info_of(dtype).numpy_kind == 'f' ? SAMPLEFORMAT_IEEEFP : 0;
    default: return 0;
  }
}

class TiffFile {
 public:
  /// Opens a file for reading, at its first page. If this page is damaged, libtiff's handle is null.
  explicit TiffFile(InputFile file);
  /// Opens a file for writing. `file` must outlive this object.
  TiffFile(OutputFile& file, bool big);
  TiffFile(const TiffFile&) = delete;
  TiffFile& operator=(const TiffFile&) = delete;
  ~TiffFile() { close(false); }

  TIFF* get() const noexcept { return tiff_; }
  const InputFile& input() const noexcept { return *input_; }
  /// Returns whether libtiff has reported an error.
  bool has_failed() const noexcept { return message_[0] != '\0' || failure_ || read_error_ != 0; }
  /// Throws the error that stopped libtiff: the exception of an InputFile or OutputFile, Error(file_open) if the system could not
  /// read, or else Error(code) with the rule and libtiff's message.
  [[noreturn]] void fail(const Subject& subject, ErrorCode code, std::string_view rule) const;
  /// Closes a written file. With `whole`, writes the bytes that libtiff still holds in its buffers; else drops them.
  void close(bool whole) noexcept;

 private:
  TIFF* open(const char* mode);
  std::int64_t size() const noexcept;
  std::int64_t read(void* dst, std::int64_t count) noexcept;
  std::int64_t write(const void* data, std::int64_t count) noexcept;

  static tmsize_t on_read(thandle_t handle, void* dst, tmsize_t count);
  static tmsize_t on_write(thandle_t handle, void* data, tmsize_t count);
  static toff_t on_seek(thandle_t handle, toff_t offset, int origin);
  static int on_close(thandle_t) { return 0; }
  static toff_t on_size(thandle_t handle);
  static int on_error(TIFF*, void* user, const char* module, const char* format, va_list values);
  static int on_warning(TIFF*, void* user, const char* module, const char* format, va_list values);

  std::optional<InputFile> input_{};
  OutputFile* output_ = nullptr;
  std::int64_t position_ = 0;
  std::int64_t written_ = 0;  ///< the size that the written file has so far
  bool is_discarded_ = false;
  bool is_without_options_ = false;  ///< memory for libtiff's options ran out
  int read_error_ = 0;
  std::exception_ptr failure_{};
  char message_[200] = {};
  TIFF* tiff_ = nullptr;
};

/// Reads the metadata of the file's current page.
Metadata tiff_metadata(TIFF* tiff);
/// Sets the fields of a page that is being written. Returns false if libtiff refuses a field.
bool set_tiff_metadata(TIFF* tiff, const Metadata& metadata);
/// Returns the number of bytes that the metadata's fields take in a file.
std::size_t metadata_bytes(const Metadata& metadata) noexcept;

}  // namespace patchfold::formats
