// SPDX-License-Identifier: Apache-2.0
// Tests pictures that are easily read or written wrongly without an error, or not at all.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "formats/rows.hpp"
#include "tests/cli/tiles.hpp"
#include "tests/formats/picture_files.hpp"

namespace patchfold::cli_test {
namespace {

namespace fs = std::filesystem;

TEST(PictureFrictions, AnUnfinishedSplitGoesOnAndAnotherDoesNot) {
  const Folder folder;
  write_array(folder, "photo.png", random_array({2000, 3000, 3}, DType::uint8));
  const std::string split = "split photo.png tiles --tile 128 --overlap 16";
  folder.run(split, {.signal = SIGKILL, .signal_once = "tiles/tile-005.png"});
  ASSERT_NE(entries_of(folder, "tiles").find("unfinished-split"), std::string::npos);
  run_badly(folder, "split photo.png tiles --tile 128 --overlap 8", {"given unfinished-split, which another split left"});
  run_badly(folder, "merge tiles out.png", {"tiles/plan.json: is not written yet: split did not finish, so run it again"});
  run_well(folder, split);
  EXPECT_EQ(entries_of(folder, "tiles").find("unfinished-split"), std::string::npos);
}

/// A folder with photo.png, a picture of 16 x 16 in colours, and its four tiles.
class OtherProgramsTiles : public testing::Test {
 protected:
  void SetUp() override {
    for (std::size_t i = 0; i < 16 * 3; i += 6) photo_.bytes[i] = std::byte{9};
    for (std::size_t y = 0; y < 8; ++y)
      std::fill_n(photo_.bytes.begin() + static_cast<std::ptrdiff_t>(y * 48), 24, std::byte{0});  // tile 0 is black
    write_array(folder_, "photo.png", photo_);
    run_well(folder_, "split photo.png tiles --tile 8");
  }

