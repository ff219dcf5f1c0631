// SPDX-License-Identifier: Apache-2.0
// Tests pictures as input and output.
#include "formats/picture.hpp"

#include <gtest/gtest.h>

#include "tests/cli/program.hpp"

namespace patchfold::cli_test {
namespace {

using Shape = std::vector<std::int64_t>;

/// A folder with photo.png (4 x 6, RGB), grey.png (4 x 6) and deep.png (4 x 6, RGB, 16 bits). Samples count 0, 1, 2, .. or,
/// in deep.png, 0, 900, 1800, ..
class Pictures : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!formats::has_pictures()) GTEST_SKIP() << "built without pictures";
    for (std::size_t i = 0; i < 72; ++i) pixels_.push_back(static_cast<std::uint8_t>(i));
    for (std::size_t i = 0; i < 72; ++i) deep_.push_back(static_cast<std::uint16_t>(i * 900));
    formats::write_picture(folder_.path("photo.png"), view(pixels_.data(), {4, 6, 3}));
    formats::write_picture(folder_.path("grey.png"), view(pixels_.data(), {4, 6, 1}));
    formats::write_picture(folder_.path("deep.png"), view(deep_.data(), {4, 6, 3}));
  }
  void run(const std::string& arguments) {
    const Outcome outcome = folder_.run("run " + arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  }
  Npy read(const char* name) { return npy_of(folder_.read(name)); }
  /// Returns the pixels of a picture file.
  std::vector<std::uint8_t> pixels(const char* name, const Dims& shape) {
    const auto picture = formats::read_picture(folder_.path(name));
    EXPECT_EQ(picture.view.shape, shape);
    const auto* data = static_cast<const std::uint8_t*>(picture.view.data);
    return {data, data + element_count(shape) * static_cast<std::int64_t>(picture.view.element_size)};
  }

  Folder folder_;
  std::vector<std::uint8_t> pixels_;
  std::vector<std::uint16_t> deep_;
};

TEST_F(Pictures, AreHeightWidthChannels) {
  run("space_to_depth photo.png --block 2,3 --layout channels_last -o out.npy");
  const Npy out = read("out.npy");
  EXPECT_EQ(out.descr, "|u1");
  EXPECT_EQ(out.shape, (Shape{2, 2, 18}));
  std::vector<std::uint8_t> expected;
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 2; ++x)
      for (int dy = 0; dy < 2; ++dy)
        for (int dx = 0; dx < 3; ++dx)
          for (int c = 0; c < 3; ++c) expected.push_back(static_cast<std::uint8_t>(((y * 2 + dy) * 6 + x * 3 + dx) * 3 + c));
  EXPECT_EQ(out.elements<std::uint8_t>(), expected);
}

TEST_F(Pictures, AreChannelsHeightWidthIfAskedFor) {
  run("space_to_depth photo.png --chw --block 1,1 -o out.npy");
  const Npy out = read("out.npy");
  EXPECT_EQ(out.shape, (Shape{3, 4, 6}));
  std::vector<std::uint8_t> expected;
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t i = 0; i < 24; ++i) expected.push_back(pixels_[i * 3 + c]);
  EXPECT_EQ(out.elements<std::uint8_t>(), expected);
}

TEST_F(Pictures, CanBeUnfoldedAndFoldedAgain) {
  run("unfold photo.png --kernel_size 2,2 --stride 2,2 --layout channels_last -o columns.npy");
  EXPECT_EQ(read("columns.npy").shape, (Shape{6, 12}));
  run("fold columns.npy --output_size 4,6 --kernel_size 2,2 --stride 2,2 --layout channels_last -o again.png");
  EXPECT_EQ(pixels("again.png", {4, 6, 3}), pixels_);
}

