// SPDX-License-Identifier: Apache-2.0
// The layout of a page of a TIFF file.
#pragma once

#include "formats/row_codecs.hpp"
#include "formats/tiff_file.hpp"

namespace patchfold::formats {

struct TiffLayout {
  /// How the page is read. direct: uncompressed strips, without libtiff; scanlines: compressed strips, row by row; blocks: tiles,
  /// and compressed strips of single channels, as wholes.
  enum class Way { direct, scanlines, blocks };

  /// What the channels are. plain: grey, RGB or bands; palette: numbers of colours; cmyk: four inks.
  enum class Colours { plain, palette, cmyk };

  Way way = Way::direct;
  Colours colours = Colours::plain;
  DType dtype = DType::uint8;
  std::size_t size = 1;  ///< bytes of a sample
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::int64_t planes = 1;  ///< 1: the channels of a pixel lie side by side; else one plane for each channel
  bool is_deflate = false;  ///< compressed by deflate
  bool is_tiled = false;
  std::int64_t block_width = 0;  ///< width of a tile or strip, in pixels
  std::int64_t block_height = 0;
  bool is_inverted = false;  ///< the number 0 is white

  /// Returns the bytes from a pixel to its right neighbour.
  std::int64_t sample_step() const noexcept { return static_cast<std::int64_t>(size) * (planes == 1 ? channels : 1); }
  std::int64_t block_bytes() const noexcept { return block_width * block_height * sample_step(); }
};

/// Reads the layout of the file's current page. Throws Error(file_unsupported) for an unsupported layout, and
/// Error(file_format) if the file is too short for the layout.
TiffLayout read_tiff_layout(const TiffFile& file, const Subject& subject);

}  // namespace patchfold::formats