  Array photo_ = random_array({16, 16, 3}, DType::uint8);
  Folder folder_;
};

TEST_F(OtherProgramsTiles, GreyAmongColoursIsPromoted) {
  // ImageMagick writes a black tile as grey of 1 bit; patchfold's reader returns 8 bits.
  const std::string black =
      formats::test::png_file({.width = 8, .height = 8, .bit_depth = 1, .rows = std::string(16, '\0')});
  folder_.write("tiles/tile-0.png", black);
  for (const char* options : {"", " --processed"}) {
    run_well(folder_, std::string("merge tiles again.png") + options);
    EXPECT_TRUE(read_array(folder_, "again.png") == photo_) << options;
  }
}

TEST_F(OtherProgramsTiles, SixteenBitsAndAlphaAreKept) {
  Array deep{{8, 8, 2}, DType::uint16, {}};
  for (int i = 0; i < 64; ++i)
    for (const int value : {1000 + i, 40000}) {
      deep.bytes.push_back(static_cast<std::byte>(value & 255));
      deep.bytes.push_back(static_cast<std::byte>(value >> 8));
    }
  write_array(folder_, "tiles/tile-3.png", deep);
  run_well(folder_, "merge tiles again.png --processed");
  const Array merged = read_array(folder_, "again.png");
  ASSERT_EQ(merged.shape, (Dims{16, 16, 4}));
  ASSERT_EQ(merged.dtype, DType::uint16);
  const auto at = [&](int y, int x, int c) {
    std::uint16_t value;
    std::memcpy(&value, merged.bytes.data() + ((y * 16 + x) * 4 + c) * 2, 2);
    return value;
  };
  EXPECT_EQ(at(3, 12, 1), 257 * std::to_integer<int>(photo_.bytes[(3 * 16 + 12) * 3 + 1]));
  EXPECT_EQ(at(3, 12, 3), 65535);
  EXPECT_EQ(at(9, 10, 0), 1000 + 8 + 2);
  EXPECT_EQ(at(9, 10, 2), 1000 + 8 + 2);
  EXPECT_EQ(at(9, 10, 3), 40000);
  run_badly(folder_, "merge tiles again.png", {"tile 3 at [1, 1]: tiles/tile-3.png: "});
}

TEST_F(OtherProgramsTiles, TheOddOneIsNamed) {
  run_well(folder_, "split photo.png arrays --tile 8 --format npy");
  write_array(folder_, "arrays/tile-0.npy", random_array({8, 8, 1}, DType::uint8));
  run_badly(folder_, "merge arrays out.npy --processed",
            {"tile 0 at [0, 0]: arrays/tile-0.npy: must have the channels of the other tiles; given [1], expected [3]"});
  write_array(folder_, "arrays/tile-0.npy", random_array({8, 8, 3}, DType::float32));
  run_badly(folder_, "merge arrays out.npy --processed",
            {"tile 0 at [0, 0]: arrays/tile-0.npy: must have the element type of the other tiles; given float32, "
             "expected uint8"});
}

TEST(PictureFrictions, TilesOfChannelsFirstMergeIntoAPicture) {
  const Folder folder;
  const Array chw = random_array({3, 30, 41}, DType::uint8);
  write_array(folder, "chw.npy", chw);
  run_well(folder, "split chw.npy tiles --tile 16 --overlap 4");
  for (const char* name : {"out.png", "out.tif"}) {
    run_well(folder, std::string("merge tiles ") + name);
    const Array picture = read_array(folder, name);
    ASSERT_EQ(picture.shape, (Dims{30, 41, 3}));
    for (std::size_t i = 0; i < 30 * 41; ++i)
      for (std::size_t c = 0; c < 3; ++c) ASSERT_EQ(picture.bytes[i * 3 + c], chw.bytes[c * 30 * 41 + i]) << i << " " << c;
  }
  run_well(folder, "merge tiles out.npy");
  EXPECT_TRUE(read_array(folder, "out.npy") == chw);
}

TEST(PictureFrictions, ResultsOfChannelsFirstMergeIntoAPicture) {
  const Folder folder;
  const Array photo = random_array({20, 20, 3}, DType::uint8);
  write_array(folder, "photo.png", photo);
  run_well(folder, "split photo.png tiles --tile 10");
  fs::create_directory(folder.path("results"));
  for (int tile = 0; tile < 4; ++tile) {
    const std::string name = "tile-" + std::to_string(tile);
    run_well(folder, "run space_to_depth tiles/" + name + ".png --chw --block 1,1 -q -o results/" + name + ".npy");
  }
  run_badly(folder, "merge results out.png --plan tiles/plan.json", {"tile 0 at [0, 0]: results/tile-0.npy: must have"});
  run_well(folder, "merge results out.png --plan tiles/plan.json --chw");
  EXPECT_TRUE(read_array(folder, "out.png") == photo);
  run_badly(folder, "merge results out.npy --plan tiles/plan.json --chw", {"--chw: applies to .png, .jpg and .tif only"}, 2);
}

TEST(PictureFrictions, FloatsFromZeroToOneAreNeverBlackInSilence) {
  const Folder folder;
  std::vector<float> numbers;
  for (int i = 0; i < 48; ++i) numbers.push_back(static_cast<float>(i) / 47);
  folder.write("floats.npy", npy_bytes(npy("<f4", {4, 4, 3}, numbers)));
  const std::string run = "run space_to_depth floats.npy --block 1,1 -o ";
  for (const char* name : {"out.png", "out.jpg"})
    run_badly(folder, run + name,
              {std::string(name) + ": would be black", "given numbers from 0 to 1", "--range 0,1", ".tif"});
  EXPECT_EQ(folder.run(run + "out.png --range 0,1 -q").code, 0);
  EXPECT_EQ(std::to_integer<int>(read_array(folder, "out.png").bytes[47]), 255);
  EXPECT_EQ(std::to_integer<int>(read_array(folder, "out.png").bytes[24]), 130);
  EXPECT_EQ(folder.run(run + "dark.png --range 0,255 -q").code, 0);
  EXPECT_EQ(std::to_integer<int>(read_array(folder, "dark.png").bytes[47]), 1);
  run_well(folder, "split floats.npy tiles --tile 2 --axes 0,1");
  run_badly(folder, "merge tiles merged.png", {"merged.png: would be black"});
  run_well(folder, "merge tiles merged.png --range 0,1");
  EXPECT_TRUE(read_array(folder, "merged.png") == read_array(folder, "out.png"));
  run_badly(folder, "merge tiles merged.tif --range 0,1", {"--range: applies to .png and .jpg only"}, 2);
  run_badly(folder, run + "out.png --range 0", {"--range: must be two numbers"}, 2);
  run_badly(folder, run + "out.png --quality 9", {"--quality: applies to .jpg only"}, 2);
  // Values beyond the range are reported.
  EXPECT_NE(folder.run(run + "out.png --range 0,0.5").err.find("out.png: 24 numbers beyond 0 to 0.5 became black or white"),
            std::string::npos);
}

/// Returns gradients, which JPEG changes little.
Array slopes(std::int64_t height, std::int64_t width) {
  Array array{{height, width, 3}, DType::uint8, {}};
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (const std::int64_t value : {x, y, x / 2 + y / 2}) array.bytes.push_back(static_cast<std::byte>(value & 255));
  return array;
}

TEST(PictureFrictions, LabelsStayTheLabelsThatTheyAre) {
  for (const std::int64_t channels : {1, 3, 4}) {  // grey, palettes as colours, palettes with transparency
    const Folder folder;
    Array labels{{64, 80, channels}, DType::uint8, std::vector<std::byte>(static_cast<std::size_t>(64 * 80 * channels))};
    write_array(folder, "photo.png", labels);
    run_well(folder, "split photo.png tiles --tile 32 --overlap 16");
    // The results disagree where tiles overlap: they are 3 and 7, like two classes or two colours of a palette.
    int number = 0;
    for (const auto& name : words(entries_of(folder, "tiles"))) {
      if (name == "plan.json") continue;
      const auto value = std::byte{number++ % 2 == 0 ? std::uint8_t{3} : std::uint8_t{7}};
      write_array(
          folder, "tiles/" + name,
          {{32, 32, channels}, DType::uint8, std::vector<std::byte>(static_cast<std::size_t>(32 * 32 * channels), value)});
    }
    run_well(folder, "merge tiles merged.png --processed");
    const Array merged = read_array(folder, "merged.png");
    EXPECT_EQ(std::set<std::byte>(merged.bytes.begin(), merged.bytes.end()), (std::set{std::byte{3}, std::byte{7}}));
    run_well(folder, "merge tiles merged.png --processed --reduce mean");
    const Array blended = read_array(folder, "merged.png");
    EXPECT_GT(std::set<std::byte>(blended.bytes.begin(), blended.bytes.end()).size(), 2U);
  }
}

TEST(PictureFrictions, TilesCanBeJpegFiles) {
  const Folder folder;
  const Array photo = slopes(100, 120);
  write_array(folder, "photo.png", photo);
  const std::string split = "split photo.png tiles --tile 64 --overlap 16 --format jpg";
  EXPECT_NE(run_well(folder, split).find("6 written, 0 skipped"), std::string::npos);
  EXPECT_EQ(entries_of(folder, "tiles"), "plan.json tile-0.jpg tile-1.jpg tile-2.jpg tile-3.jpg tile-4.jpg tile-5.jpg");
  EXPECT_NE(run_well(folder, split).find("0 written, 6 skipped"), std::string::npos);
  for (const char* options : {"", " --processed"}) {
    run_well(folder, std::string("merge tiles again.png") + options);
    const Array again = read_array(folder, "again.png");
    ASSERT_EQ(again.shape, photo.shape);
    int most = 0;
    for (std::size_t i = 0; i < photo.bytes.size(); ++i)
      most = std::max(most, std::abs(std::to_integer<int>(again.bytes[i]) - std::to_integer<int>(photo.bytes[i])));
    EXPECT_LE(most, 12);
    EXPECT_GT(most, 0);
  }
  const auto size = fs::file_size(folder.path("tiles/tile-0.jpg"));
  EXPECT_NE(run_well(folder, split + " --quality 30").find("6 written"), std::string::npos);
  EXPECT_LT(fs::file_size(folder.path("tiles/tile-0.jpg")), size);
  // The bytes of a tile's file tell whether a program has changed the tile.
  run_well(folder, "split photo.png others --tile 64 --overlap 16 --format jpg --quality 90");
  folder.write("tiles/tile-4.jpg", folder.read("others/tile-4.jpg"));
  run_badly(folder, "merge tiles again.png", {"tile 4 at [1, 1]: tiles/tile-4.jpg: must hold the bytes", "--processed"});
  EXPECT_NE(run_well(folder, split + " --quality 30").find("1 written, 5 skipped"), std::string::npos);
  write_array(folder, "deep.png", random_array({16, 16, 3}, DType::uint16));
  run_badly(folder, "split deep.png deep --tile 8 --format jpg", {"JPEG has 8 bits, grey or RGB; given uint16 16 x 16 x 3"});
}

TEST(PictureFrictions, ManyThreadsSplitAsOneDoes) {
  const Folder folder;
  write_array(folder, "photo.png", random_array({300, 400, 3}, DType::uint8));
  for (const char* format : {"png", "tif", "npy", "jpg"}) {
    const std::string split = std::string(" --tile 64 --overlap 10 --tail pad --padding-mode reflect --format ") + format;
    run_well(folder, "split photo.png one --force --threads 1" + split);
    run_well(folder, "split photo.png many --force --threads 4" + split);
    ASSERT_EQ(entries_of(folder, "one"), entries_of(folder, "many"));
    for (const auto& name : words(entries_of(folder, "one")))
      EXPECT_EQ(folder.read("one/" + name), folder.read("many/" + name)) << name;
    run_well(folder, "merge many again.png --threads 3");
    if (std::string_view(format) != "jpg") {
      EXPECT_TRUE(read_array(folder, "again.png") == read_array(folder, "photo.png"));
    }
  }
}

/// Returns metadata that the format of a file of this name can store. For TIFF, it includes the geographic place of a
/// GeoTIFF.
formats::Metadata metadata_for(const std::string& name) {
  formats::Metadata metadata;
  const auto grains = noise(1200);  // noise after the header of a display profile
  metadata.icc.assign(reinterpret_cast<const char*>(grains.data()), grains.size());
  metadata.icc.replace(0, 132, std::string(132, '\0'));
  metadata.icc.replace(2, 2, "\4\xB0").replace(8, 1, "\2").replace(12, 12, "mntrRGB XYZ ").replace(36, 4, "acsp");
  metadata.icc.replace(68, 12, std::string("\0\0\xF6\xD6\0\1\0\0\0\0\xD3\x2D", 12));
  metadata.orientation = 6;
  metadata.resolution = formats::Resolution{300, 300, formats::Resolution::Unit::inch};
  if (name.ends_with(".png")) metadata.resolution = formats::Resolution{11811, 11811, formats::Resolution::Unit::metre};
  if (!name.ends_with(".tif")) metadata.exif = formats::exif_with({}, 6);
  if (!name.ends_with(".jpg")) metadata.texts = {{"Description", "a photograph"}};
  const double place[] = {0, 0, 0, 500000, 4100000, 0};
  const double scale[] = {0.5, 0.5, 0};
  if (name.ends_with(".tif"))
    metadata.geo = {{33550, std::string(reinterpret_cast<const char*>(scale), sizeof(scale))},
                    {33922, std::string(reinterpret_cast<const char*>(place), sizeof(place))}};
  return metadata;
}

TEST(PictureFrictions, MetadataSurvivesRunSplitAndMerge) {
  for (const std::string name : {"photo.png", "photo.jpg", "photo.tif"}) {
    SCOPED_TRACE(name);
    const Folder folder;
    const Array photo = slopes(40, 50);
    const formats::Metadata metadata = metadata_for(name);
    formats::WriteOptions options;
    options.metadata = metadata;
    const auto writer = formats::create_rows(folder.path(name), photo.shape, formats::element_type(photo.dtype), options);
    writer->write(contiguous(photo.bytes.data(), photo.shape, photo.dtype));
    writer->commit();
    EXPECT_TRUE(writer->losses().empty());
    const auto metadata_of = [&](const std::string& file) { return formats::open_rows(folder.path(file))->metadata(); };
    const formats::Metadata given = metadata_of(name);
    EXPECT_EQ(given.orientation, 6);
    EXPECT_EQ(given.icc, metadata.icc);
    EXPECT_EQ(given.resolution, metadata.resolution);
    const std::string out = "out" + name.substr(5);
    EXPECT_EQ(folder.run("run space_to_depth " + name + " --block 1,1 --layout channels_last -q -o " + out).code, 0);
    EXPECT_TRUE(metadata_of(out) == given);
    const Outcome split = folder.run("split " + name + " tiles --tile 16 --overlap 4");
    EXPECT_EQ(split.code, 0);
    EXPECT_TRUE(split.err.starts_with(
        "patchfold: tiles: tiles are as the file stores them, not turned; its orientation, 6, is kept for merge\n"))
        << split.err;
    EXPECT_EQ(metadata_of("tiles/tile-05.png").orientation, 1);
    EXPECT_EQ(metadata_of("tiles/tile-05.png").resolution.has_value(), true);
    fs::remove(folder.path(out));
    run_well(folder, "merge tiles " + out);
    EXPECT_TRUE(metadata_of(out) == given);
    // Metadata that another format, or other rows and columns, cannot keep is reported.
    const Outcome merged = folder.run("merge tiles other" + std::string(name == "photo.png" ? ".jpg" : ".png"));
    EXPECT_EQ(merged.err.find("GeoTIFF") != std::string::npos, name == "photo.tif") << merged.err;
    EXPECT_EQ(merged.err.find("Description") != std::string::npos, name == "photo.png") << merged.err;
    const Outcome larger = folder.run("run space_to_depth " + name + " --block 2,2 --layout channels_last -o large.tif");
    EXPECT_NE(larger.err.find("large.tif: the orientation was left out: the output has other rows and columns than " + name),
              std::string::npos)
        << larger.err;
    const Outcome array = folder.run("run space_to_depth " + name + " --block 1,1 --layout channels_last -o out.npy");
    EXPECT_NE(array.err.find("out.npy: the picture's orientation 6 was left out"), std::string::npos) << array.err;
  }
}

/// Tests results of another type, for which the no-data value and the fields of bands are no longer true.
TEST(PictureFrictions, MetadataThatDoesNotHoldForResultsIsLeftOutAndSaid) {
  const Folder folder;
  formats::WriteOptions options;
  options.metadata.texts = {{"Description", "<?xml version=\"1.0\"?><OME/>"}};
  options.metadata.geo = {
      {42112, std::string("<GDALMetadata><Item name=\"SCALE\" sample=\"0\">2</Item></GDALMetadata>") + '\0'},
      {42113, std::string("0\0", 2)}};
  const Array photo = slopes(40, 50);
  const auto writer = formats::create_rows(folder.path("x.tif"), photo.shape, formats::element_type(photo.dtype), options);
  writer->write(contiguous(photo.bytes.data(), photo.shape, photo.dtype));
  writer->commit();
  const auto given = formats::open_rows(folder.path("x.tif"))->metadata();
  EXPECT_EQ(given.geo.size(), 2U);
  const auto metadata_of = [&](const std::string& file) { return formats::open_rows(folder.path(file))->metadata(); };

  EXPECT_EQ(folder.run("split x.tif tiles --tile 16 --overlap 4").code, 0);
  run_well(folder, "merge tiles same.tif");
  EXPECT_TRUE(metadata_of("same.tif") == given);
  const Outcome reals = folder.run("merge tiles reals.tif --dtype float32");
  EXPECT_TRUE(metadata_of("reals.tif").texts.empty());
  EXPECT_EQ(metadata_of("reals.tif").geo.size(), 1U);
  EXPECT_EQ(metadata_of("reals.tif").geo[0].values.find("SCALE"), std::string::npos);
  for (const char* lost : {"the no-data value was left out: it is for another element type or number of bands",
                           "the scales, names and other fields of bands were left out: they are for another",
                           "the description was left out: it lists"})
    EXPECT_NE(reals.err.find(std::string("reals.tif: ") + lost), std::string::npos) << reals.err;
  EXPECT_EQ(folder.run("split x.tif pages --page 0 --tile 16 --overlap 4").code, 0);
  run_well(folder, "merge pages page.tif");
  EXPECT_TRUE(metadata_of("page.tif").geo == given.geo && metadata_of("page.tif").texts.empty());
  EXPECT_EQ(folder.run("run space_to_depth x.tif --block 1,1 --layout channels_last -o run.tif --as float32").code, 0);
  EXPECT_EQ(metadata_of("run.tif").geo.size(), 1U);
}

}  // namespace
}  // namespace patchfold::cli_test
