// SPDX-License-Identifier: Apache-2.0
// Tests `patchfold merge` of changed tiles, of tiles that contradict the plan, and of several tiles at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "formats/picture.hpp"
#include "patchfold/tiling.hpp"
#include "tests/cli/tiles.hpp"

namespace patchfold::cli_test {
namespace {

namespace fs = std::filesystem;

/// A folder with photo.npy, 40 x 50 float32, its 12 tiles in tiles/, and out.npy, which no failed merge may change.
class Merge : public ::testing::Test {
 protected:
  void SetUp() override {
    write_array(folder_, "photo.npy", photo_);
    run_well(folder_, "split photo.npy tiles --tile 16 --overlap 2");
    folder_.write("out.npy", "as it was");
  }
  void expect_refused(const std::string& command, const std::vector<std::string>& fragments, int code = 1) {
    run_badly(folder_, command, fragments, code);
    EXPECT_EQ(folder_.read("out.npy"), "as it was");
  }
  fs::path tile(const std::string& number) const { return folder_.path("tiles/tile-" + number + ".npy"); }

  Array photo_ = random_array({40, 50}, DType::float32);
  Folder folder_;
};

/// Returns the memory that a merge forecasts.
std::int64_t forecast_of(const Folder& folder, const std::string& command) {
  const std::string line = run_well(folder, command + " --dry-run --json");
  const std::size_t at = line.find("\"memory_bytes\": ");
  return at == std::string::npos ? 0 : std::atoll(line.c_str() + at + 16);
}

TEST_F(Merge, AddsTilesUpWhereThatNeedsLessMemoryThanToKeepThem) {
  const Dims cube{8, 8, 8};
  write_array(folder_, "volume.npy", random_array({12, 24, 24}, DType::float32));
  run_well(folder_, "split volume.npy cubes --tile 8,8,8 --overlap 4 --axes 0,1,2");
  const Tiling tiling({.shape = {12, 24, 24}, .tile = cube, .overlap = {4, 4, 4}, .axes = {0, 1, 2}});
  MergeSpec keeping;
  MergeSpec copying;
  copying.copy = true;
  copying.running_sums = RunningSums::float64;
  const std::int64_t sums = merge_memory(tiling, copying, true).most;
  ASSERT_LT(sums, merge_memory(tiling, keeping, true).most);
  EXPECT_EQ(forecast_of(folder_, "merge cubes out.npy --threads 1"), sums + 8 * 8 * 8 * 4);

  const Array noise = random_array({tiling.size(), 8, 8, 8}, DType::float32);
  Array expected{{12, 24, 24}, DType::float32, std::vector<std::byte>(12 * 24 * 24 * 4)};
  Merger merger(tiling, keeping, contiguous(expected.bytes.data(), expected.shape, expected.dtype));
  for (std::int64_t index = 0; index < tiling.size(); ++index) {
    const std::byte* first = noise.bytes.data() + index * 8 * 8 * 8 * 4;
    const std::string name = std::string("cubes/tile-") + (index < 10 ? "0" : "") + std::to_string(index) + ".npy";
    write_array(folder_, name, {cube, DType::float32, {first, first + 8 * 8 * 8 * 4}});
    merger.add(index, contiguous(first, cube, DType::float32));
  }
  merger.finish();
  run_well(folder_, "merge cubes out.npy --processed");
  EXPECT_TRUE(read_array(folder_, "out.npy") == expected);
}

TEST_F(Merge, NamesATileThatIsMissing) {
  fs::remove(tile("07"));
  expect_refused("merge tiles out.npy", {"merge: tile 7 at [1, 3]: tiles/tile-07.npy: is missing"});
  fs::remove(tile("02"));
  fs::remove(tile("11"));
  expect_refused("merge tiles out.npy", {"tile 2 at [0, 2]: tiles/tile-02.npy: is missing; given 3 missing tiles"});
}

TEST_F(Merge, SaysWhyATileCannotBeReached) {
  for (const char* number : {"00", "07"}) {
    fs::rename(tile(number), folder_.path("moved"));
    fs::create_symlink(tile(number), tile(number));
    for (const char* command : {"merge tiles out.npy", "merge tiles out.npy --processed"})
      expect_refused(command, {std::string("tiles/tile-") + number + ".npy: cannot be opened: ", "[file_open]"});
    fs::rename(folder_.path("moved"), tile(number));
  }
}

TEST_F(Merge, NamesATileThatIsDamaged) {
  const std::string sound = folder_.read("tiles/tile-05.npy");
  std::string changed = sound;
  changed.back() ^= 1;
  folder_.write("tiles/tile-05.npy", changed);
  expect_refused("merge tiles out.npy", {"tile 5 at [1, 1]: tiles/tile-05.npy: must hold the pixels", "--processed"});
  folder_.write("tiles/tile-05.npy", sound.substr(0, 300));
  expect_refused("merge tiles out.npy", {"tile 5 at [1, 1]: tiles/tile-05.npy: "});
  expect_refused("merge tiles out.npy --processed", {"tile 5 at [1, 1]: tiles/tile-05.npy: "});
  folder_.write("tiles/tile-05.npy", "");
  expect_refused("merge tiles out.npy", {"tile 5 at [1, 1]: tiles/tile-05.npy: "});
  folder_.write("tiles/tile-05.npy", npy_bytes(npy("<f4", {16, 15}, std::vector<float>(240))));
  expect_refused(
      "merge tiles out.npy",
      {"tile 5 at [1, 1]: tiles/tile-05.npy: must have the size that the plan says; given [16, 15], expected [16, 16]"});
  folder_.write("tiles/tile-05.npy", npy_bytes(npy("<f8", {16, 16}, std::vector<double>(256))));
  expect_refused(
      "merge tiles out.npy",
      {"tile 5", "must have the picture's element type, or merge needs --processed; given float64, expected float32"});
  expect_refused("merge tiles out.npy --processed", {"tile 5", "must have the element type of the other tiles"});
  folder_.write("tiles/tile-05.npy", sound);
  run_well(folder_, "merge tiles out.npy");
}

TEST_F(Merge, NamesAResultWithoutTheTiledAxes) {
  folder_.write("tiles/tile-00.npy", npy_bytes(counting({16})));
  expect_refused("merge tiles out.npy --processed", {"tile 0 at [0, 0]: tiles/tile-00.npy: ", "rank"});
  folder_.write("tiles/tile-00.npy", npy_bytes(counting({})));
  expect_refused("merge tiles out.npy --processed", {"tile 0 at [0, 0]: tiles/tile-00.npy: "});
  folder_.write("tiles/tile-00.npy", npy_bytes(counting({16, 16, 0})));
  expect_refused("merge tiles out.npy --processed", {"tile 0 at [0, 0]: tiles/tile-00.npy: "});
}

TEST_F(Merge, NamesTilesThatHaveChangedPlaces) {
  fs::rename(tile("03"), tile("x"));
  fs::rename(tile("04"), tile("03"));
  fs::rename(tile("x"), tile("04"));
  expect_refused("merge tiles out.npy", {"tile 3 at [0, 3]"});
}

TEST_F(Merge, TakesResultsInPlace) {
  for (const auto& name : words(entries_of(folder_, "tiles"))) {
    if (name == "plan.json") continue;
    const Npy tile = npy_of(folder_.read("tiles/" + name));
    std::vector<double> twice;
    for (const float value : tile.elements<float>()) twice.push_back(2 * value);
    folder_.write("tiles/" + name, npy_bytes(npy("<f8", tile.shape, twice)));
  }
  expect_refused("merge tiles out.npy", {"--processed", "tile 0"});
  run_well(folder_, "merge tiles out.npy --processed");
  const auto merged = npy_of(folder_.read("out.npy")).elements<double>();
  const auto original = npy_of(folder_.read("photo.npy")).elements<float>();
  ASSERT_EQ(merged.size(), original.size());
  for (std::size_t i = 0; i < merged.size(); ++i) ASSERT_EQ(merged[i], 2.0 * original[i]);
}

TEST_F(Merge, TakesResultsFromElsewhere) {
  // Tiles with three channels of another type, in another folder.
  write_array(folder_, "rgb.npy", random_array({40, 50, 3}, DType::uint8));
  run_well(folder_, "split rgb.npy rgb --tile 16 --overlap 2 --axes 0,1");
  fs::create_directory(folder_.path("results"));
  for (const auto& name : words(entries_of(folder_, "rgb"))) {
    if (name == "plan.json") continue;
    const Npy tile = npy_of(folder_.read("rgb/" + name));
    std::vector<std::int16_t> two;
    for (std::size_t i = 0; i < tile.data.size(); i += 3)
      for (const std::size_t c : {2, 0})
        two.push_back(static_cast<std::int16_t>(300 + static_cast<std::uint8_t>(tile.data[i + c])));
    folder_.write("results/" + name, npy_bytes(npy("<i2", {16, 16, 2}, two)));
  }
  run_well(folder_, "merge results out.npy --plan rgb/plan.json");
  const auto merged = npy_of(folder_.read("out.npy")).elements<std::int16_t>();
  const auto original = npy_of(folder_.read("rgb.npy")).elements<std::uint8_t>();
  ASSERT_EQ(merged.size(), 40U * 50 * 2);
  for (std::size_t i = 0; i < 40U * 50; ++i) {
    ASSERT_EQ(merged[2 * i], 300 + original[3 * i + 2]);
    ASSERT_EQ(merged[2 * i + 1], 300 + original[3 * i]);
  }
  folder_.write("out.npy", "as it was");
  expect_refused("merge results out.npy",
                 {"plan: results/plan.json: cannot be opened", "expected a folder that split wrote, or --plan"});
}

TEST_F(Merge, TakesResultsOfAnotherSize) {
  write_array(folder_, "in.npy", random_array({24, 36}, DType::uint8));
  for (const bool doubles : {true, false}) {
    run_well(folder_,
             std::string("split in.npy scaled --force --tile 16,12 --overlap 8,4 --scale ") + (doubles ? "2" : "1/2"));
    const auto original = npy_of(folder_.read("in.npy")).elements<std::uint8_t>();
    for (const auto& name : words(entries_of(folder_, "scaled"))) {
      if (name == "plan.json") continue;
      const auto values = npy_of(folder_.read("scaled/" + name)).elements<std::uint8_t>();
      const std::int64_t height = doubles ? 32 : 8, width = doubles ? 24 : 6;
      std::vector<std::uint8_t> result;
      for (std::int64_t y = 0; y < height; ++y)
        for (std::int64_t x = 0; x < width; ++x)
          result.push_back(values[static_cast<std::size_t>(doubles ? y / 2 * 12 + x / 2 : y * 2 * 12 + x * 2)]);
      folder_.write("scaled/" + name, npy_bytes(npy("|u1", {height, width}, result)));
    }
    run_well(folder_, "merge scaled out.npy --processed");
    const Npy merged = npy_of(folder_.read("out.npy"));
    ASSERT_EQ(merged.shape, (doubles ? std::vector<std::int64_t>{48, 72} : std::vector<std::int64_t>{12, 18}));
    const auto values = merged.elements<std::uint8_t>();
    for (std::int64_t y = 0; y < merged.shape[0]; ++y)
      for (std::int64_t x = 0; x < merged.shape[1]; ++x)
        ASSERT_EQ(values[static_cast<std::size_t>(y * merged.shape[1] + x)],
                  original[static_cast<std::size_t>(doubles ? y / 2 * 36 + x / 2 : y * 2 * 36 + x * 2)]);
  }
}

TEST_F(Merge, MeansAreRoundedOnce) {
  // Two tiles of four pixels share two pixels, which are 10 in one tile and 21 in the other.
  write_array(folder_, "in.npy", random_array({1, 6}, DType::uint8));
  run_well(folder_, "split in.npy two --tile 1,4 --overlap 0,2");
  folder_.write("two/tile-0.npy", npy_bytes(npy<std::uint8_t>("|u1", {1, 4}, {10, 10, 10, 10})));
  folder_.write("two/tile-1.npy", npy_bytes(npy<std::uint8_t>("|u1", {1, 4}, {21, 21, 21, 21})));
  const auto merged = [&](const std::string& options) {
    run_well(folder_, "merge two out.npy --processed " + options);
    return folder_.read("out.npy");
  };
  using Bytes = std::vector<std::uint8_t>;
  EXPECT_EQ(npy_of(merged("--window ones")).elements<std::uint8_t>(), (Bytes{10, 10, 16, 16, 21, 21}));
  EXPECT_EQ(npy_of(merged("--reduce sum --window ones")).elements<std::uint8_t>(), (Bytes{10, 10, 31, 31, 21, 21}));
  EXPECT_EQ(npy_of(merged("--reduce min")).elements<std::uint8_t>(), (Bytes{10, 10, 10, 10, 21, 21}));
  EXPECT_EQ(npy_of(merged("--reduce max")).elements<std::uint8_t>(), (Bytes{10, 10, 21, 21, 21, 21}));
  EXPECT_EQ(npy_of(merged("--reduce center")).elements<std::uint8_t>(), (Bytes{10, 10, 10, 21, 21, 21}));
  const auto floats = npy_of(merged("--window ones --dtype float64")).elements<double>();
  EXPECT_EQ(floats[2], 15.5);
}

TEST_F(Merge, SaysWhetherItBlends) {
  write_array(folder_, "in.npy", random_array({1, 6, 1}, DType::uint8));
  run_well(folder_, "split in.npy two --tile 1,4 --overlap 0,2 --axes 0,1");
  folder_.write("two/tile-0.npy", npy_bytes(npy<std::uint8_t>("|u1", {1, 4, 1}, {0, 0, 0, 0})));
  folder_.write("two/tile-1.npy", npy_bytes(npy<std::uint8_t>("|u1", {1, 4, 1}, {200, 200, 200, 200})));
  const auto merged = [&](const std::string& words, const std::string& said) {
    const std::string out = run_well(folder_, "merge two " + words + " --processed");
    EXPECT_NE(out.find(said), std::string::npos) << out;
  };
  using Bytes = std::vector<std::uint8_t>;
  const auto values = [&] { return npy_of(folder_.read("out.npy")).elements<std::uint8_t>(); };
  merged("out.npy", ", from 2 tiles, not blended (center; --reduce mean blends), ");
  EXPECT_EQ(values(), (Bytes{0, 0, 0, 200, 200, 200}));
  merged("out.npy --window hann", ", from 2 tiles, blended by hann, ");
  const Bytes blended = values();
  EXPECT_GT(blended[3], blended[2]);
  EXPECT_LT(blended[3], 200);
  merged("out.npy --reduce max", ", from 2 tiles, max of overlaps, ");
  if (!formats::has_tiff()) return;
  // Tiles of a picture are not blended by default either, since pictures, like arrays of integers, may hold labels.
  merged("out.tif", ", from 2 tiles, not blended (center; --reduce mean blends), ");
  const std::string picture = folder_.read("out.tif");
  merged("out.tif --reduce center", "not blended (center), ");
  EXPECT_EQ(folder_.read("out.tif"), picture);
  merged("out.tif --reduce mean", "blended by hann");
  EXPECT_NE(folder_.read("out.tif"), picture);
}

TEST_F(Merge, SaysWhichScaleResultsHave) {
  write_array(folder_, "in.npy", random_array({8, 8, 1}, DType::uint8));
  run_well(folder_, "split in.npy four --tile 4 --axes 0,1");
  const auto results = [&](std::int64_t extent) {
    for (int index = 0; index < 4; ++index) {
      const std::vector<std::uint8_t> values(static_cast<std::size_t>(extent * extent));
      folder_.write("four/tile-" + std::to_string(index) + ".npy", npy_bytes(npy("|u1", {extent, extent, 1}, values)));
    }
  };
  results(8);
  expect_refused("merge four out.npy --processed",
                 {"results are twice as large as tiles: split again with --scale 2; given [8, 8, 1], expected [4, 4, 1]"});
  results(12);
  expect_refused("merge four out.npy --processed", {"results are 3 times as large as tiles: split again with --scale 3"});
  results(3);
  expect_refused(
      "merge four out.npy --processed",
      {"must have the size that the plan says; given [3, 3, 1], expected [4, 4, 1], or split again with --offset"});
  results(1);
  expect_refused("merge four out.npy --processed",
                 {"results are 1/4 times as large as tiles: split again with --scale 1/4"});
}

TEST_F(Merge, ReplacesWhatWasSplitOnlyIfThatIsAsked) {
  const std::string photo = folder_.read("photo.npy");
  const std::string merge = "merge tiles photo.npy --processed --dtype float64 --plan tiles/plan.json";
  run_badly(folder_, merge, {"photo.npy: must not replace a file with the name of what was split", "--force"});
  EXPECT_EQ(folder_.read("photo.npy"), photo);
  fs::create_directory(folder_.path("merged"));
  run_well(folder_, "merge tiles merged/photo.npy");
  EXPECT_EQ(folder_.read("merged/photo.npy"), photo);
  run_well(folder_, merge + " --force");
  EXPECT_NE(folder_.read("photo.npy"), photo);
}

TEST_F(Merge, SaysThatASplitDidNotFinish) {
  fs::rename(folder_.path("tiles/plan.json"), folder_.path("tiles/unfinished-split"));
  const std::string rule = "plan: tiles/plan.json: is not written yet: split did not finish, so run it again";
  expect_refused("merge tiles out.npy", {rule, "[file_open]"});
  fs::create_directory(folder_.path("results"));
  expect_refused("merge results out.npy --plan tiles/plan.json", {rule});
}

TEST_F(Merge, RefusesPlansAndPlacesThatAreWrong) {
  expect_refused("merge photo.npy out.npy", {"photo.npy/plan.json"});
  expect_refused("merge tiles none/out.npy", {"none/out.npy"});
  expect_refused("merge tiles tiles.npy/out.npy", {"tiles.npy/out.npy"});
  expect_refused("merge tiles tiles/plan.json", {"OUT: must end in"}, 2);
  expect_refused("merge tiles out.npy --plan photo.npy", {"plan: photo.npy: must be JSON"});
  expect_refused("merge tiles tiles/tile-00.npy", {"must not be one of the tiles"});
  fs::create_directory(folder_.path("empty"));
  expect_refused("merge empty out.npy --plan tiles/plan.json",
                 {"tile 0 at [0, 0]: empty/tile-00.npy: is missing; given 12 missing"});
}

TEST_F(Merge, ArraysTiledAlongOtherAxesAreNoPictures) {
  write_array(folder_, "in.npy", random_array({2, 3, 8, 8}, DType::uint8));
  run_well(folder_, "split in.npy planes --tile 4");
  run_badly(folder_, "merge planes out.png", {"out.png: must be a .npy file", "expected H x W x C or C x H x W"});
  run_well(folder_, "merge planes out.npy");
  EXPECT_TRUE(read_array(folder_, "out.npy") == read_array(folder_, "in.npy"));
}

TEST_F(Merge, TellsBeforehandWhatWillBeWritten) {
  const std::string out = run_well(folder_, "merge tiles out.npy --dry-run");
  EXPECT_NE(out.find("out.npy: 40 x 50, float32, 8.0 kB without compression, from 12 tiles (3 x 4); needs"),
            std::string::npos)
      << out;
  EXPECT_EQ(folder_.read("out.npy"), "as it was");
  EXPECT_EQ(run_well(folder_, "merge tiles out.npy -q"), "");
}

/// Writes, in place of each tile, scores of three classes: 100, the pixel, and 50.
void write_scores(const Folder& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const Array tile = read_array(folder, name);
    Array scores{{3, tile.shape[0], tile.shape[1]}, DType::float32, std::vector<std::byte>(3 * tile.bytes.size())};
    const std::size_t count = tile.bytes.size() / sizeof(float);
    auto* to = reinterpret_cast<float*>(scores.bytes.data());
    std::fill_n(to, count, 100.0F);
    std::memcpy(to + count, tile.bytes.data(), tile.bytes.size());
    std::fill_n(to + 2 * count, count, 50.0F);
    write_array(folder, name, scores);
  }
}

TEST_F(Merge, MakesLabelsOfScores) {
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) names.push_back(std::string("tiles/tile-") + (i < 10 ? "0" : "") + std::to_string(i) + ".npy");
  write_scores(folder_, names);
  const std::string report = run_well(folder_, "merge tiles out.npy --processed --reduce argmax");
  EXPECT_NE(report.find("out.npy: 40 x 50, uint8, from 12 tiles, argmax blended by hann"), std::string::npos) << report;
  Array expected{{40, 50}, DType::uint8, std::vector<std::byte>(2000)};
  for (std::size_t i = 0; i < 2000; ++i)
    expected.bytes[i] = static_cast<std::byte>(reinterpret_cast<const float*>(photo_.bytes.data())[i] > 100);
  EXPECT_EQ(read_array(folder_, "out.npy"), expected);
  if (!formats::has_pictures()) return;
  run_well(folder_, "merge tiles out.png --processed --reduce argmax");
  const Array picture = read_array(folder_, "out.png");
  EXPECT_EQ(picture.bytes, expected.bytes);
  EXPECT_EQ(picture.shape, (Dims{40, 50, 1}));
}

