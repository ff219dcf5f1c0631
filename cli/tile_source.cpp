// SPDX-License-Identifier: Apache-2.0
#include "cli/tile_source.hpp"

#include <algorithm>
#include <cstring>

#include "formats/file.hpp"

namespace patchfold::cli {

TileSource::TileSource(std::filesystem::path path, std::optional<int> page, int level)
    : path_(std::move(path)), is_npy_(formats::format_of_file(path_) == formats::FileFormat::npy) {
  try {
    reader_ = formats::open_rows(path_, page, level);
    metadata_ = reader_->metadata();
  } catch (const Error& error) {
    // Only .npy arrays in Fortran order or without axes are mapped; all other files are read by rows.
    if (!is_npy_ || error.code() != ErrorCode::file_unsupported) throw;
    whole_ = formats::read_npy(path_);
  }
}

void TileSource::lay_out(const Tiling& tiling) {
  tiling_ = &tiling;
  if (reader_ && tiling.stream_axis() != 0) {
    reader_.reset();
    whole_ = formats::read_npy(path_);
  }
  if (!reader_) return;
  // Only the last band may be longer than the first.
  for (const std::int64_t row : {std::int64_t{0}, tiling.grid()[0] - 1})
    rows_held_ = std::max(rows_held_, band_of(row).rows.size());
}

/// Returns the rows from which a row of tiles is cut. Padding must read the end of the band as it would read the end of the array.
/// Mirrored padding may need more rows than the tile has; then the band begins with the previous tile.
TileSource::Band TileSource::band_of(std::int64_t row) const {
  const TilingSpec& whole = tiling_->spec();
  const TileSpan span = tiling_->span(0, row);
  const bool is_padded = span.extent > span.read.size();
  const bool is_mirrored = source_of(whole.padding_mode) == PaddingSource::mirrored;
  const std::int64_t before = is_padded && is_mirrored && row > 0 ? 1 : 0;
  const Span rows{tiling_->span(0, row - before).read.begin, span.read.end};
  Dims shape = whole.shape;
  shape[0] = rows.size();
  return {rows, before,
          Tiling({.shape = shape,
                  .tile = whole.tile,
                  .stride = tiling_->stride(),
                  .tail = whole.tail,
                  .padding_mode = whole.padding_mode,
                  .value = whole.value,
                  .axes = tiling_->axes()})};
}

/// Reads rows into memory, except those that are there already.
void TileSource::load(Span rows) {
  const std::int64_t bytes = row_bytes();
  if (!memory_) memory_ = formats::allocate(memory_bytes(), {"split", path_});
  const std::int64_t kept = std::max<std::int64_t>(held_.end - rows.begin, 0);
  if (kept > 0)
    std::memmove(memory_.get(), memory_.get() + (rows.begin - held_.begin) * bytes, static_cast<std::size_t>(kept * bytes));
  while (reader_->next() < rows.begin) reader_->read(std::min(rows_held_, rows.begin - reader_->next()), memory_.get());
  reader_->read(rows.size() - kept, memory_.get() + kept * bytes);
  held_ = rows;
}

void TileSource::load_row(std::int64_t row) {
  if (!reader_) return;
  band_.emplace(band_of(row));
  load(band_->rows);
}

void TileSource::cut(std::int64_t index, const TensorView& tile, Executor& executor) const {
  if (!reader_) return tiling_->cut(index, whole_.view, tile, executor);
  const std::int64_t side_by_side = tiling_->size() / tiling_->grid()[0];
  const Dims& shape = band_->tiling.spec().shape;
  const ConstTensorView band{memory_.get(), shape, formats::dense_strides(shape, type().size), type().dtype, type().size};
  band_->tiling.cut(band_->tiles_before * side_by_side + index % side_by_side, band, tile, executor);
}

}  // namespace patchfold::cli
