// SPDX-License-Identifier: Apache-2.0
#include "cli/tile_files.hpp"

#include <zlib.h>

#include <algorithm>

#include "cli/text.hpp"
#include "formats/file.hpp"

namespace patchfold::cli {
namespace {

constexpr std::string_view name_prefix = "tile-";

}  // namespace

std::string tile_name(std::int64_t index, std::int64_t count, const std::string& extension) {
  const std::string digits = std::to_string(index);
  const std::size_t width = std::max(std::to_string(count - 1).size(), digits.size());
  return text_of(name_prefix, std::string(width - digits.size(), '0'), digits, ".", extension);
}

bool is_tile_name(const std::string& name) {
  if (!name.starts_with(name_prefix)) return false;
  const auto digits = std::string_view(name).substr(name_prefix.size());
  const std::size_t end = std::min(digits.find_first_not_of("0123456789"), digits.size());
  const auto rest = digits.substr(end);
  return end > 0 && (rest == ".png" || rest == ".tif" || rest == ".npy" || rest == ".jpg");
}

bool is_jpeg_name(const std::string& name) {
  return name.ends_with(".jpg");
}

bool is_tile_in(const std::filesystem::path& path, const std::filesystem::path& folder) {
  std::error_code ignored;
  const auto parent = path.has_parent_path() ? path.parent_path() : ".";
  return is_tile_name(path.filename().string()) && std::filesystem::equivalent(parent, folder, ignored);
}

std::string tile_text(const Tiling& tiling, std::int64_t index) {
  return text_of("tile ", index, " at ", to_string(tiling[index].position));
}

std::string extents_text(const Dims& shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += text_of(text.empty() ? "" : " x ", extent);
  return text;
}

std::string size_text(std::int64_t bytes) {
  constexpr const char* units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  auto number = static_cast<double>(bytes);
  int unit = 0;
  for (; number >= 1000; number /= 1000) ++unit;
  return text_of(decimal(number, unit == 0 ? 0 : 1), " ", units[unit]);
}

LoadedTile allocate_tile(const Dims& shape, const formats::ElementType& type, const std::filesystem::path& path) {
  LoadedTile tile;
  tile.type = type;
  const auto bytes = formats::byte_count(shape, type.size);
  if (!bytes) formats::Subject{"tile", path}.fail(ErrorCode::overflow, "is too large", extents_text(shape));
  tile.bytes = *bytes;
  tile.memory = formats::allocate(tile.bytes, {"tile", path});
  tile.view = {tile.memory.get(), shape, formats::dense_strides(shape, type.size), type.dtype, type.size};
  return tile;
}

LoadedTile read_tile(formats::RowReader& reader, const std::filesystem::path& path) {
  LoadedTile tile = allocate_tile(reader.shape(), reader.type(), path);
  reader.read(reader.shape()[0], tile.memory.get());
  return tile;
}

std::uint32_t checksum(const void* data, std::int64_t bytes) {
  return static_cast<std::uint32_t>(::crc32_z(0, static_cast<const Bytef*>(data), static_cast<z_size_t>(bytes)));
}

}  // namespace patchfold::cli
