// SPDX-License-Identifier: Apache-2.0
// Tests `patchfold merge` of tiles that split did not make, of folders that lack tiles, and of splits that skip empty tiles.
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/tiles.hpp"

namespace patchfold::cli_test {
namespace {

namespace fs = std::filesystem;

/// A folder with photo.npy, 40 x 50 uint8, and its tiles in tiles/, named by row and column.
class NamedTiles : public ::testing::Test {
 protected:
  void split(const std::string& options) {
    write_array(folder_, "photo.npy", photo_);
    run_well(folder_, "split photo.npy tiles --names grid --tile 16 " + options);
    fs::remove(folder_.path("tiles/plan.json"));
  }
  Array photo_ = random_array({40, 50}, DType::uint8);
  Folder folder_;
};

TEST_F(NamedTiles, AreMergedByRowsAndColumns) {
  split("--overlap 2 --tail partial");
  run_well(folder_, "merge tiles out.npy --pattern tile-{row}-{column}.npy --overlap 2");
  EXPECT_EQ(read_array(folder_, "out.npy"), photo_);
  run_well(folder_, "merge tiles out.npy --pattern tile-{row}-{column}.npy --overlap 0.125");
  EXPECT_EQ(read_array(folder_, "out.npy"), photo_);
  run_badly(folder_, "merge tiles out.npy --pattern tile-{row}-{column}.npy --overlap 3 --shape 40,50",
            {"must have the size"});
}

TEST_F(NamedTiles, OfDeepZoomShareAPixelWithEachNeighbour) {
  split("--stride 14 --margin 1 --tail partial");
  run_well(folder_, "merge tiles out.npy --pattern tile-{row}-{column}.npy --tile 16 --overlap 2 --margin 1");
  EXPECT_EQ(read_array(folder_, "out.npy"), photo_);
  const std::string merge = "merge tiles out.npy --pattern tile-{row}-{column}.npy";
  const std::string options = " --tile 16 --overlap 2 --margin 1";
  for (const char* naive : {"", " --tile 14 --overlap 0", " --tile 14 --overlap 1", " --overlap 2"})
    run_badly(folder_, merge + naive, {"tile-0-0.npy: must have the size that its place in the grid has; given 15 x 15",
                                       options + " --tail partial if tiles also hold 1 pixel of each neighbour"});
  run_well(folder_, merge + options + " --tail partial");
  EXPECT_EQ(read_array(folder_, "out.npy"), photo_);
}

TEST_F(NamedTiles, AreMergedByTheirPlaces) {
  split("--overlap 4");
  const std::int64_t rows[] = {0, 12, 24}, columns[] = {0, 12, 24, 34};
  fs::create_directory(folder_.path("named"));
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 4; ++x)
      fs::rename(folder_.path("tiles/tile-" + std::to_string(y) + "-" + std::to_string(x) + ".npy"),
                 folder_.path("named/x" + std::to_string(columns[x]) + "_y" + std::to_string(rows[y]) + ".npy"));
  folder_.write("named/notes.txt", "no tile");
  run_well(folder_, "merge named out.npy --pattern x{x}_y{y}.npy");
  EXPECT_EQ(read_array(folder_, "out.npy"), photo_);
  fs::rename(folder_.path("named/x12_y12.npy"), folder_.path("named/x13_y12.npy"));
  run_badly(folder_, "merge named out.npy --pattern x{x}_y{y}.npy",
            {"x13_y12.npy: must lie where a tile of the grid lies; given x 13"});
}

TEST_F(NamedTiles, NumbersBeginAtZeroOrOne) {
  split("--overlap 2");
  for (const int first : {0, 1}) {
    fs::create_directory(folder_.path("named"));
    int index = first;
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 4; ++x) {
        const fs::path tile = folder_.path("tiles/tile-" + std::to_string(y) + "-" + std::to_string(x) + ".npy");
        fs::copy_file(tile, folder_.path("named/" + std::to_string(y + first) + "x" + std::to_string(x + first) + ".npy"));
        fs::copy_file(tile, folder_.path("named/part" + std::to_string(index++) + ".npy"));
      }
    for (const char* pattern : {"{row}x{column}.npy", "part{index}.npy"}) {
      run_well(folder_, std::string("merge named out.npy --shape 40,50 --tile 16 --overlap 2 --pattern ") + pattern);
      EXPECT_EQ(read_array(folder_, "out.npy"), photo_);
    }
    fs::remove_all(folder_.path("named"));
  }
}