TEST_F(Merge, WrongWordsAreUsage) {
  for (const auto& [command, fragment] : {std::pair{"merge tiles out.npy --window gaussian:0", "--window: needs a sigma"},
                                          {"merge tiles out.npy --window tukey:2", "--window: needs an alpha from 0 to 1"},
                                          {"merge tiles out.npy --dtype int8", "--dtype: must be float32 or float64"},
                                          {"merge tiles out.npy --fill red", "--fill"},
                                          {"merge tiles out.npy --compress lzw", "--compress: applies to .tif only"},
                                          {"merge tiles out.npy --bigtiff", "--bigtiff: applies"},
                                          {"merge tiles out.tif --compress zip", "expected none, deflate, lzw, zstd or jpeg"},
                                          {"merge tiles out.tif --tiff-tile 100", "--tiff-tile"}})
    expect_refused(command, {fragment}, 2);
}

/// A picture in 48 PNG tiles. Four tiles are changed, so that they differ from the tiles that they overlap.
class MergeOnThreads : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!formats::has_pictures()) GTEST_SKIP() << "built without pictures";
    write_array(folder_, "photo.png", random_array({300, 400, 3}, DType::uint8));
    run_well(folder_, "split photo.png tiles --tile 64 --overlap 10");
    for (const char* number : {"03", "11", "27", "34"})
      write_array(folder_, std::string("tiles/tile-") + number + ".png", random_array({64, 64, 3}, DType::uint8));
  }
  Folder folder_;
};

