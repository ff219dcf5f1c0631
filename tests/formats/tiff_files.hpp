// SPDX-License-Identifier: Apache-2.0
// Makes TIFF files that patchfold's own writer cannot make, by libtiff or byte by byte.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "patchfold/tensor.hpp"

namespace patchfold::formats::test {

struct TiffSpec {
  std::uint32_t height = 5;
  std::uint32_t width = 7;
  int channels = 1;
  int bits = 8;
  int format = 1;       ///< 1 unsigned, 2 signed, 3 floating-point, 4 undefined, 5 and 6 complex
  int compression = 1;  ///< 1 none, 5 LZW, 7 JPEG, 8 deflate, 32773 PackBits
  int photometric = 1;  ///< 0 white is 0, 1 black is 0, 2 RGB, 3 palette, 5 CMYK, 6 YCbCr
  bool separate = false;
  std::uint32_t tile_width = 0;
  std::uint32_t tile_height = 0;
  std::uint32_t rows_per_strip = 0;  ///< 0: one strip
  int predictor = 1;
  int orientation = 1;
  int fill_order = 1;
  std::uint32_t kind = 0;  ///< NewSubfileType: 1 reduced, 2 page, 4 mask
  std::string mode = "w";  ///< mode of TIFFOpen: wb big-endian, w8 BigTIFF
};

/// Writes pages one after the other. `pixels`, H x W x C in native byte order, are the pixels of every page.
void write_tiff(const std::filesystem::path& path, const std::vector<TiffSpec>& pages, const std::string& pixels);
/// Returns the bytes of the pixels of a page.
std::size_t tiff_bytes(const TiffSpec& spec);

struct TiffEntry {
  int tag = 0;
  int type = 3;  ///< 3 uint16, 4 uint32
  std::uint32_t count = 1;
  std::uint32_t value = 0;
};

/// Returns a little-endian TIFF file: its header, one directory, and then `data`, which begins at byte 14 + 12 *
/// entries.size().
std::string tiff_file(const std::vector<TiffEntry>& entries, const std::string& data, std::uint32_t next = 0);
/// Returns the entries of an uncompressed 8-bit grey picture, whose only strip follows the entries.
std::vector<TiffEntry> grey_entries(std::uint32_t width, std::uint32_t height);
/// Returns `entries` with `entry`, which replaces an entry of the same tag or is added.
std::vector<TiffEntry> with_entry(std::vector<TiffEntry> entries, const TiffEntry& entry);
/// Returns `file`, a little-endian classic TIFF file, with `value` as the value of `tag` in its first directory.
std::string with_field(std::string file, int tag, std::uint32_t value);

}  // namespace patchfold::formats::test
