// SPDX-License-Identifier: Apache-2.0
// Converts tiles of one picture that a program wrote in different forms: ImageMagick and PNG optimisers write a tile without
// colours as grey, and a tile that fits into 8 bits with 8 bits.
#pragma once

#include <optional>
#include <vector>

#include "cli/tile_files.hpp"

namespace patchfold::cli {

/// The form of a tile's pixels: H x W x `channels` of `type`.
struct PixelForm {
  DType type = DType::uint8;
  std::int64_t channels = 1;
  friend bool operator==(const PixelForm&, const PixelForm&) = default;
};

/// Returns the smallest form that holds all forms without loss; nothing unless all have 8 or 16 bits and 1 to 4 channels.
std::optional<PixelForm> common_form(const std::vector<PixelForm>& forms);

/// Returns the tile in the form from common_form(): grey becomes colours, a tile without alpha becomes opaque, and 8 bits become
/// the 16 bits of equal brightness (times 257). The tile is H x W x C, without gaps.
LoadedTile promoted(const LoadedTile& tile, const PixelForm& form, const std::filesystem::path& path);

}  // namespace patchfold::cli
