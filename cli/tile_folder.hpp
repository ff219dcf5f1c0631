// SPDX-License-Identifier: Apache-2.0
// The folder that split writes tiles to.
#pragma once

#include <filesystem>
#include <string>

#include "formats/tile_plan.hpp"

namespace patchfold::cli {

/// A folder that holds the tiles of one split. Until plan.json is there, a mark says which split has begun in it: files with
/// the names of tiles that neither of them knows are somebody else's.
class TileFolder {
 public:
  /// `force`: whatever other splits left is replaced.
  TileFolder(std::filesystem::path path, bool force) : path_(std::move(path)), force_(force) {}
  TileFolder(const TileFolder&) = delete;
  TileFolder& operator=(const TileFolder&) = delete;
  /// Takes a new folder away again if no tile was written into it.
  ~TileFolder();

  std::filesystem::path file(const std::string& name) const { return path_ / name; }

  /// Makes the folder, and sees to it that it holds no tiles but those of `plan`. Throws Error(value, file_write).
  void prepare(const formats::TilePlan& plan);
  /// Marks the folder before a tile is written. Throws Error(file_write).
  void mark();
  /// Records that a tile was written.
  void count() noexcept { has_tiles_ = true; }
  /// Writes plan.json in place of the mark: the tiles are all there. Throws Error(file_write).
  void finish(const formats::TilePlan& plan);

 private:
  std::filesystem::path plan_path() const { return path_ / "plan.json"; }
  std::filesystem::path mark_path() const { return path_ / "unfinished-split"; }
  bool is_ours() const noexcept { return has_plan_ || has_mark_; }
  void check_plan(const formats::TilePlan& plan);
  [[noreturn]] void refuse(const std::string& what) const;

  std::filesystem::path path_;
  bool force_;
  bool is_new_ = false;
  bool has_plan_ = false;  ///< plan.json lists these tiles
  bool has_mark_ = false;
  std::string mark_text_{};
  bool has_tiles_ = false;  ///< that this run wrote
};

}  // namespace patchfold::cli
