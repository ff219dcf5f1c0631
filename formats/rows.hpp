// SPDX-License-Identifier: Apache-2.0
// Files that are read and written row by row, so that they may be larger than the memory. A row is one entry of the first axis. A
// reader or writer holds one row, one strip, or one row of tiles in memory. Three things are in memory as a whole: an interlaced
// PNG, a progressive JPEG, and the compressed bytes of a TIFF strip.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/file.hpp"
#include "formats/metadata.hpp"
#include "formats/npy.hpp"
#include "patchfold/plan.hpp"
#include "patchfold/words.hpp"

namespace patchfold::formats {

/// Reads a picture or an array in the order of its first axis.
class RowReader {
 public:
  RowReader(const RowReader&) = delete;
  RowReader& operator=(const RowReader&) = delete;
  virtual ~RowReader() = default;

  /// Returns height, width and channels of a picture (three axes even for one channel); a .npy file has any rank from 1.
  const Dims& shape() const noexcept { return shape_; }
  const ElementType& type() const noexcept { return type_; }
  std::int64_t row_bytes() const noexcept { return row_bytes_; }
  /// Returns the file's metadata; of a PNG file only what stands before the pixels.
  const Metadata& metadata() const noexcept { return metadata_; }
  /// Returns the number of the row that is read next.
  std::int64_t next() const noexcept { return next_; }
  /// Reads the next `count` rows, row-major, without gaps. Throws Error(file_open, file_format, file_unsupported, out_of_memory),
  /// and Error(value) if fewer rows are left. After an error no rows are left.
  void read(std::int64_t count, std::byte* dst);

 protected:
  RowReader(std::string_view op, std::filesystem::path path) : op_(op), path_(std::move(path)) {}
  Subject subject() const noexcept { return {op_, path_}; }
  /// Sets the shape and the type; the constructor of each reader calls it.
  void describe(const Dims& shape, ElementType type);
  void carry(Metadata metadata) { metadata_ = std::move(metadata); }

 private:
  virtual void read_rows(std::int64_t count, std::byte* dst) = 0;

  std::string_view op_;
  std::filesystem::path path_;
  Dims shape_{};
  ElementType type_{};
  Metadata metadata_{};
  std::int64_t row_bytes_ = 0;
  std::int64_t next_ = 0;
};

/// Returns the format that the extension of a file's name means, in upper or lower case; nothing for an unknown extension.
std::optional<FileFormat> format_of_name(const std::filesystem::path& path);
/// Returns the format that a file's first bytes show. Throws Error(file_open, file_format, file_unsupported).
FileFormat format_of_file(const std::filesystem::path& path);

/// Returns a reader of a .npy, PNG, JPEG or TIFF file, whose first bytes show the format. `page` is the page of a TIFF file,
/// counted from 0 without reduced copies and masks; a file with several pages requires it. `level` is 0 for the page itself, 1
/// for the largest of its reduced copies, and so on; these lie in pages behind it, or in its SubIFDs. Throws Error(file_open,
/// file_format, file_unsupported), and Error(value) if the file has no such page or level. .npy files in Fortran order cannot
/// be read by rows.
std::unique_ptr<RowReader> open_rows(const std::filesystem::path& path, std::optional<int> page = std::nullopt,
                                     int level = 0);

struct TiffOptions {
  enum class Compression { none, deflate, lzw, zstd, jpeg };
  /// How 2 x 2 pixels become one of an overview (Halving). standard: mean for floating-point numbers, nearest for integers.
  enum class Overviews : std::uint8_t { standard, mean, nearest, none };
  Compression compression = Compression::none;
  int tile = 0;             ///< side of square tiles in pixels, a multiple of 16; 0: strips
  bool always_big = false;  ///< BigTIFF also if the picture fits into a classic TIFF file
  bool is_cloud = false;    ///< cloud-optimised: with overviews, and in the order of OGC's standard 21-026; needs tiles
  bool as_bands = false;    ///< 3 and 4 channels of 8 or 16 bits are bands, not colours
  Overviews overviews = Overviews::standard;
};

class PixelRows;

/// The numbers that become black and white; the numbers between them become greys.
struct ValueRange {
  double black = 0;
  double white = 255;
};

struct WriteOptions {
  TiffOptions tiff{};
  int jpeg_quality = 95;               ///< 1 to 100
  std::optional<ValueRange> range{};   ///< the floating-point numbers that become 0 to 255; none: 0 to 255
  std::optional<FileFormat> format{};  ///< none: the format that the name's extension means
  Metadata metadata{};                 ///< what the format cannot hold is a loss
  Executor* executor = nullptr;        ///< compresses PNG; null: the default executor

