// SPDX-License-Identifier: Apache-2.0
// Brings tiles of one picture, which a program wrote in different forms, into one form. ImageMagick and PNG optimisers write a tile
// without colours as grey, and a tile whose values fit into 8 bits with 8 bits.
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

/// Returns the smallest form that holds all `forms` without loss; nothing unless all have 8 or 16 bits and 1 to 4 channels.
std::optional<PixelForm> common_form(const std::vector<PixelForm>& forms);

/// Returns the tile (H x W x C, without gaps) in the form from common_form(). Grey becomes colours, a tile without alpha becomes
/// opaque, and 8 bits become 16 bits of equal brightness (times 257).
LoadedTile promoted(const LoadedTile& tile, const PixelForm& form, const std::filesystem::path& path);

}  // namespace patchfold::cli
