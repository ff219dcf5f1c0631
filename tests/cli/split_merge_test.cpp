// SPDX-License-Identifier: Apache-2.0
// Tests that pictures and arrays are unchanged after a split and a merge.
#include <gtest/gtest.h>

#include "formats/picture.hpp"
#include "tests/cli/tiles.hpp"

namespace patchfold::cli_test {
namespace {

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
  // The tile is too large for any memory, but the partial tile is as small as the array.
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