  WriteOptions() = default;
  WriteOptions(const TiffOptions& options) : tiff(options) {}
};

/// Writes a file row by row. The file appears complete or not at all, as with OutputFile.
class RowWriter {
 public:
  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;
  virtual ~RowWriter() = default;

  const Dims& shape() const noexcept { return shape_; }
  const ElementType& type() const noexcept { return type_; }
  /// Returns the number of the row that is written next.
  std::int64_t next() const noexcept { return next_; }
  /// Returns the losses: a line for each kind of data that the caller gave and the file cannot hold. The list is complete
  /// only after commit().
  const std::vector<std::string>& losses() const noexcept { return losses_; }
  /// Appends rows of shape [count, rest of the file's shape..], of any strides. Throws Error(rank, shape, dtype) for rows that do
  /// not fit the file, and Error(file_write), after which nothing more can be written.
  void write(const ConstTensorView& rows);
  /// Completes the file and gives it its name. Throws Error(shape) if rows are missing, Error(file_write), and Error(value) if all
  /// floating-point numbers lie between 0 and 1 although 255 is white: the picture would be black.
  void commit();

 protected:
  RowWriter(std::string_view op, std::filesystem::path path, const Dims& shape, ElementType type)
      : op_(op), path_(std::move(path)), shape_(shape), type_(std::move(type)) {}
  Subject subject() const noexcept { return {op_, path_}; }
  void lose(std::string what) { losses_.push_back(std::move(what)); }
  /// Returns the part of the options' metadata that the format can hold; records the rest as losses.
  Metadata kept_metadata(const WriteOptions& options, FileFormat format);
  /// Throws for a picture that would be black by mistake. Records the clipped values as a loss.
  void finish_values(const PixelRows& pixels);

 private:
  virtual void write_rows(const ConstTensorView& rows) = 0;  ///< `rows` has at least one row
  virtual void finish() = 0;
  void check_usable() const;

  std::string_view op_;
  std::filesystem::path path_;
  Dims shape_;
  ElementType type_;
  std::int64_t next_ = 0;
  bool is_usable_ = true;
  std::vector<std::string> losses_{};
};

/// Returns a writer of a new file of this shape. Without options.format the extension of the name decides: .npy, .png, .jpg, .jpeg,
/// .tif or .tiff; "-" (standard output), /dev/stdout and other files of /dev get .npy. Pictures are H x W x C. PNG and JPEG hold
/// uint8, and PNG uint16 too. In both, floating-point numbers become uint8: they are mapped from options.range to 0..255,
/// rounded to nearest even and clipped. TIFF holds integers and floating-point numbers of 8 to 64 bits unchanged, and
/// bfloat16 as float32, which is exact. A TIFF file is not written in order, so standard output gets the complete file at
/// the end, and any other file must be regular.
std::unique_ptr<RowWriter> create_rows(const std::filesystem::path& path, const Dims& shape, const ElementType& type,
                                       const WriteOptions& options = {});

}  // namespace patchfold::formats

template <>
inline constexpr auto patchfold::words<patchfold::formats::FileFormat> =
    std::to_array<patchfold::Word<patchfold::formats::FileFormat>>({{patchfold::formats::FileFormat::npy, "npy"},
                                                                    {patchfold::formats::FileFormat::png, "png"},
                                                                    {patchfold::formats::FileFormat::jpeg, "jpg"},
                                                                    {patchfold::formats::FileFormat::tiff, "tif"}});

template <>
inline constexpr auto patchfold::words<patchfold::formats::TiffOptions::Compression> =
    std::to_array<patchfold::Word<patchfold::formats::TiffOptions::Compression>>(
        {{patchfold::formats::TiffOptions::Compression::none, "none"},
         {patchfold::formats::TiffOptions::Compression::deflate, "deflate"},
         {patchfold::formats::TiffOptions::Compression::lzw, "lzw"},
         {patchfold::formats::TiffOptions::Compression::zstd, "zstd"},
         {patchfold::formats::TiffOptions::Compression::jpeg, "jpeg"}});

template <>
inline constexpr auto patchfold::words<patchfold::formats::TiffOptions::Overviews> =
    std::to_array<patchfold::Word<patchfold::formats::TiffOptions::Overviews>>(
        {{patchfold::formats::TiffOptions::Overviews::mean, "mean"},
         {patchfold::formats::TiffOptions::Overviews::nearest, "nearest"},
         {patchfold::formats::TiffOptions::Overviews::none, "none"}});