TEST_F(MergeOnThreads, GivesTheSameBytesAsOnOne) {
  for (const std::string name : {".png", ".npy"}) {
    run_well(folder_, "merge tiles one" + name + " --processed --threads 1");
    for (const char* threads : {"2", "7"}) {
      run_well(folder_, "merge tiles many" + name + " --processed --threads " + threads);
      EXPECT_EQ(folder_.read("many" + name), folder_.read("one" + name)) << threads;
    }
  }
}

TEST_F(MergeOnThreads, HoldsUpToFourTilesForEachThread) {
  set_num_threads(3);
  const bool has_threads = get_num_threads() == 3;  // builds without oneTBB have one thread
  set_num_threads(0);
  const auto bytes = [&](const std::string& threads) {
    return forecast_of(folder_, "merge tiles out.png --threads " + threads);
  };
  constexpr std::int64_t tile = 64 * 64 * 3;
  const std::int64_t one = bytes("1");
  EXPECT_GE(one, tile);
  EXPECT_EQ(bytes("3") - one, has_threads ? 11 * tile : 0);
  EXPECT_EQ(bytes("7") - one, has_threads ? 27 * tile : 0);
  EXPECT_EQ(bytes("1000") - one, has_threads ? 47 * tile : 0);  // there are 48 tiles
}

TEST_F(MergeOnThreads, NamesTheFirstTileThatIsDamaged) {
  folder_.write("tiles/tile-13.png", "no picture");
  folder_.write("tiles/tile-14.png", "nor this");
  for (int round = 0; round < 10; ++round)
    run_badly(folder_, "merge tiles out.png --processed --threads 4", {"tile 13 at [1, 5]: tiles/tile-13.png: "});
  EXPECT_EQ(folder_.entries().find("out.png"), std::string::npos);
}

}  // namespace
}  // namespace patchfold::cli_test
