// SPDX-License-Identifier: Apache-2.0
// The files of tiles, for split and merge: their names, how they are read, and their checksums.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "formats/rows.hpp"
#include "patchfold/tiling.hpp"
#include "patchfold/words.hpp"

namespace patchfold::cli {

/// A tile in memory, row-major.
struct LoadedTile {
  ConstTensorView view{};
  formats::ElementType type{};
  std::shared_ptr<std::byte> memory{};
  std::int64_t bytes = 0;
};

/// What the numbers in the names of tiles' files are.
enum class TileNames : std::uint8_t {
  index,  ///< tile-0017.png
  grid,   ///< tile-02-05.png: row and column, or the place along each tiled axis
};

/// Returns the name of a tile's file. Leading zeros make its numbers as long as the largest one.
std::string tile_name(const Tiling& tiling, std::int64_t index, TileNames names, const std::string& extension);
/// Returns whether split may have given a file this name.
bool is_tile_name(const std::string& name);
/// Returns whether a tile's file with this name is a JPEG file. The checksum of such a tile is that of its file, since its pixels
/// differ from the picture's.
bool is_jpeg_name(const std::string& name);
/// Returns whether the path lies in the folder and has a name that is_tile_name() accepts.
bool is_tile_in(const std::filesystem::path& path, const std::filesystem::path& folder);
/// Returns "tile 17 at [1, 5]".
std::string tile_text(const Tiling& tiling, std::int64_t index);
/// Returns "512 x 512 x 3".
std::string extents_text(const Dims& shape);
/// Returns "1.2 GB".
std::string size_text(std::int64_t bytes);

/// Allocates a tile without values. Errors name `path`.
LoadedTile allocate_tile(const Dims& shape, const formats::ElementType& type, const std::filesystem::path& path);
/// Returns the tile in an open file.
LoadedTile read_tile(formats::RowReader& reader, const std::filesystem::path& path);
/// Returns the CRC-32 of bytes (zlib's crc32).
std::uint32_t checksum(const void* data, std::int64_t bytes);

}  // namespace patchfold::cli

template <>
inline constexpr auto patchfold::words<patchfold::cli::TileNames> =
    std::to_array<patchfold::Word<patchfold::cli::TileNames>>({{patchfold::cli::TileNames::index, "index"},
                                                               {patchfold::cli::TileNames::grid, "grid"}});
