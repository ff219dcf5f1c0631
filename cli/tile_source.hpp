// SPDX-License-Identifier: Apache-2.0
// The picture or array from which tiles are cut. Only the rows of the current tiles are in memory.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "formats/rows.hpp"
#include "patchfold/tiling.hpp"

namespace patchfold::cli {

/// Loads the rows of tiles in ascending order. An array is mapped, instead of read by rows, if it is not row-major, or if its tiles
/// do not follow one another along its first axis.
class TileSource {
 public:
  /// Opens the file. Throws the same errors as open_rows.
  TileSource(std::filesystem::path path, std::optional<int> page, int level = 0);
  TileSource(const TileSource&) = delete;
  TileSource& operator=(const TileSource&) = delete;

  bool is_npy() const noexcept { return is_npy_; }
  const Dims& shape() const noexcept { return reader_ ? reader_->shape() : whole_.view.shape; }
  /// Returns the metadata of the picture; of an array none.
  const formats::Metadata& metadata() const noexcept { return metadata_; }
  const formats::ElementType& type() const noexcept { return reader_ ? reader_->type() : whole_.type; }

  /// Chooses between reading by rows and mapping. Must be called once, before the first tile is cut. The tiling must outlive
  /// this object, and must have tiles.
  void lay_out(const Tiling& tiling);
  /// Returns the most bytes of rows that are in memory at one time.
  std::int64_t memory_bytes() const noexcept { return rows_held_ * row_bytes(); }
  /// Loads the rows for row `row` of tiles, along the first tiled axis. Throws the same errors as RowReader::read.
  void load_row(std::int64_t row);
  /// Cuts a tile of the loaded row as Tiling::cut does. Several threads may call cut() at once.
  void cut(std::int64_t index, const TensorView& tile, Executor& executor) const;

 private:
  /// Returns the tiling of the rows `rows` of the array, as an array of its own, with only the tiles of row `row`.
  Tiling tiling_of(std::int64_t row, Span rows) const;
  void load(Span rows);
  std::int64_t row_bytes() const noexcept { return reader_ ? reader_->row_bytes() : 0; }

  std::filesystem::path path_;
  bool is_npy_ = false;
  std::unique_ptr<formats::RowReader> reader_{};
  formats::Metadata metadata_{};
  formats::LoadedTensor whole_{};  ///< the mapped array, if there is no reader
  const Tiling* tiling_ = nullptr;
  std::int64_t rows_held_ = 0;  ///< the most rows in memory
  std::shared_ptr<std::byte> memory_{};
  Span held_{};
  std::vector<Span> bands_{};  ///< for each row of tiles, the rows of the array that are in memory
  std::optional<Tiling> band_{};
};

}  // namespace patchfold::cli
