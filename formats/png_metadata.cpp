// SPDX-License-Identifier: Apache-2.0
// Metadata as chunks of PNG files (PNG specification, section 11.3).
#include <zlib.h>

#include <algorithm>
#include <cmath>

#include "formats/picture_codec.hpp"

namespace patchfold::formats {
namespace {

/// Returns the bytes compressed by zlib; nothing if memory runs out.
std::string compressed(const std::string& bytes) {
  std::string stream(compressBound(bytes.size()), '\0');
  uLongf size = stream.size();
  if (compress2(reinterpret_cast<Bytef*>(stream.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(),
                9) != Z_OK)
    return {};
  stream.resize(size);
  return stream;
}

bool is_keyword(const std::string& text) {
  return !text.empty() && text.size() < 80 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

std::pair<std::string, std::string> text_chunk(const std::string& keyword, const std::string& text) {
  const bool is_ascii = std::all_of(text.begin(), text.end(), [](char c) { return static_cast<signed char>(c) >= 0; });
  if (is_ascii) return {"tEXt", keyword + '\0' + text};
  return {"iTXt", keyword + std::string(5, '\0') + text};  // zeros: not compressed, no language, no translated keyword
}

}  // namespace

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 255);
  return bytes;
}

std::vector<std::pair<std::string, std::string>> png_chunks(const Metadata& metadata) {
  std::vector<std::pair<std::string, std::string>> chunks;
  if (!metadata.icc.empty()) chunks.emplace_back("iCCP", std::string("ICC profile\0\0", 13) + compressed(metadata.icc));
  for (const auto& chunk : metadata.colours)
    if (metadata.icc.empty() || chunk.first != "sRGB") chunks.push_back(chunk);
  if (metadata.resolution) {
    const Resolution resolution = resolution_in(*metadata.resolution, Resolution::Unit::metre);
    const auto rounded = [](double number) { return big_endian(static_cast<std::uint32_t>(std::llround(number))); };
    chunks.emplace_back("pHYs", rounded(resolution.x) + rounded(resolution.y) +
                                    static_cast<char>(resolution.unit != Resolution::Unit::none));
  }
  if (!metadata.exif.empty() || metadata.orientation != 1)
    chunks.emplace_back("eXIf", exif_with(metadata.exif, metadata.orientation));
  for (const auto& [keyword, text] : metadata.texts)
    if (is_keyword(keyword) && text.find('\0') == std::string::npos) chunks.push_back(text_chunk(keyword, text));
  if (!metadata.xmp.empty()) chunks.emplace_back("iTXt", "XML:com.adobe.xmp" + std::string(5, '\0') + metadata.xmp);
  return chunks;
}

}  // namespace patchfold::formats
