// SPDX-License-Identifier: Apache-2.0
// A table of values for some of the tiles of a tiling.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace patchfold::tiling {

/// A value for some of the tiles, by the tile's index; T() stands for no value. A page of 64 values exists while one of its values
/// is set, so a tile on an empty page takes one bit. Finding a value takes two loads, fewer than in a map: a merge looks up every
/// tile of every cell.
template <class T>
class TileTable {
 public:
  explicit TileTable(std::int64_t tiles) : pages_((static_cast<std::size_t>(tiles) + page_size - 1) / page_size) {}

  /// Returns the value of a tile, which must have one.
  T& operator[](std::int64_t tile) noexcept { return page_of(tile)->values[slot_of(tile)]; }
  /// Sets the value of a tile, which must have none yet. Changes nothing if it throws.
  void set(std::int64_t tile, T value) {
    auto& page = page_of(tile);
    if (!page) page = std::make_unique<Page>();
    page->values[slot_of(tile)] = std::move(value);
    ++page->used;
  }
  /// Removes the value of a tile and returns it, or T() if there is none.
  T take(std::int64_t tile) noexcept {
    auto& page = page_of(tile);
    if (!page) return T();
    T value = std::exchange(page->values[slot_of(tile)], T());
    if (value != T() && --page->used == 0) page.reset();
    return value;
  }

 private:
  static constexpr std::size_t page_size = 64;
  struct Page {
    std::array<T, page_size> values{};
    int used = 0;
  };
  static std::size_t slot_of(std::int64_t tile) noexcept { return static_cast<std::size_t>(tile) % page_size; }
  std::unique_ptr<Page>& page_of(std::int64_t tile) noexcept { return pages_[static_cast<std::size_t>(tile) / page_size]; }

  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace patchfold::tiling
