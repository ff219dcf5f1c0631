// SPDX-License-Identifier: Apache-2.0
// Tests `patchfold split`: content of the tiles, plan.json, and a second run.
// Tests that pictures and arrays are unchanged after a split and a merge.
#include <gtest/gtest.h>

#include <cstdlib>

#include "formats/picture.hpp"
#include "tests/cli/tiles.hpp"

namespace patchfold::cli_test {
namespace {

bool has_formats() {
  return formats::has_pictures() && formats::has_tiff();
}

/// Returns the index of the element that padding copies to place `at` of an axis, or -1 if it copies none.
std::int64_t padded(std::string_view mode, std::int64_t at, std::int64_t extent) {
  if (at >= 0 && at < extent) return at;
  if (mode == "edge") return at < 0 ? 0 : extent - 1;
  if (mode == "constant") return -1;
  const std::int64_t period = mode == "wrap" ? extent : mode == "reflect" ? 2 * extent - 2 : 2 * extent;
  at = (at % period + period) % period;
  return at < extent ? at : period - (mode == "reflect" ? 0 : 1) - at;
}

TEST(Split, TilesHoldWhatTheFormulaSays) {
  // The heights are smaller than a tile, as long as a tile, a little longer, and much longer.
  for (const std::int64_t height : {3, 8, 9, 13, 30})
    for (const char* mode : {"constant", "edge", "reflect", "symmetric", "wrap"})
      for (const std::int64_t stride : {8, 5, 3, 11})
        for (const std::int64_t margin : {0, 2, 9}) {
          SCOPED_TRACE(::testing::Message()
                       << height << " rows, " << mode << ", stride " << stride << ", margin " << margin);
          const Folder folder;
          std::vector<std::int32_t> values(static_cast<std::size_t>(height * 7));
          for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i) + 1;
          folder.write("in.npy", npy_bytes(npy("<i4", {height, 7}, values)));
          std::string command =
              "split in.npy tiles --tile 8,4 --tail pad --stride " + std::to_string(stride) + ",4 --padding-mode " + mode;
          if (std::string_view(mode) == "constant") command += " --value -9";
          if (margin > 0) command += " --margin " + std::to_string(margin) + ":3,1:2";  // height before and behind, width
          run_well(folder, command);
          const std::int64_t columns = margin > 0 ? 3 : 2, left = margin > 0 ? 1 : 0;
          const auto names =
              words(entries_of(folder, "tiles"));  // plan.json, and then `columns` tiles for each row of tiles
          ASSERT_EQ((static_cast<std::int64_t>(names.size()) - 1) % columns, 0);
          for (std::size_t k = 0; k + 1 < names.size(); ++k) {
            const Npy tile = npy_of(folder.read("tiles/" + names[k + 1]));
            ASSERT_EQ(tile.shape, (std::vector<std::int64_t>{8, 4})) << names[k + 1];
            const auto given = tile.elements<std::int32_t>();
            const auto row = static_cast<std::int64_t>(k) / columns, column = static_cast<std::int64_t>(k) % columns;
            for (std::int64_t y = 0; y < 8; ++y)
              for (std::int64_t x = 0; x < 4; ++x) {
                const std::int64_t from_y = padded(mode, row * stride + y - margin, height);
                const std::int64_t from_x = padded(mode, column * 4 + x - left, 7);
                const std::int64_t expected = from_y < 0 || from_x < 0 ? -9 : from_y * 7 + from_x + 1;
                ASSERT_EQ(given[static_cast<std::size_t>(y * 4 + x)], expected) << names[k + 1] << " " << y << " " << x;
              }
          }
        }
}

TEST(Split, ArraysInAnyOrderAndAlongAnyAxesGiveTheSameTiles) {
  const Folder folder;
  const Npy rows = counting({9, 10, 11});
  folder.write("c.npy", npy_bytes(rows));
  Npy columns = rows;
  columns.fortran_order = true;
  const auto values = rows.elements<std::int64_t>();
  std::vector<std::int64_t> turned(values.size());
  for (std::size_t z = 0; z < 9; ++z)
    for (std::size_t y = 0; y < 10; ++y)
      for (std::size_t x = 0; x < 11; ++x) turned[(x * 10 + y) * 9 + z] = values[(z * 10 + y) * 11 + x];
  std::memcpy(columns.data.data(), turned.data(), columns.data.size());
  folder.write("f.npy", npy_bytes(columns));
  for (const char* axes : {"0,1,2", "-3,-1", "1", "0", "1,2"}) {
    SCOPED_TRACE(axes);
    const std::string options = std::string(" --force --tile 4 --overlap 1 --tail partial --axes ") + axes;
    run_well(folder, "split c.npy c" + options);
    run_well(folder, "split f.npy f" + options);
    for (const auto& name : words(entries_of(folder, "c"))) {
      if (name == "plan.json") continue;
      EXPECT_EQ(folder.read("c/" + name), folder.read("f/" + name)) << name;
    }
    EXPECT_EQ(entries_of(folder, "c"), entries_of(folder, "f"));
    run_well(folder, "merge c again.npy --window ones");
    EXPECT_EQ(npy_of(folder.read("again.npy")).data, rows.data);
    EXPECT_EQ(npy_of(folder.read("again.npy")).shape, rows.shape);
  }
}

TEST(Split, ChoosesAFormatThatHoldsThePicture) {
  if (!has_formats()) GTEST_SKIP() << "built without pictures or TIFF";
  struct Case {
    const char* name;
    DType dtype;
    std::int64_t channels;
    const char* extension;
  };
  for (const auto& [name, dtype, channels, extension] :
       {Case{"a.png", DType::uint8, 3, ".png"}, Case{"b.tif", DType::uint16, 4, ".png"},
        Case{"c.tif", DType::uint8, 5, ".tif"}, Case{"f.jpg", DType::uint8, 3, ".png"},
        Case{"d.tif", DType::float32, 1, ".tif"}, Case{"e.npy", DType::uint8, 3, ".npy"}}) {
    const Folder folder;
    write_array(folder, name, random_array({4, 4, channels}, dtype));
    run_well(folder, std::string("split ") + name + " tiles --tile 4" + (name[0] == 'e' ? " --axes 0,1" : ""));
    EXPECT_EQ(entries_of(folder, "tiles"), std::string("plan.json tile-0") + extension);
  }
}

TEST(Split, ChecksumsAreThoseOfZlib) {
  if (std::system("python3 -c '' 2>/dev/null") != 0) GTEST_SKIP() << "no python3";
  const Folder folder;
  write_array(folder, "in.npy", random_array({31, 45, 2}, DType::uint16));
  run_well(folder, "split in.npy tiles --tile 16 --axes 0,1 --overlap 3 --tail partial");
  folder.write("check.py", R"(
import ast, json, sys, zlib
plan = json.load(open("tiles/plan.json"))
for tile in plan["tiles"]:
    data = open("tiles/" + tile["file"], "rb").read()
    length = int.from_bytes(data[8:10], "little")
    shape = ast.literal_eval(data[10:10 + length].decode())["shape"]
    assert shape[:2] == tuple(end - begin for begin, end in tile["read"]), tile
    assert zlib.crc32(data[10 + length:]) == tile["crc32"], tile
assert len(plan["tiles"]) == 12 and plan["source"] == {"file": "in.npy", "page": None, "type": "uint16"}
)");
  EXPECT_EQ(std::system(("cd '" + folder.path("").string() + "' && python3 check.py").c_str()), 0);
}

/// A folder with photo.npy, 40 x 50, and its 12 tiles in tiles/.
class SplitAgain : public ::testing::Test {
 protected:
  void SetUp() override {
    write_array(folder_, "photo.npy", random_array({40, 50}, DType::uint8));
    EXPECT_NE(run_well(folder_, split_).find("12 written, 0 skipped"), std::string::npos);
    for (const auto& name : words(entries_of(folder_, "tiles"))) contents_.push_back(folder_.read("tiles/" + name));
  }
  void expect_whole() {
    std::size_t next = 0;
    for (const auto& name : words(entries_of(folder_, "tiles")))
      EXPECT_EQ(folder_.read("tiles/" + name), contents_[next++]) << name;
    EXPECT_EQ(next, contents_.size());
  }
  void expect_written(int count, const std::string& options = "") {
    const std::string expected = std::to_string(count) + " written, " + std::to_string(12 - count) + " skipped";
    const std::string out = run_well(folder_, split_ + options);
    EXPECT_NE(out.find(expected), std::string::npos) << out;
    expect_whole();
  }

