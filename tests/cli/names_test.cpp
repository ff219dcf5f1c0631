// SPDX-License-Identifier: Apache-2.0
// Tests split --names, and run --batch.
#include <gtest/gtest.h>

#include "formats/picture.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/tiles.hpp"

namespace patchfold::cli_test {
namespace {

TEST(TileNames, TellRowAndColumnOnRequest) {
  const Folder folder;
  const Array picture = random_array({30, 110}, DType::uint8);
  write_array(folder, "picture.npy", picture);
  run_well(folder, "split picture.npy tiles --tile 10 --names grid");
  const std::string names = entries_of(folder, "tiles");
  EXPECT_TRUE(names.starts_with("plan.json tile-0-00.npy tile-0-01.npy ")) << names;
  EXPECT_TRUE(names.ends_with(" tile-2-09.npy tile-2-10.npy")) << names;
  EXPECT_EQ(count_of(names, "tile-"), 33U);
  const Array tile = read_array(folder, "tiles/tile-2-07.npy");
  for (std::size_t y = 0; y < 10; ++y)
    for (std::size_t x = 0; x < 10; ++x) EXPECT_EQ(tile.bytes[y * 10 + x], picture.bytes[(20 + y) * 110 + 70 + x]);
  run_well(folder, "merge tiles out.npy");
  EXPECT_EQ(folder.read("out.npy"), folder.read("picture.npy"));
  EXPECT_NE(run_well(folder, "split picture.npy tiles --tile 10 --names grid").find(" 0 written, 33 skipped"),
            std::string::npos);
}

TEST(TileNames, HaveAPlaceForEachTiledAxis) {
  const Folder folder;
  write_array(folder, "volume.npy", random_array({4, 5, 24}, DType::uint8));
  run_well(folder, "split volume.npy tiles --tile 2,5,2 --axes 0,1,2 --names grid");
  EXPECT_TRUE(entries_of(folder, "tiles").ends_with("tile-1-0-10.npy tile-1-0-11.npy"));
  run_well(folder, "merge tiles out.npy");
  EXPECT_EQ(folder.read("out.npy"), folder.read("volume.npy"));
  write_array(folder, "row.npy", random_array({24}, DType::uint8));
  run_well(folder, "split row.npy parts --tile 2 --names grid");
  EXPECT_TRUE(entries_of(folder, "parts").ends_with("tile-10.npy tile-11.npy"));
}

// Without --force, a folder whose tiles are named in the other way is refused.
TEST(TileNames, AreNotMixedInAFolder) {
  const Folder folder;
  write_array(folder, "picture.npy", random_array({30, 40}, DType::uint8));
  run_well(folder, "split picture.npy tiles --tile 10");
  run_badly(folder, "split picture.npy tiles --tile 10 --names grid", {"tiles", "plan.json with another tiles", "--force"});
  run_well(folder, "split picture.npy tiles --tile 10 --names grid --force");
  EXPECT_EQ(count_of(entries_of(folder, "tiles"), "tile-"), 12U);
  std::filesystem::remove(folder.path("tiles/plan.json"));
  run_badly(folder, "split picture.npy tiles --tile 10", {"tiles", "tile-0-0.npy", "--force"});
  run_badly(folder, "split picture.npy tiles --tile 10 --names rows", {"--names", "given rows", "index or grid"}, 2);
}

TEST(Batch, GivesPicturesTheAxisThatOperatorsNeed) {
  if (!formats::has_pictures()) GTEST_SKIP() << "built without PNG and JPEG";
  const Folder folder;
  const Array picture = random_array({12, 18, 3}, DType::uint8);
  write_array(folder, "photo.png", picture);
  const auto shape = [&](const std::string& arguments) {
    run_well(folder, "run " + arguments + " -o out.npy");
    return npy_of(folder.read("out.npy")).shape;
  };
  using Shape = std::vector<std::int64_t>;
  EXPECT_EQ(shape("onnx.SpaceToDepth photo.png --chw --batch --blocksize 2"), (Shape{1, 12, 6, 9}));
  EXPECT_EQ(shape("openvino.SpaceToDepth photo.png --chw --batch --block_size 2 --blocks_mode depth_first"),
            (Shape{1, 12, 6, 9}));
  EXPECT_EQ(shape("torch.unfold photo.png --chw --batch --kernel_size 2 --stride 2"), (Shape{1, 12, 54}));
  EXPECT_EQ(shape("tensorflow.SpaceToDepth photo.png --batch --block_size 2"), (Shape{1, 6, 9, 12}));
  EXPECT_EQ(shape("keras.extract_patches photo.png --batch --size 2 --strides 2"), (Shape{1, 6, 9, 12}));
  // Both outputs have the same elements: --batch only adds an axis.
  run_well(folder, "run tensorflow.SpaceToDepth photo.png --batch --block_size 2 -o four.npy");
  run_well(folder, "run space_to_depth photo.png --block 2,2 --layout channels_last -o three.npy");
  EXPECT_EQ(npy_of(folder.read("four.npy")).data, npy_of(folder.read("three.npy")).data);

  // A picture as output has no batch axis.
  run_well(folder, "run tensorflow.DepthToSpace four.npy --batch --block_size 2 -o again.png");
  EXPECT_TRUE(read_array(folder, "again.png") == picture);
  run_well(folder, "run onnx.SpaceToDepth photo.png --chw --batch --blocksize 2 -o blocks.npy");
  run_well(folder, "run onnx.DepthToSpace blocks.npy --chw --batch --blocksize 2 -o again.png");
  EXPECT_TRUE(read_array(folder, "again.png") == picture);
  const Outcome piped = folder.run("run tensorflow.SpaceToDepth - --batch --block_size 2 -o -", {.input = "photo.png"});
  EXPECT_EQ(piped.out, folder.read("four.npy")) << piped.err;
}

TEST(Batch, IsNamedWhereItIsMissing) {
  if (!formats::has_pictures()) GTEST_SKIP() << "built without PNG and JPEG";
  const Folder folder;
  write_array(folder, "photo.png", random_array({12, 18, 3}, DType::uint8));
  run_badly(folder, "run tensorflow.SpaceToDepth photo.png --block_size 2 -o out.npy",
            {"given [12, 18, 3]", "--batch, which gives a picture a batch axis"});
  run_well(folder, "run tensorflow.SpaceToDepth photo.png --batch --block_size 2 -o four.npy");
  run_badly(folder, "run tensorflow.DepthToSpace four.npy --block_size 2 -o out.png",
            {"out.png", "(1, 12, 18, 3)", "--batch, which takes the batch axis off"});
  folder.write("two.npy", npy_bytes(npy<std::uint8_t>("|u1", {2, 4, 4, 3}, std::vector<std::uint8_t>(96))));
  run_badly(folder, "run tensorflow.SpaceToDepth two.npy --batch --block_size 2 -o out.png",
            {"a picture is a batch of one", "(2, 2, 2, 12)"});
  run_badly(folder, "run tensorflow.SpaceToDepth two.npy --batch --block_size 2 -o out.npy",
            {"--batch", "applies to pictures only"}, 2);
  run_badly(folder, "run space_to_depth missing.png --batch --block 2,2 -o out.npy", {"missing.png"});
}

}  // namespace
}  // namespace patchfold::cli_test