TEST_F(Pictures, AreAveragedWherePatchesOverlap) {
  run("unfold photo.png --kernel_size 3,3 --padding 1 --layout channels_last -o columns.npy");
  run("fold columns.npy --output_size 4,6 --kernel_size 3,3 --padding 1 --layout channels_last --reduce mean -o again.png");
  EXPECT_EQ(pixels("again.png", {4, 6, 3}), pixels_);
  const Outcome refused = folder_.run(
      "run fold columns.npy --output_size 4,6 --kernel_size 3,3 --padding 1 --layout "
      "channels_last --fill 7 -o again.npy");
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.err.find("fill: is for reduce mean"), std::string::npos) << refused.err;
}

TEST_F(Pictures, DecideTheLayoutOfTheOperator) {
  run("unfold photo.png --kernel_size 2,2 --stride 2,2 -o columns.npy");
  EXPECT_EQ(read("columns.npy").shape, (Shape{6, 12}));
  run("unfold photo.png --kernel_size 2 --stride 2 -o said.npy");
  EXPECT_EQ(folder_.read("said.npy"), folder_.read("columns.npy"));
  run("unfold photo.png --kernel_size 2,2 --stride 2,2 --layout channels_last -o said.npy");
  EXPECT_EQ(folder_.read("said.npy"), folder_.read("columns.npy"));
  run("fold columns.npy --output_size 4,6 --kernel_size 2,2 --stride 2,2 -o again.png");
  EXPECT_EQ(pixels("again.png", {4, 6, 3}), pixels_);
  run("unfold photo.png --chw --kernel_size 2,2 --stride 2,2 -o columns.npy");
  EXPECT_EQ(read("columns.npy").shape, (Shape{12, 6}));
  run("fold columns.npy --chw --output_size 4,6 --kernel_size 2,2 --stride 2,2 -o again.png");
  EXPECT_EQ(pixels("again.png", {4, 6, 3}), pixels_);
  run("torch.unfold photo.png --chw --kernel_size 2,2 --stride 2,2 -o torchs.npy");
  EXPECT_EQ(folder_.read("torchs.npy"), folder_.read("columns.npy"));
  const Outcome piped =
      folder_.run("run unfold - --kernel_size 2 --stride 2 -o piped.npy", {.piped = folder_.read("photo.png")});
  EXPECT_EQ(piped.code, 0) << piped.err;
  EXPECT_EQ(folder_.read("piped.npy"), folder_.read("said.npy"));
  run("keras.extract_patches photo.png --size 2,2 -o patches.npy");
  EXPECT_EQ(read("patches.npy").shape, (Shape{2, 3, 12}));
}

TEST_F(Pictures, AreNotReadInALayoutThatTheyDoNotHave) {
  folder_.write("columns.npy", npy_bytes(npy<float>("<f4", {12, 6}, std::vector<float>(72))));
  for (const auto& [arguments, message] : {
           std::pair(
               "unfold photo.png --kernel_size 2,2 --layout channels_first",
               "unfold: photo.png: is read as H x W x C, but --layout is channels_first; add --chw, or leave --layout out"),
           {"unfold photo.png --chw --kernel_size 2,2 --layout channels_last",
            "unfold: photo.png: is read as C x H x W with --chw, but --layout is channels_last; leave --chw or --layout "
            "out"},
           {"torch.unfold photo.png --kernel_size 2,2",
            "torch.unfold: photo.png: is read as H x W x C, but the operator takes C x H x W; add --chw"},
           {"space_to_batch photo.png --block 2,2",
            "space_to_batch: photo.png: has no batch axis, which the operator needs; add --batch"},
           {"tensorflow.SpaceToBatchND photo.png --batch --chw --block_shape 2,2 --paddings 0,0,0,0",
            "tensorflow.SpaceToBatchND: photo.png: is read as C x H x W with --chw, but the operator takes H x W x C; leave "
            "--chw out"},
       }) {
    const Outcome outcome = folder_.run(std::string("run ") + arguments + " -o out.npy");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.err, std::string("patchfold: ") + message + " [usage]\n");
  }
  const Outcome outcome =
      folder_.run("run torch.fold columns.npy --output_size 4,6 --kernel_size 2,2 --stride 2,2 -o out.png");
  EXPECT_EQ(
      outcome.err,
      "patchfold: torch.fold: out.png: is written as H x W x C, but the operator takes C x H x W; add --chw [usage]\n");
}

