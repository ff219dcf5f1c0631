// SPDX-License-Identifier: Apache-2.0
#include "cli/tile_source.hpp"

#include <algorithm>
#include <cstring>

#include "formats/file.hpp"

namespace patchfold::cli {
namespace {

/// Returns rows that hold every row which a tile and its padding read, such that padding of these rows alone equals padding of the
/// array.
Span rows_read(const TileSpan& tile, PaddingMode mode, std::int64_t extent) {
  const auto [before, behind] = tile.padding();
  if (before == 0 && behind == 0) return tile.read;
  const std::int64_t first = tile.origin, end = tile.origin + tile.extent;
  // Padding that is as long as the array may repeat every row.
  const bool is_far = -first >= extent || end - extent >= extent;
  const bool reads_all =
      source_of(mode) == PaddingSource::opposite || (source_of(mode) == PaddingSource::mirrored && is_far);
  if (reads_all) return {0, extent};
  // Mirrored padding of p rows reads at most p + 1 rows at this end; other padding at most the row at the end.
  const bool is_mirrored = source_of(mode) == PaddingSource::mirrored;
  Span rows{std::clamp<std::int64_t>(first, 0, extent - 1), std::clamp<std::int64_t>(end, 1, extent)};
  if (before > 0) rows.end = std::max(rows.end, is_mirrored ? std::min(extent, 1 - first) : 1);
  if (behind > 0)
    rows.begin = std::min(rows.begin, is_mirrored ? std::max<std::int64_t>(0, 2 * extent - 1 - end) : extent - 1);
  if (before > 0) rows.begin = 0;
  if (behind > 0) rows.end = extent;
  return rows;
}

}  // namespace

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
  const std::int64_t count = tiling.grid()[0];
  for (std::int64_t row = 0; row < count; ++row)
    bands_.push_back(rows_read(tiling.span(0, row), tiling.spec().padding_mode, tiling.spec().shape[0]));
  // Rows are read once, in order: a band begins no later than the next one, and ends no earlier than the one before.
  for (std::size_t row = bands_.size() - 1; row-- > 0;)
    bands_[row].begin = std::min(bands_[row].begin, bands_[row + 1].begin);
  for (std::size_t row = 1; row < bands_.size(); ++row) bands_[row].end = std::max(bands_[row].end, bands_[row - 1].end);
  for (const Span rows : bands_) rows_held_ = std::max(rows_held_, rows.size());
}

Tiling TileSource::tiling_of(std::int64_t row, Span rows) const {
  TilingSpec spec = tiling_->spec();
  const TileSpan span = tiling_->span(0, row);
  spec.shape[0] = rows.size();
  spec.tile[0] = span.extent;
  Dims stride = tiling_->stride(), margin = tiling_->margin(), behind = tiling_->margin_end();
  stride[0] = span.extent;
  margin[0] = rows.begin - span.origin;
  behind[0] = span.origin + span.extent - rows.end;
  spec.overlap = {};
  spec.overlap_fraction = {};
  spec.stride = stride;
  spec.margin = margin;
  spec.margin_end = behind;
  if (!spec.align.empty()) {
    Dims align = spec.align.is_scalar() ? Dims::filled(stride.size(), spec.align.values()[0]) : spec.align.values();
    align[0] = 1;
    spec.align = align;
  }
  spec.axes = tiling_->axes();
  spec.scale = {};
  spec.offset = spec.result = spec.output = {};
  return Tiling(spec);
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
  const Span rows = bands_[static_cast<std::size_t>(row)];
  band_.emplace(tiling_of(row, rows));
  load(rows);
}

void TileSource::cut(std::int64_t index, const TensorView& tile, Executor& executor) const {
  if (!reader_) return tiling_->cut(index, whole_.view, tile, executor);
  const std::int64_t side_by_side = tiling_->size() / tiling_->grid()[0];
  const Dims& shape = band_->spec().shape;
  const ConstTensorView band{memory_.get(), shape, formats::dense_strides(shape, type().size), type().dtype, type().size};
  band_->cut(index % side_by_side, band, tile, executor);
}

}  // namespace patchfold::cli
