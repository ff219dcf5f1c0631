// SPDX-License-Identifier: Apache-2.0
#include "tests/formats/picture_files.hpp"

#include <jpeglib.h>

#include <cstdio>
#include <cstdlib>

namespace patchfold::formats::test {
namespace {

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFF);
  return bytes;
}

std::uint32_t crc32(const std::string& data) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char c : data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
  }
  return ~crc;
}

std::string stored_zlib(const std::string& data) {
  std::string stream = "\x78\x01";
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (std::size_t at = 0; at == 0 || at < data.size(); at += 65535) {
    const std::string part = data.substr(at, 65535);
    stream += static_cast<char>(at + part.size() >= data.size());
    for (const std::size_t length : {part.size(), ~part.size()}) {
      stream += static_cast<char>(length & 0xFF);
      stream += static_cast<char>(length >> 8 & 0xFF);
    }
    stream += part;
  }
  for (const char c : data) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  return stream + big_endian(b << 16 | a);
}

}  // namespace

std::string png_chunk(const std::string& name, const std::string& data) {
  return big_endian(static_cast<std::uint32_t>(data.size())) + name + data + big_endian(crc32(name + data));
}

std::string png_file(const PngSpec& spec) {
  const std::string header = big_endian(spec.width) + big_endian(spec.height) + static_cast<char>(spec.bit_depth) +
                             static_cast<char>(spec.color_type) + '\0' + '\0' + static_cast<char>(spec.interlaced);
  std::string file = "\x89PNG\r\n\x1A\n" + png_chunk("IHDR", header);
  for (const auto& [name, data] : spec.chunks) file += png_chunk(name, data);
  const std::string stream = stored_zlib(spec.rows);
  for (std::size_t at = 0; at < stream.size(); at += 40) file += png_chunk("IDAT", stream.substr(at, 40));
  return file + png_chunk("IEND", "");
}

std::string adam7(const std::string& pixels, std::uint32_t width, std::uint32_t height) {
  constexpr std::uint32_t passes[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                          {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
  std::string rows;
  for (const auto& [x0, y0, dx, dy] : passes) {
    if (x0 >= width) continue;
    for (std::uint32_t y = y0; y < height; y += dy) {
      rows += '\0';
      for (std::uint32_t x = x0; x < width; x += dx) rows += pixels[y * width + x];
    }
  }
  return rows;
}

std::string jpeg_file(const JpegSpec& spec, const std::string& pixels) {
  jpeg_error_mgr errors;
  jpeg_compress_struct codec;
  codec.err = jpeg_std_error(&errors);
  jpeg_create_compress(&codec);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&codec, &data, &size);
  codec.image_width = static_cast<JDIMENSION>(spec.width);
  codec.image_height = static_cast<JDIMENSION>(spec.height);
  codec.input_components = spec.components;
  codec.in_color_space = spec.components == 1 ? JCS_GRAYSCALE : spec.components == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, spec.quality, TRUE);
  if (spec.stays_rgb) jpeg_set_colorspace(&codec, JCS_RGB);
  codec.comp_info[0].h_samp_factor = codec.comp_info[0].v_samp_factor = spec.subsampled ? 2 : 1;
  codec.arith_code = static_cast<boolean>(spec.arithmetic);
  if (spec.progressive) jpeg_simple_progression(&codec);
  const jpeg_scan_info scans[] = {
      {1, {0, 0, 0, 0}, 0, 63, 0, 0}, {1, {1, 0, 0, 0}, 0, 63, 0, 0}, {1, {2, 0, 0, 0}, 0, 63, 0, 0}};
  if (spec.separate) codec.scan_info = scans;
  if (spec.separate) codec.num_scans = 3;
  jpeg_start_compress(&codec, TRUE);
  while (codec.next_scanline < codec.image_height) {
    const auto* start = pixels.data() + codec.next_scanline * codec.image_width * static_cast<unsigned>(spec.components);
    auto* row = reinterpret_cast<JSAMPROW>(const_cast<char*>(start));
    jpeg_write_scanlines(&codec, &row, 1);
  }
  jpeg_finish_compress(&codec);
  std::string file(reinterpret_cast<char*>(data), size);
  jpeg_destroy_compress(&codec);
  std::free(data);
  return file;
}

}  // namespace patchfold::formats::test