  Folder folder_;
  std::string split_ = "split photo.npy tiles --tile 16 --overlap 2";
  std::vector<std::string> contents_;
};

TEST_F(SplitAgain, SkipsWhatIsThere) {
  expect_written(0);
  std::filesystem::remove(folder_.path("tiles/plan.json"));
  run_badly(folder_, split_,
            {"tiles: must not hold the tiles of another split; given tile-00.npy, which no plan.json lists"});
  expect_written(0, " --force");
}

TEST_F(SplitAgain, WritesWhatIsMissingOrDamaged) {
  std::filesystem::remove(folder_.path("tiles/tile-03.npy"));
  expect_written(1);
  std::string tile = folder_.read("tiles/tile-04.npy");
  tile.back() ^= 1;
  folder_.write("tiles/tile-04.npy", tile);
  expect_written(1);
  folder_.write("tiles/tile-05.npy", tile.substr(0, tile.size() - 1));
  folder_.write("tiles/tile-06.npy", "garbage");
  folder_.write("tiles/tile-07.npy", "");
  folder_.write("tiles/tile-08.npy", npy_bytes(counting({16, 16})));
  folder_.write("tiles/tile-09.npy", npy_bytes(npy<std::int8_t>("|i1", {16, 16}, std::vector<std::int8_t>(256))));
  folder_.write("tiles/notes.txt", "not a tile");
  std::filesystem::remove(folder_.path("tiles/notes.txt"));
  expect_written(5);
}

TEST_F(SplitAgain, WritesNewTilesOfAPictureThatHasChanged) {
  Array changed = read_array(folder_, "photo.npy");
  changed.bytes[0] ^= std::byte{1};
  write_array(folder_, "photo.npy", changed);
  EXPECT_NE(run_well(folder_, split_).find("1 written, 11 skipped"), std::string::npos);
}

TEST_F(SplitAgain, DoesNotMixTilesOfDifferentSplits) {
  run_badly(folder_, "split photo.npy tiles --tile 16 --overlap 3",
            {"tiles: must not hold the tiles of another split", "--force"});
  run_badly(folder_, "split photo.npy tiles --tile 10", {"another tiling.tile"});
  folder_.write("other.npy", folder_.read("photo.npy"));
  run_badly(folder_, "split other.npy tiles --tile 16 --overlap 2", {"another source.file"});
  std::filesystem::remove(folder_.path("tiles/plan.json"));
  run_badly(folder_, "split photo.npy tiles --tile 30 --tail pad", {"given tile-00.npy"});
  contents_.erase(contents_.begin());
  expect_whole();
  EXPECT_NE(run_well(folder_, "split photo.npy tiles --tile 30 --tail pad --force").find("4 written"), std::string::npos);
  EXPECT_EQ(entries_of(folder_, "tiles"), "plan.json tile-0.npy tile-1.npy tile-2.npy tile-3.npy");
}

TEST_F(SplitAgain, ADamagedPlanIsNotOverwrittenUnlessForced) {
  folder_.write("tiles/plan.json", "{");
  run_badly(folder_, split_, {"plan: tiles/plan.json: must be JSON"});
  expect_written(0, " --force");
}

TEST_F(SplitAgain, TellsBeforehandWhatWillBeWritten) {
  const std::string out = run_well(folder_, "split photo.npy new --tile 16 --overlap 2 --dry-run");
  EXPECT_NE(out.find("new: 12 tiles (3 x 4) of 16 x 16, uint8, 3.1 kB without compression; needs"), std::string::npos)
      << out;
  EXPECT_EQ(folder_.entries(), "photo.npy tiles");
  EXPECT_EQ(run_well(folder_, split_ + " --quiet"), "");
}

TEST(Split, RefusesWhatItCannotDo) {
  const Folder folder;
  folder.write("a.npy", npy_bytes(counting({6, 20})));
  folder.write("none.npy", npy_bytes(counting({0, 4})));
  folder.write("scalar.npy", npy_bytes(counting({})));
  run_badly(folder, "split a.npy tiles --tile 8 --tail drop", {"large enough for a tile"});
  run_badly(folder, "split a.npy tiles --tile 4 --tail error", {"shape: must be covered by whole tiles"});
  run_badly(folder, "split a.npy tiles --tile 4,4,4", {"rank"});
  run_badly(folder, "split a.npy tiles --tile 1152921504606846975 --tail pad", {"patchfold: "});
  run_badly(folder, "split a.npy tiles --tile 8 --tail pad --value 1.5", {"value"});
  run_badly(folder, "split a.npy tiles --tile 4 --format tif", {"tile-"});
  run_badly(folder, "split a.npy tiles --tile 4 --format png", {"--format: must hold the picture's elements", "tif or npy"});
  run_badly(folder, "split a.npy tiles --tile 4 --format jpg",
            {"--format: must hold the picture's elements: JPEG has 8 bits"});
  folder.write("tile-7.npy", folder.read("a.npy"));
  run_badly(folder, "split tile-7.npy . --tile 4 --force", {"tile-7.npy: must not be a tile in the folder"});
  folder.write("many.npy", npy_bytes({"|V1", {5000, 5000}, std::string(25'000'000, ' ')}));
  run_badly(folder, "split many.npy tiles --tile 1", {"must not give so many tiles; given 25000000"});
  run_badly(folder, "split none.npy tiles --tile 1", {"large enough"});
  run_badly(folder, "split scalar.npy tiles --tile 1", {"must have an axis for each extent of the tile"});
  run_badly(folder, "split a.npy a.npy/tiles --tile 4", {"a.npy/tiles"});
  run_badly(folder, "split a.npy tiles --tile 4 --page 1", {"has no pages"});
}

TEST(Split, WrongWordsAreUsage) {
  const Folder folder;
  for (const auto& [command, fragment] :
       {std::pair{"split", "PICTURE: is required"},
        {"split a.npy b --tile four", "--tile"},
        {"split a.npy b --tile 4 --padding-mode edge",
         "--padding-mode: applies to --margin, --align, --tail pad and shift_or_pad only"},
        {"split a.npy b --tile 4 --tail pad --padding-mode none", "expected constant, edge, reflect, symmetric or wrap"},
        {"split a.npy b --tile 4 --quality 9", "--quality: applies to --format jpg only"},
        {"split a.npy b --tile 4 --format jpg --quality 0", "--quality"},
        {"split a.npy b --tile 4 --scale 1/", "--scale"},
        {"split a.npy b --tile 4 --scale 2,", "--scale"}})
    run_badly(folder, command, {fragment}, 2);
}

struct Way {
  const char* split;
  const char* merge = "";
};

constexpr Way ways[] = {
    {"--tile 16 --overlap 5"},
    {"--tile 16,20 --stride 11,13", "--window linear"},
    {"--tile 16 --overlap 5 --tail pad --padding-mode reflect", "--window cosine"},
    {"--tile 64 --overlap 40 --tail pad --padding-mode edge", "--window gaussian"},
    {"--tile 16 --tail partial --overlap 7", "--window gaussian:0.3"},
    {"--tile 200 --tail partial", "--window ones"},
    {"--tile 16 --overlap 12", "--reduce first"},
    {"--tile 16 --overlap 4", "--reduce last"},
    {"--tile 16 --overlap 4", "--reduce center"},
    {"--tile 16 --overlap 4", "--reduce max"},
    {"--tile 1,71 --tail error", "--reduce min"},
    {"--tile 53,71 --tail error --overlap 52,70"},
};

void expect_round_trips(const std::string& name, const Array& array, const std::string& options = "") {
  for (const Way& way : ways) {
    SCOPED_TRACE(name + " " + way.split + " " + way.merge);
    const Folder folder;
    write_array(folder, name, array);
    run_well(folder, "split " + name + " tiles " + way.split + options);
    run_well(folder, "merge tiles again" + std::filesystem::path(name).extension().string() + " " + way.merge);
    EXPECT_TRUE(read_array(folder, "again" + std::filesystem::path(name).extension().string()) == array);
  }
}

TEST(SplitMerge, PngComesOutAsItWas) {
  if (!formats::has_pictures()) GTEST_SKIP() << "built without pictures";
  for (const std::int64_t channels : {1, 3, 4}) expect_round_trips("a.png", random_array({53, 71, channels}, DType::uint8));
  expect_round_trips("a.png", random_array({53, 71, 3}, DType::uint16));
}

TEST(SplitMerge, TiffComesOutAsItWas) {
  if (!formats::has_tiff()) GTEST_SKIP() << "built without TIFF";
  for (const std::int64_t channels : {1, 3, 4}) {
    const char* format = channels == 3 ? " --format npy" : " --format tif";
    expect_round_trips("a.tif", random_array({53, 71, channels}, DType::uint8), format);
    expect_round_trips("a.tif", random_array({53, 71, channels}, DType::uint16), format);
    expect_round_trips("a.tif", random_array({53, 71, channels}, DType::float32));
  }
}

TEST(SplitMerge, ArraysComeOutAsTheyWere) {
  expect_round_trips("a.npy", random_array({53, 71}, DType::float32));
  expect_round_trips("a.npy", random_array({3, 53, 71}, DType::uint16));
  expect_round_trips("a.npy", random_array({53, 71, 2}, DType::uint8), " --axes 0,1");
}

TEST(SplitMerge, VolumesComeOutAsTheyWere) {
  const Array volume = random_array({2, 19, 23, 21}, DType::uint16);
  for (const char* options : {"--tile 8,9,10 --overlap 3", "--tile 30,8,8 --overlap 2 --tail pad --padding-mode symmetric",
                              "--tile 2,8,8,8 --tail partial", "--axes 0,1,2,3 --tile 1,8,8,8 --overlap 0,3,3,3",
                              "--axes 2 --tile 8", "--axes 0 --tile 1"}) {
    const Folder folder;
    write_array(folder, "in.npy", volume);
    run_well(folder, std::string("split in.npy tiles ") + options);
    run_well(folder, "merge tiles out.npy");
    EXPECT_TRUE(read_array(folder, "out.npy") == volume) << options;
  }
}

TEST(SplitMerge, WhatIsDroppedIsFilled) {
  const Folder folder;
  const Array array = random_array({20, 20}, DType::uint8);
  write_array(folder, "in.npy", array);
  for (const char* options : {"--tile 16 --tail drop", "--tile 4 --stride 16 --tail drop"}) {
    run_well(folder, std::string("split in.npy tiles --force ") + options);
    run_badly(folder, "merge tiles out.npy", {"unless a fill is given"});
    run_well(folder, "merge tiles out.npy --fill 7");
    const bool gaps = std::string_view(options).find("stride") != std::string_view::npos;
    const auto is_given = [gaps](std::size_t at) { return gaps ? at < 4 || at >= 16 : at < 16; };
    const Array out = read_array(folder, "out.npy");
    for (std::size_t i = 0; i < 400; ++i)
      ASSERT_EQ(out.bytes[i], is_given(i / 20) && is_given(i % 20) ? array.bytes[i] : std::byte{7}) << options << i;
    std::filesystem::remove(folder.path("out.npy"));
  }
}

TEST(SplitMerge, PicturesGoFromFormatToFormat) {
  if (!formats::has_pictures() || !formats::has_tiff()) GTEST_SKIP() << "built without pictures or TIFF";
  const Folder folder;
  const Array picture = random_array({40, 30, 3}, DType::uint8);
  write_array(folder, "in.png", picture);
  run_well(folder, "split in.png tiles --tile 16 --overlap 4");
  for (const char* out :
       {"a.tif", "a.tif --compress deflate --tiff-tile 16", "a.tif --compress lzw --bigtiff", "a.npy", "a.png"}) {
    run_well(folder, std::string("merge tiles ") + out);
    EXPECT_TRUE(read_array(folder, words(out)[0]) == picture) << out;
  }
  std::filesystem::create_directory(folder.path("results"));
  for (const auto& name : words(entries_of(folder, "tiles"))) {
    if (name == "plan.json") continue;
    write_array(folder, "results/" + name.substr(0, name.size() - 3) + "npy", read_array(folder, "tiles/" + name));
  }
  run_well(folder, "merge results from-arrays.png --plan tiles/plan.json");
  EXPECT_TRUE(read_array(folder, "from-arrays.png") == picture);
  EXPECT_EQ(folder.read("a.tif").substr(0, 4), std::string("II+\0", 4));
  run_well(folder, "merge tiles a.jpg");
  EXPECT_EQ(read_array(folder, "a.jpg").shape, picture.shape);
  run_well(folder, "merge tiles floats.npy --dtype float32");
  const Array floats = read_array(folder, "floats.npy");
  EXPECT_EQ(floats.dtype, DType::float32);
  for (std::size_t i = 0; i < picture.bytes.size(); ++i) {
    float value = 0;
    std::memcpy(&value, floats.bytes.data() + i * sizeof(float), sizeof(float));
    ASSERT_EQ(value, static_cast<float>(picture.bytes[i]));
  }
  const Outcome out = folder.run("merge tiles - --format npy");
  EXPECT_EQ(npy_of(out.out).shape, (std::vector<std::int64_t>{40, 30, 3}));
  EXPECT_NE(out.err.find("from 9 tiles"), std::string::npos);
}

TEST(SplitMerge, OfASmallPictureSayWhatToDo) {
  const Folder folder;
  write_array(folder, "in.npy", random_array({5, 9}, DType::uint8));
  run_badly(folder, "split in.npy tiles --tile 16",
            {"tile: must not be larger than the array", "or --tail shift_or_pad, --tail pad or --tail partial"});
  for (const char* tail : {"pad", "partial", "shift_or_pad"}) {
    run_well(folder, std::string("split in.npy tiles --force --tile 16 --tail ") + tail);
    run_well(folder, "merge tiles out.npy");
    EXPECT_TRUE(read_array(folder, "out.npy") == read_array(folder, "in.npy"));
  }
  // A tile of this size fits no memory. With --tail partial, the only tile is as small as the array.
  run_well(folder, "split in.npy tiles --force --tile 1152921504606846975 --tail partial");
  run_well(folder, "merge tiles out.npy");
  EXPECT_TRUE(read_array(folder, "out.npy") == read_array(folder, "in.npy"));
}

TEST(SplitMerge, RecordsMoveWithoutArithmetic) {
  const Folder folder;
  std::vector<std::uint32_t> values(20 * 20);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i * 77777);
  folder.write("in.npy", npy_bytes(npy("[('a', '<i2'), ('b', '|S2')]", {20, 20}, values)));
  run_well(folder, "split in.npy tiles --tile 8 --overlap 3");
  run_badly(folder, "merge tiles out.npy", {"must be numbers for the reduction mean"});
  run_well(folder, "merge tiles out.npy --reduce center");
  EXPECT_EQ(npy_of(folder.read("out.npy")).data, npy_of(folder.read("in.npy")).data);
  EXPECT_EQ(npy_of(folder.read("out.npy")).descr, npy_of(folder.read("in.npy")).descr);
}

}  // namespace
}  // namespace patchfold::cli_test
