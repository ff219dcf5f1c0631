// SPDX-License-Identifier: Apache-2.0
#include "cli/tile_files.hpp"

#include <zlib.h>

#include <algorithm>

#include "cli/text.hpp"
#include "formats/file.hpp"

namespace patchfold::cli {
namespace {

constexpr std::string_view name_prefix = "tile-";

/// Returns a number below `count`, with leading zeros to the length of the largest one.
std::string padded(std::int64_t number, std::int64_t count) {
  const std::string digits = std::to_string(number);
  return text_of(std::string(std::to_string(count - 1).size() - digits.size(), '0'), digits);
}

}  // namespace

std::string tile_name(const Tiling& tiling, std::int64_t index, TileNames names, const std::string& extension) {
  if (names == TileNames::index) return text_of(name_prefix, padded(index, tiling.size()), ".", extension);
  const Dims position = tiling[index].position;
  std::string places;
  for (int axis = 0; axis < position.size(); ++axis)
    places += text_of(axis == 0 ? "" : "-", padded(position[axis], tiling.grid()[axis]));
  return text_of(name_prefix, places, ".", extension);
}

bool is_tile_name(const std::string& name) {
  if (!name.starts_with(name_prefix)) return false;
  auto rest = std::string_view(name).substr(name_prefix.size());
  // Reads numbers with dashes between them.
  while (true) {
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (digits == 0) return false;
    rest.remove_prefix(digits);
    if (!rest.starts_with('-')) break;
    rest.remove_prefix(1);
  }
  return rest == ".png" || rest == ".tif" || rest == ".npy" || rest == ".jpg";
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
