// SPDX-License-Identifier: Apache-2.0
// Files that are read and written row by row, so that what is larger than the memory can pass through. A row is one entry of
// the first axis. Memory: a row, a strip or a row of tiles, and what the codec keeps; an interlaced PNG and a progressive
// JPEG are held whole, and a compressed TIFF strip is held as it lies in the file.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "formats/file.hpp"
#include "formats/npy.hpp"
#include "patchfold/words.hpp"

namespace patchfold::formats {

/// A picture or an array that is read in the order of its first axis.
class RowReader {
 public:
  RowReader(const RowReader&) = delete;
  RowReader& operator=(const RowReader&) = delete;
  virtual ~RowReader() = default;

  /// Height, width and channels of a picture, C always present; any rank from 1 for .npy.
  const Dims& shape() const noexcept { return shape_; }
  const ElementType& type() const noexcept { return type_; }
  std::int64_t row_bytes() const noexcept { return row_bytes_; }
  /// The row that is read next.
  std::int64_t next() const noexcept { return next_; }
  /// Reads the next `count` rows, row-major, without gaps. Throws Error(file_open, file_format, file_unsupported,
  /// out_of_memory), and Error(value) if there are fewer rows. After an error no rows are left.
  void read(std::int64_t count, std::byte* dst);

 protected:
  RowReader(std::string_view op, std::filesystem::path path) : op_(op), path_(std::move(path)) {}
  Subject subject() const noexcept { return {op_, path_}; }
  /// What is read; to be called by constructors.
  void describe(const Dims& shape, ElementType type);

 private:
  virtual void read_rows(std::int64_t count, std::byte* dst) = 0;

  std::string_view op_;
  std::filesystem::path path_;
  Dims shape_{};
  ElementType type_{};
  std::int64_t row_bytes_ = 0;
  std::int64_t next_ = 0;
};

/// Opens a .npy, PNG, JPEG or TIFF file, told by its first bytes. `page` is that of a TIFF file, from 0; reduced copies and
/// masks do not count. It must be given if there are several. Throws Error(file_open, file_format, file_unsupported), and
/// Error(value) for a page that there is not. .npy files in Fortran order are not read by rows.
std::unique_ptr<RowReader> open_rows(const std::filesystem::path& path, std::optional<int> page = std::nullopt);

struct TiffOptions {
  enum class Compression { none, deflate, lzw, zstd };
  Compression compression = Compression::none;
  int tile = 0;             ///< side of square tiles in pixels, a multiple of 16; 0: strips
  bool always_big = false;  ///< BigTIFF also where the classic form holds the picture
};

/// A file that grows row by row and appears whole or not at all, as OutputFile says.
class RowWriter {
 public:
  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;
  virtual ~RowWriter() = default;

  const Dims& shape() const noexcept { return shape_; }
  const ElementType& type() const noexcept { return type_; }
  /// The row that is written next.
  std::int64_t next() const noexcept { return next_; }
  /// Appends rows: the shape is [count, rest of the file's shape..], with any strides. Throws Error(rank, shape, dtype)
  /// for rows that do not fit, and Error(file_write), after which nothing more can be written.
  void write(const ConstTensorView& rows);
  /// Makes the file appear. Throws Error(shape) if rows are missing, Error(file_write).
  void commit();

 protected:
  RowWriter(std::string_view op, std::filesystem::path path, const Dims& shape, ElementType type)
      : op_(op), path_(std::move(path)), shape_(shape), type_(std::move(type)) {}
  Subject subject() const noexcept { return {op_, path_}; }

 private:
  virtual void write_rows(const ConstTensorView& rows) = 0;  ///< at least one
  virtual void finish() = 0;
  void check_usable() const;

  std::string_view op_;
  std::filesystem::path path_;
  Dims shape_;
  ElementType type_;
  std::int64_t next_ = 0;
  bool is_usable_ = true;
};

/// Creates a file of this shape. The format follows from the name's extension: .npy, .png, .jpg, .jpeg, .tif or .tiff;
/// /dev/stdout and what else lies in /dev without one takes .npy. Pictures are H x W x C. PNG and JPEG hold uint8, PNG
/// uint16 as well; floating-point numbers are rounded to nearest even and clipped to 0..255. TIFF holds integers and
/// floating-point numbers of 8 to 64 bits as they are; bfloat16 becomes float32, which is exact. TIFF files must be regular
/// files.
std::unique_ptr<RowWriter> create_rows(const std::filesystem::path& path, const Dims& shape, const ElementType& type,
                                       const TiffOptions& options = {});

}  // namespace patchfold::formats

template <>
inline constexpr auto patchfold::words<patchfold::formats::TiffOptions::Compression> =
    std::to_array<patchfold::Word<patchfold::formats::TiffOptions::Compression>>(
        {{patchfold::formats::TiffOptions::Compression::none, "none"},
         {patchfold::formats::TiffOptions::Compression::deflate, "deflate"},
         {patchfold::formats::TiffOptions::Compression::lzw, "lzw"},
         {patchfold::formats::TiffOptions::Compression::zstd, "zstd"}});
