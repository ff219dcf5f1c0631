// SPDX-License-Identifier: Apache-2.0
// A page of a TIFF file that is written row by row.
#pragma once

#include "formats/rows.hpp"
#include "formats/tiff_file.hpp"

namespace patchfold::formats {

/// The form of a page. Its blocks are strips of whole rows, or square tiles.
struct TiffPlan {
  /// Plans a page of H x W x C. Throws Error(rank, shape, dtype, value, file_unsupported) for a picture that TIFF cannot
  /// hold in this form.
  TiffPlan(const Dims& shape, const ElementType& type, const WriteOptions& options, const Subject& subject);

  Dims shape;
  DType dtype;  ///< the type of the samples in the file
  TiffOptions options;
  int jpeg_quality;
  bool is_rgb;
  std::int64_t sample_bytes = 0;
  std::int64_t row_bytes = 0;
  std::int64_t block_height = 0;
  std::int64_t block_row_bytes = 0;
  std::int64_t most_bytes = 0;  ///< the most bytes that the page takes in a file, without metadata

  /// Sets the fields of the page. Returns false if libtiff refuses a field.
  bool set_fields(TIFF* tiff) const;

 private:
  int predictor() const;
};

/// Writes a page to a file of its own.
class TiffPage {
 public:
  /// Begins the file, which appears at `path` on commit. `path` of `subject` must outlive this object.
  TiffPage(const TiffPlan& plan, bool big, const Metadata& metadata, const Subject& subject);

  const TiffPlan& plan() const noexcept { return plan_; }
  /// Returns the file; before commit, its blocks can be read in the form in which the file stores them.
  TIFF* tiff() const noexcept { return file_.get(); }
  /// Returns the number of the row that comes next, and the memory for it, which keeps its bytes until the next row is
  /// there.
  std::int64_t next() const noexcept { return first_ + rows_; }
  std::byte* room() const noexcept { return band_.get() + rows_ * plan_.row_bytes; }
  /// Takes the row that is in room().
  void take_row();
  void commit();
  [[noreturn]] void fail() const { file_.fail(subject_, ErrorCode::file_write, "cannot be written as TIFF"); }

 private:
  void write_strip();
  void write_tiles();

  TiffPlan plan_;
  Subject subject_;
  std::shared_ptr<std::byte> band_;  ///< the rows of the current strip, or row of tiles
  OutputFile output_;
  TiffFile file_;
  std::vector<std::byte> tile_{};
  std::int64_t first_ = 0;
  std::int64_t rows_ = 0;
};

/// Writes a cloud-optimised TIFF file from all its levels, each the page of a temporary file: all directories, and then the
/// tiles, the smallest level first, so that a reader finds overviews with few requests. Throws Error(file_write).
void write_cloud_tiff(const std::vector<std::unique_ptr<TiffPage>>& levels, bool big, const Metadata& metadata,
                      const Subject& subject);

}  // namespace patchfold::formats
