// SPDX-License-Identifier: Apache-2.0
// Makes picture files that patchfold's own writer cannot make.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace patchfold::formats::test {

/// Returns a chunk with its length and checksum.
std::string png_chunk(const std::string& name, const std::string& data);

struct PngSpec {
  std::uint32_t width = 1;
  std::uint32_t height = 1;
  int bit_depth = 8;
  int color_type = 0;  ///< 0 grey, 2 RGB, 3 palette, 4 grey + alpha, 6 RGBA
  std::string rows{};  ///< uncompressed content: each row with its filter byte
  bool interlaced = false;
  std::vector<std::pair<std::string, std::string>> chunks{};  ///< name and content of chunks before the pixels
};

/// Returns a PNG file whose pixels are stored uncompressed, in several IDAT chunks.
std::string png_file(const PngSpec& spec);

/// Returns the rows of a picture with one byte a pixel in the order of PNG's interlacing (Adam7), with filter bytes.
std::string adam7(const std::string& pixels, std::uint32_t width, std::uint32_t height);

struct JpegSpec {
  int width = 8;
  int height = 8;
  int components = 3;  ///< 1 grey, 3 RGB, 4 CMYK
  bool progressive = false;
  bool arithmetic = false;
  bool subsampled = false;
  bool separate = false;   ///< one scan for each component
  bool stays_rgb = false;  ///< the file stores RGB, not YCbCr
  int quality = 95;
};

std::string jpeg_file(const JpegSpec& spec, const std::string& pixels);

}  // namespace patchfold::formats::test