TEST_F(Pictures, GreyPicturesHaveOneChannel) {
  run("depth_to_space grey.png --block 1,1 --layout channels_last -o out.npy");
  EXPECT_EQ(read("out.npy").shape, (Shape{4, 6, 1}));
  run("coverage --output_size 4,6 --kernel_size 3,3 --dtype uint8 -o counts.png");
  EXPECT_EQ(pixels("counts.png", {4, 6, 1})[7], 4);
}

TEST_F(Pictures, SixteenBitsStay) {
  run("space_to_depth deep.png --block 1,1 --layout channels_last -o out.npy");
  EXPECT_EQ(read("out.npy").elements<std::uint16_t>(), deep_);
  run("space_to_depth deep.png --block 1,1 --layout channels_last -o out.png");
  EXPECT_EQ(folder_.read("out.png"), folder_.read("deep.png"));
}

TEST_F(Pictures, AreConvertedOnTheWayIn) {
  run("space_to_depth photo.png --chw --block 2,2 --as float32 -o out.npy");
  const Npy out = read("out.npy");
  EXPECT_EQ(out.descr, "<f4");
  EXPECT_EQ(out.shape, (Shape{12, 2, 3}));
  EXPECT_EQ(out.elements<float>()[1], 6);
}

TEST_F(Pictures, FloatsAreRoundedAndClipped) {
  folder_.write("in.npy", npy_bytes(npy<float>("<f4", {1, 2, 3}, {-1, 0.5, 1.5, 254.5, 300, 7})));
  run("space_to_depth in.npy --chw --block 1,1 -o out.png");
  EXPECT_EQ(pixels("out.png", {2, 3, 1}), (std::vector<std::uint8_t>{0, 0, 2, 254, 255, 7}));
}

TEST_F(Pictures, JpegsAreReadAndWritten) {
  run("space_to_depth photo.png --block 1,1 --layout channels_last -o photo.jpg");
  run("space_to_depth photo.jpg --block 1,1 --layout channels_last -o back.png");
  const auto back = pixels("back.png", {4, 6, 3});
  for (std::size_t i = 0; i < back.size(); ++i) EXPECT_NEAR(back[i], pixels_[i], 24);
}

TEST_F(Pictures, ChannelsFirstGoesOutAsItCameIn) {
  run("depth_to_space photo.png --chw --block 1,1 -o out.png");
  EXPECT_EQ(folder_.read("out.png"), folder_.read("photo.png"));
  run("space_to_depth photo.png --block 1,1 --layout channels_last -o photo.png");
  EXPECT_EQ(pixels("photo.png", {4, 6, 3}), pixels_);
  EXPECT_EQ(folder_.entries(), "deep.png grey.png out.png photo.png");
}

TEST_F(Pictures, TiffIsReadAndWritten) {
  if (!formats::has_tiff()) GTEST_SKIP() << "built without TIFF";
  run("space_to_depth deep.png --block 1,1 --layout channels_last -o deep.tif");
  run("space_to_depth deep.tif --block 1,1 --layout channels_last -o again.png");
  EXPECT_EQ(folder_.read("again.png"), folder_.read("deep.png"));
  run("space_to_depth photo.png --block 2,3 --layout channels_last --as float32 -o blocks.TIFF");
  run("depth_to_space blocks.TIFF --block 2,3 --mode blocks_first --layout channels_last --as uint8 -o photo.tif");
  EXPECT_EQ(pixels("photo.tif", {4, 6, 3}), pixels_);
  run("space_to_depth photo.tif --page 0 --chw --block 1,1 -o out.npy");
  EXPECT_EQ(read("out.npy").shape, (Shape{3, 4, 6}));
  const Outcome outcome = folder_.run("run space_to_depth photo.tif --page 1 --block 1,1 -o out.npy");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("photo.tif: has no such page; given page 1"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace patchfold::cli_test
