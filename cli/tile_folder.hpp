// SPDX-License-Identifier: Apache-2.0
// The folder to which split writes tiles.
#pragma once

#include <filesystem>
#include <string>

#include "formats/tile_plan.hpp"

namespace patchfold::cli {

/// Returns whether a folder holds the mark of a split that began and did not finish.
bool is_unfinished_split(const std::filesystem::path& folder);

/// A folder for the tiles of one split. From its first tile until plan.json is written, the folder holds a mark that names this
/// split. A file with the name of a tile belongs to another split, unless the folder has the plan or the mark of this split and the
/// plan lists the file.
class TileFolder {
 public:
  /// Takes a folder. `force`: tiles of other splits there may be replaced.
  TileFolder(std::filesystem::path path, bool force) : path_(std::move(path)), force_(force) {}
  TileFolder(const TileFolder&) = delete;
  TileFolder& operator=(const TileFolder&) = delete;
  /// Removes the folder if this object made it and no tile was written into it.
  ~TileFolder();

  std::filesystem::path file(const std::string& name) const { return path_ / name; }

  /// Makes the folder if it does not exist, and ensures that it holds no tiles but those of `plan`. Throws Error(value,
  /// file_write).
  void prepare(const formats::TilePlan& plan);
  /// Puts the mark into the folder, before the first tile is written. Throws Error(file_write).
  void mark();
  /// Notes that a tile was written.
  void count() noexcept { has_tiles_ = true; }
  /// Writes plan.json and removes the mark, when all tiles are written. Throws Error(file_write).
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
  bool has_plan_ = false;  ///< the folder has a plan.json with these tiles
  bool has_mark_ = false;
  std::string mark_text_{};
  bool has_tiles_ = false;  ///< this object's split has written tiles
};

}  // namespace patchfold::cli
