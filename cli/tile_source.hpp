// SPDX-License-Identifier: Apache-2.0
// A picture or an array from which tiles are cut, of which only the rows of the tiles at hand are in memory.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "formats/rows.hpp"
#include "patchfold/tiling.hpp"

namespace patchfold::cli {

/// Rows of tiles are loaded in ascending order. An array whose tiles do not follow one another along its first axis, or that
/// is not row-major, is the mapped file.
class TileSource {
 public:
  /// Throws Error as open_rows does.
  TileSource(std::filesystem::path path, std::optional<int> page);
  TileSource(const TileSource&) = delete;
  TileSource& operator=(const TileSource&) = delete;

  bool is_npy() const noexcept { return is_npy_; }
  const Dims& shape() const noexcept { return reader_ ? reader_->shape() : whole_.view.shape; }
  /// Returns the metadata of a picture.
  const formats::Metadata& metadata() const noexcept { return metadata_; }
  const formats::ElementType& type() const noexcept { return reader_ ? reader_->type() : whole_.type; }

  /// Chooses the way of reading; to be called once, before anything is cut. The tiling must live as long, and have tiles.
  void lay_out(const Tiling& tiling);
  /// Bytes of rows that are held.
  std::int64_t memory_bytes() const noexcept { return rows_held_ * row_bytes(); }
  /// Holds what tiles of that row, along the first tiled axis, are cut from. Throws Error as RowReader::read does.
  void load_row(std::int64_t row);
  /// Cuts a tile of that row, as Tiling::cut does; from several threads at once.
  void cut(std::int64_t index, const TensorView& tile, Executor& executor) const;

 private:
  /// Rows of the array that are in memory for a row of tiles, as an array of their own.
  struct Band {
    Span rows{};
    std::int64_t tiles_before = 0;  ///< rows of tiles of the band before the one that is wanted
    Tiling tiling;
  };
  Band band_of(std::int64_t row) const;
  void load(Span rows);
  std::int64_t row_bytes() const noexcept { return reader_ ? reader_->row_bytes() : 0; }

  std::filesystem::path path_;
  bool is_npy_ = false;
  std::unique_ptr<formats::RowReader> reader_{};
  formats::Metadata metadata_{};
  formats::LoadedTensor whole_{};  ///< without a reader
  const Tiling* tiling_ = nullptr;
  std::int64_t rows_held_ = 0;  ///< at most
  std::shared_ptr<std::byte> memory_{};
  Span held_{};
  std::optional<Band> band_{};
};

}  // namespace patchfold::cli
