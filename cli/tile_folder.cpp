// SPDX-License-Identifier: Apache-2.0
#include "cli/tile_folder.hpp"

#include <algorithm>

#include "cli/text.hpp"
#include "cli/tile_files.hpp"
#include "formats/file.hpp"
#include "formats/output_file.hpp"

namespace patchfold::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* mark_name = "unfinished-split";

std::string mark_text(const formats::TilePlan& plan) {
  const std::string whole = text_of(plan.source, "\n", plan.page ? std::to_string(*plan.page) : "", "\n", plan.type, "\n",
                                    plan.tiling.to_json(false), "\n", plan.files.front(), "\n", plan.files.back());
  return text_of("patchfold split ", checksum(whole.data(), static_cast<std::int64_t>(whole.size())),
                 " has not finished: run it again\n");
}

}  // namespace

bool is_unfinished_split(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / mark_name, ignored);
}

TileFolder::~TileFolder() {
  std::error_code ignored;
  if (is_new_ && has_mark_ && !has_tiles_) fs::remove(mark_path(), ignored);
  if (is_new_) fs::remove(path_, ignored);
}

fs::path TileFolder::mark_path() const {
  return path_ / mark_name;
}

void TileFolder::prepare(const formats::TilePlan& plan) {
  std::error_code error;
  is_new_ = fs::create_directories(path_, error);
  if (error || !fs::is_directory(path_, error))
    throw Error({ErrorCode::file_write, "split", path_.string(), "must be a folder, or cannot be made: " + error.message()});
  mark_text_ = mark_text(plan);
  if (!force_) check_plan(plan);
  std::vector<fs::path> strangers;
  for (const auto& name : formats::names_in(path_, "split"))
    if (is_tile_name(name) && ((!is_ours() && !force_) || !std::binary_search(plan.files.begin(), plan.files.end(), name)))
      strangers.push_back(path_ / name);
  if (!strangers.empty() && !force_)
    refuse(std::min_element(strangers.begin(), strangers.end())->filename().string() +
           (is_ours() ? "" : ", which no plan.json lists"));
  if (!force_) return;
  // If this split is interrupted, the folder holds no whole split, so an old plan must not remain.
  fs::remove(plan_path(), error);
  for (const auto& stranger : strangers) fs::remove(stranger, error);
}

void TileFolder::mark() {
  if (is_ours()) return;
  formats::OutputFile file(mark_path(), "split");
  file.write(mark_text_.data(), mark_text_.size());
  file.commit();
  has_mark_ = true;
}

void TileFolder::finish(const formats::TilePlan& plan) {
  formats::write_tile_plan(plan_path(), plan);
  std::error_code ignored;
  fs::remove(mark_path(), ignored);
}

void TileFolder::check_plan(const formats::TilePlan& plan) {
  std::error_code ignored;
  if (fs::symlink_status(plan_path(), ignored).type() != fs::file_type::not_found) {
    const auto member = formats::difference(formats::read_tile_plan(plan_path()), plan);
    if (member) refuse("plan.json with another " + *member);
    has_plan_ = true;
  } else if (fs::symlink_status(mark_path(), ignored).type() != fs::file_type::not_found) {
    const fs::path path = mark_path();
    const formats::FileBytes mark = formats::open_file({"split", path});
    const std::string_view text(reinterpret_cast<const char*>(mark.bytes.data()), mark.bytes.size());
    if (text != mark_text_) refuse("unfinished-split, which another split left");
    has_mark_ = true;
  }
}

void TileFolder::refuse(const std::string& what) const {
  throw Error({ErrorCode::value, "split", path_.string(), "must not hold the tiles of another split", what,
               "an empty folder, or --force, which replaces them"});
}

}  // namespace patchfold::cli
