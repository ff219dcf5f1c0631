// SPDX-License-Identifier: Apache-2.0
#include "tests/formats/tiff_files.hpp"

#include <tiffio.h>

#include <algorithm>
#include <stdexcept>

namespace patchfold::formats::test {
namespace {

std::string little_endian(std::uint32_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xFF);
  return text;
}

void require(bool done) {
  if (!done) throw std::runtime_error("libtiff does not write this");
}

/// Returns the samples of a strip or tile; with separate channels, only those of channel `plane`. Samples outside of the
/// picture are 0.
std::string block(const TiffSpec& spec, const std::string& pixels, std::uint32_t x0, std::uint32_t y0, std::uint32_t width,
                  std::uint32_t height, int plane) {
  const std::size_t sample = static_cast<std::size_t>(spec.bits) / 8;
  const auto channels = static_cast<std::size_t>(spec.channels);
  std::string data;
  for (std::uint32_t y = y0; y < y0 + height; ++y)
    for (std::uint32_t x = x0; x < x0 + width; ++x)
      for (std::size_t c = 0; c < channels; ++c) {
        if (spec.separate && c != static_cast<std::size_t>(plane)) continue;
        if (x >= spec.width || y >= spec.height)
          data.append(sample, '\0');
        else
          data.append(pixels, ((std::size_t{y} * spec.width + x) * channels + c) * sample, sample);
      }
  return data;
}

void write_blocks(TIFF* tiff, const TiffSpec& spec, const std::string& pixels) {
  const bool tiled = spec.tile_width > 0;
  const std::uint32_t rows = spec.rows_per_strip > 0 ? spec.rows_per_strip : spec.height;
  const std::uint32_t width = tiled ? spec.tile_width : spec.width;
  const std::uint32_t height = tiled ? spec.tile_height : rows;
  for (int plane = 0; plane < (spec.separate ? spec.channels : 1); ++plane) {
    for (std::uint32_t y = 0; y < spec.height; y += height) {
      const std::uint32_t inside = tiled ? height : std::min(height, spec.height - y);
      for (std::uint32_t x = 0; x < spec.width; x += width) {
        std::string data = block(spec, pixels, x, y, width, inside, plane);
        const auto size = static_cast<tmsize_t>(data.size());
        const auto sample = static_cast<std::uint16_t>(plane);
        require((tiled ? TIFFWriteEncodedTile(tiff, TIFFComputeTile(tiff, x, y, 0, sample), data.data(), size)
                       : TIFFWriteEncodedStrip(tiff, TIFFComputeStrip(tiff, y, sample), data.data(), size)) == size);
      }
    }
  }
}

void write_page(TIFF* tiff, const TiffSpec& spec, const std::string& pixels) {
  TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, spec.kind);
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, spec.width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, spec.height);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, spec.bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, spec.channels);
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, spec.format);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, spec.photometric);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, spec.separate ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_ORIENTATION, spec.orientation);
  TIFFSetField(tiff, TIFFTAG_FILLORDER, spec.fill_order);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, spec.compression);
  if (spec.predictor != 1) TIFFSetField(tiff, TIFFTAG_PREDICTOR, spec.predictor);
  if (spec.compression == COMPRESSION_JPEG) TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  if (spec.photometric == PHOTOMETRIC_PALETTE) {
    std::vector<std::uint16_t> colours(256);
    TIFFSetField(tiff, TIFFTAG_COLORMAP, colours.data(), colours.data(), colours.data());
  }
  if (spec.tile_width > 0) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, spec.tile_width);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, spec.tile_height);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, spec.rows_per_strip > 0 ? spec.rows_per_strip : spec.height);
  }
  write_blocks(tiff, spec, pixels);
  require(TIFFWriteDirectory(tiff) == 1);
}

}  // namespace

void write_tiff(const std::filesystem::path& path, const std::vector<TiffSpec>& pages, const std::string& pixels) {
  TIFFSetWarningHandler(nullptr);
  std::filesystem::remove(path);
  TIFF* tiff = TIFFOpen(path.string().c_str(), pages.front().mode.c_str());
  require(tiff != nullptr);
  for (const auto& page : pages) write_page(tiff, page, pixels);
  TIFFClose(tiff);
}

std::size_t tiff_bytes(const TiffSpec& spec) {
  return std::size_t{spec.height} * spec.width * static_cast<std::size_t>(spec.channels) *
         static_cast<std::size_t>(spec.bits) / 8;
}

std::string tiff_file(const std::vector<TiffEntry>& entries, const std::string& data, std::uint32_t next) {
  std::string file("II*\0\10\0\0\0", 8);
  file += little_endian(static_cast<std::uint32_t>(entries.size()), 2);
  for (const auto& [tag, type, count, value] : entries)
    file += little_endian(static_cast<std::uint32_t>(tag), 2) + little_endian(static_cast<std::uint32_t>(type), 2) +
            little_endian(count, 4) + little_endian(value, 4);
  return file + little_endian(next, 4) + data;
}

std::string with_field(std::string file, int tag, std::uint32_t value) {
  const auto number = [&](std::size_t at, int bytes) {
    std::size_t result = 0;
    for (int i = bytes - 1; i >= 0; --i)
      result = result << 8 | static_cast<unsigned char>(file.at(at + static_cast<std::size_t>(i)));
    return result;
  };
  const std::size_t directory = number(4, 4);
  for (std::size_t i = 0; i < number(directory, 2); ++i) {
    const std::size_t entry = directory + 2 + 12 * i;
    if (number(entry, 2) == static_cast<std::size_t>(tag)) return file.replace(entry + 8, 4, little_endian(value, 4));
  }
  throw std::runtime_error("the file has no such field");
}

std::vector<TiffEntry> grey_entries(std::uint32_t width, std::uint32_t height) {
  constexpr std::uint32_t data = 8 + 2 + 12 * 9 + 4;
  return {{256, 4, 1, width}, {257, 4, 1, height}, {258, 3, 1, 8},
          {259, 3, 1, 1},     {262, 3, 1, 1},      {273, 4, 1, data},
          {277, 3, 1, 1},     {278, 4, 1, height}, {279, 4, 1, width * height}};
}

std::vector<TiffEntry> with_entry(std::vector<TiffEntry> entries, const TiffEntry& entry) {
  auto place = entries.begin();
  while (place != entries.end() && place->tag < entry.tag) ++place;
  if (place != entries.end() && place->tag == entry.tag)
    *place = entry;
  else
    entries.insert(place, entry);
  return entries;
}

}  // namespace patchfold::formats::test