TEST_F(NamedTiles, PlacesOfMissingTilesAreFilled) {
  split("--overlap 0 --tail partial");
  fs::remove(folder_.path("tiles/tile-1-2.npy"));
  const std::string merge = "merge tiles out.npy --pattern tile-{row}-{column}.npy";
  run_badly(folder_, merge, {"tile 6 at [1, 2]: tiles/tile-1-2.npy: is missing"});
  EXPECT_NE(folder_.run(merge + " --fill 7").err.find("1 of 12 tiles is missing: its place is filled with 7"), std::string::npos);
  Array expected = photo_;
  for (std::size_t y = 16; y < 32; ++y)
    for (std::size_t x = 32; x < 48; ++x) expected.bytes[y * 50 + x] = std::byte{7};
  EXPECT_EQ(read_array(folder_, "out.npy"), expected);
}

TEST_F(NamedTiles, WrongPatternsAreUsage) {
  split("--overlap 0 --tail partial");
  for (const char* pattern :
       {"tile.npy", "{row}.npy", "{row}{column}.npy", "tile-{row}-{x}.npy", "{index}-{row}.npy", "{rows}.npy", "{row"})
    run_badly(folder_, std::string("merge tiles out.npy --pattern ") + pattern,
              {"merge: --pattern: must have {row} and {column}"}, 2);
  run_badly(folder_, "merge tiles out.npy --pattern tile-{index}.npy", {"merge: --shape: is required"}, 2);
  run_badly(folder_, "merge tiles out.npy --tile 16", {"merge: --tile: needs --pattern"}, 2);
  run_badly(folder_, "merge tiles out.npy --pattern part-{row}-{column}.npy", {"holds no file whose name fits the pattern"});
  run_badly(folder_, "merge tiles tiles/tile-0-0.npy --pattern tile-{row}-{column}.npy", {"must not be one of the tiles"});
}

TEST(Reports, OneTileIsNoTiles) {
  const Folder folder;
  write_array(folder, "photo.npy", random_array({16, 16}, DType::uint8));
  EXPECT_NE(run_well(folder, "split photo.npy tiles --tile 16 --overlap 0").find("tiles: 1 tile (1 x 1) of "), std::string::npos);
  EXPECT_NE(run_well(folder, "merge tiles out.npy").find(", from 1 tile, "), std::string::npos);
  EXPECT_NE(run_well(folder, "merge tiles out.npy --dry-run").find(", from 1 tile (1 x 1); "), std::string::npos);
}

TEST(SkipEmpty, TilesOfOneNumberGetNoFile) {
  const Folder folder;
  Array photo = random_array({40, 50}, DType::uint8);
  for (std::size_t y = 0; y < 40; ++y)
    for (std::size_t x = 0; x < 30; ++x) photo.bytes[y * 50 + x] = std::byte{9};
  write_array(folder, "photo.npy", photo);
  const std::string split = "split photo.npy tiles --tile 16 --overlap 2 --skip-empty 9";
  EXPECT_NE(run_well(folder, split).find(": 6 written, 0 skipped, 6 empty"), std::string::npos);
  EXPECT_NE(run_well(folder, split).find(": 0 written, 6 skipped, 6 empty"), std::string::npos);
  run_well(folder, "merge tiles out.npy");
  EXPECT_EQ(read_array(folder, "out.npy"), photo);
  fs::remove(folder.path("tiles/tile-03.npy"));
  run_badly(folder, "merge tiles out.npy", {"tile-03.npy: is missing"});
  run_badly(folder, "split photo.npy tiles --tile 16 --overlap 2", {"plan.json with another empty"});
}

TEST(Margins, OfTilesDoNotChangeTheMerge) {
  const Folder folder;
  const Array photo = random_array({40, 50}, DType::float32);
  write_array(folder, "photo.npy", photo);
  for (const char* options :
       {"--margin 3", "--margin 2:9,0:4 --padding-mode wrap", "--margin 20 --tail pad --padding-mode reflect",
        "--margin 4 --align 4 --overlap 0.25", "--margin 5 --tail partial --stride 12"}) {
    run_well(folder, std::string("split photo.npy tiles --force --tile 16 ") + options);
    run_well(folder, "merge tiles out.npy");
    EXPECT_EQ(read_array(folder, "out.npy"), photo) << options;
  }
  run_badly(folder, "split photo.npy other --tile 16 --margin a", {"split: --margin: must be integers"}, 2);
  run_badly(folder, "split photo.npy other --tile 16 --overlap 0.5,3", {"split: --overlap: must be integers"}, 2);
  run_badly(folder, "split photo.npy other --tile 16 --overlap 1.5", {"must be a fraction in [0, 1)"});
}

}  // namespace
}  // namespace patchfold::cli_test
