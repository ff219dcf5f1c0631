// SPDX-License-Identifier: Apache-2.0
// plan.json: the tiling of a picture, and the file of each tile.
//
//   {"format": "patchfold tiles", "version": 1,
//    "source": {"file": "photo.tif", "page": null, "type": "uint8"},
//    "tiling": {"shape": [4000, 6000, 3], "tile": [512, 512], "stride": [448, 448], ..},    as Tiling::to_json has it
//    "tiles": [
//     {"index": 0, "file": "tile-000.png", "read": [[0, 512], [0, 512]], "pad": [[0, 0], [0, 0]],
//      "write": [[0, 512], [0, 512]], "keep": [[0, 512], [0, 512]], "crc32": 2968832542}, ..]}
//
// A plan may have a member "empty", a number: then "file" is null for each tile whose elements are all this number.
// "read", "write" and "keep" are the spans [begin, end) of TileSpan, for each tiled axis; "pad" is the padding before and after. A
// picture that has metadata (a profile, a resolution, ..) has a member "metadata" in "source". "crc32" is the checksum of the
// tile's elements in row-major order, little-endian: zlib.crc32(np.asarray(tile).tobytes()) in Python. For a JPEG tile,
// "crc32" is the checksum of the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "formats/metadata.hpp"
#include "formats/npy.hpp"
#include "patchfold/tiling.hpp"

namespace patchfold::formats {

struct TilePlan {
  std::string source{};       ///< name of the picture's file
  std::optional<int> page{};  ///< the page of a TIFF file, if the user chose one
  std::string type{};         ///< the element type, as type_text writes it
  Metadata metadata{};        ///< the metadata of the picture, which difference() ignores
  Tiling tiling;
  std::optional<Scalar> empty{};      ///< the number that is every element of tiles without a file
  std::vector<std::string> files{};   ///< for each tile, the name of its file in the folder; empty: the tile has no file
  std::vector<std::uint32_t> crcs{};  ///< for each tile, its checksum
};

/// Returns the name of a type ("uint8"); for types without a name, their descr in .npy files.
std::string type_text(const ElementType& type);

/// Returns the plan in a file, after checking every member, and every span against the tiling. Names of files must have no folder.
/// Throws Error(file_open, file_format, file_unsupported) with op "plan" and the path as argument; the rule names the member.
TilePlan read_tile_plan(const std::filesystem::path& path);
/// Writes a plan; the file appears complete or not at all. Throws Error(file_write).
void write_tile_plan(const std::filesystem::path& path, const TilePlan& plan);

/// Returns the first member, such as "tiling.stride", in which two plans differ; nothing if they differ in checksums and metadata
/// at most.
std::optional<std::string> difference(const TilePlan& a, const TilePlan& b);

}  // namespace patchfold::formats
