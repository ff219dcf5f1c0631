// SPDX-License-Identifier: Apache-2.0
// The folder to which split writes tiles.
#pragma once

#include <filesystem>
#include <string>

#include "formats/tile_plan.hpp"

namespace patchfold::cli {

/// Returns whether a folder holds the mark of a split that has begun and not finished.
bool is_unfinished_split(const std::filesystem::path& folder);

/// A folder that holds the tiles of one split. Until plan.json is written, a mark in the folder names the split that has begun. A
/// file with the name of a tile that is neither in the plan nor in the mark belongs to somebody else.
class TileFolder {
 public:
  /// Takes a folder. `force`: files of other splits are replaced.
  TileFolder(std::filesystem::path path, bool force) : path_(std::move(path)), force_(force) {}
  TileFolder(const TileFolder&) = delete;
  TileFolder& operator=(const TileFolder&) = delete;
  /// Removes a new folder if no tile was written into it.
  ~TileFolder();

  std::filesystem::path file(const std::string& name) const { return path_ / name; }

  /// Makes the folder, and ensures that it holds no tiles except those of `plan`. Throws Error(value, file_write).
  void prepare(const formats::TilePlan& plan);
  /// Marks the folder before a tile is written. Throws Error(file_write).
  void mark();
  /// Records that a tile was written.
  void count() noexcept { has_tiles_ = true; }
  /// Writes plan.json in place of the mark, when all tiles are written. Throws Error(file_write).
  void finish(const formats::TilePlan& plan);

 private:
  std::filesystem::path plan_path() const { return path_ / "plan.json"; }
  std::filesystem::path mark_path() const;
  bool is_ours() const noexcept { return has_plan_ || has_mark_; }
  void check_plan(const formats::TilePlan& plan);
  [[noreturn]] void refuse(const std::string& what) const;

  std::filesystem::path path_;
  bool force_;
  bool is_new_ = false;
  bool has_plan_ = false;  ///< plan.json lists these tiles
  bool has_mark_ = false;
  std::string mark_text_{};
  bool has_tiles_ = false;  ///< this run wrote tiles
};

}  // namespace patchfold::cli
