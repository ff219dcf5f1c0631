// SPDX-License-Identifier: Apache-2.0
#include "formats/picture.hpp"
#include "tests/formats/picture_files.hpp"
#include "tests/formats/support.hpp"

namespace patchfold::formats {
namespace {

using namespace test;
using namespace std::string_literals;

class Png : public ::testing::Test {
 protected:
  LoadedTensor read(const std::string& bytes) {
    write_bytes(path_, bytes);
    return read_picture(path_);
  }
  /// Expects that the reader gives the shape and the pixels for a file.
  void expect_pixels(const PngSpec& spec, const Dims& shape, const std::string& pixels) {
    const auto picture = read(png_file(spec));
    EXPECT_EQ(picture.view.shape, shape);
    EXPECT_EQ(picture.view.dtype, spec.bit_depth == 16 ? DType::uint16 : DType::uint8);
    EXPECT_EQ(picture.view.element_size, spec.bit_depth == 16 ? 2U : 1U);
    EXPECT_EQ(picture.type.descr, spec.bit_depth == 16 ? "'<u2'" : "'|u1'");
    EXPECT_EQ(elements_of(picture.view), pixels);
  }

  TempFolder folder_;
  std::filesystem::path path_ = folder_ / "x.png";
};

TEST_F(Png, EightBits) {
  expect_pixels({2, 2, 8, 0, "\0ab\0cd"s}, {2, 2, 1}, "abcd");
  expect_pixels({2, 1, 8, 4, "\0abcd"s}, {1, 2, 2}, "abcd");
  expect_pixels({2, 1, 8, 2, "\0abcdef"s}, {1, 2, 3}, "abcdef");
  expect_pixels({1, 2, 8, 6, "\0abcd\0efgh"s}, {2, 1, 4}, "abcdefgh");
}

TEST_F(Png, SixteenBitsComeInNativeOrder) {
  expect_pixels({2, 1, 16, 0, "\0abcd"s}, {1, 2, 1}, "badc");
  expect_pixels({1, 1, 16, 4, "\0abcd"s}, {1, 1, 2}, "badc");
  expect_pixels({1, 1, 16, 2, "\0abcdef"s}, {1, 1, 3}, "badcfe");
  expect_pixels({1, 1, 16, 6, "\0abcdefgh"s}, {1, 1, 4}, "badcfehg");
}

TEST_F(Png, SmallGreysBecomeEightBits) {
  expect_pixels({9, 1, 1, 0, "\0\xA5\x80"s}, {1, 9, 1}, "\xFF\0\xFF\0\0\xFF\0\xFF\xFF"s);
  expect_pixels({4, 1, 2, 0, "\0\x1B"s}, {1, 4, 1}, "\0\x55\xAA\xFF"s);
  expect_pixels({3, 1, 4, 0, "\0\x0F\x10"s}, {1, 3, 1}, "\0\xFF\x11"s);
}

TEST_F(Png, PalettesBecomeColours) {
  const std::string palette = "abcdefghi";
  expect_pixels({3, 1, 8, 3, "\0\2\0\1"s, false, {{"PLTE", palette}}}, {1, 3, 3}, "ghiabcdef");
  expect_pixels({3, 1, 2, 3, "\0\x84"s, false, {{"PLTE", palette}}}, {1, 3, 3}, "ghiabcdef");
  expect_pixels({3, 1, 8, 3, "\0\2\0\1"s, false, {{"PLTE", palette}, {"tRNS", "\x40\x80"}}}, {1, 3, 4},
                "ghi\xFF"
                "abc\x40"
                "def\x80");
}

TEST_F(Png, TransparentColoursBecomeAlpha) {
  expect_pixels({2, 1, 8, 0, "\0ab"s, false, {{"tRNS", "\0a"s}}}, {1, 2, 2}, "a\0b\xFF"s);
  expect_pixels({2, 1, 1, 0, "\0\x40"s, false, {{"tRNS", "\0\1"s}}}, {1, 2, 2}, "\0\xFF\xFF\0"s);
  expect_pixels({2, 1, 8, 2, "\0abcdef"s, false, {{"tRNS", "\0d\0e\0f"s}}}, {1, 2, 4},
                "abc\xFF"
                "def\0"s);
  expect_pixels({2, 1, 16, 0, "\0abcd"s, false, {{"tRNS", "ab"}}}, {1, 2, 2}, "ba\0\0dc\xFF\xFF"s);
}

TEST_F(Png, Interlaced) {
  for (const std::uint32_t width : {1U, 2U, 5U, 8U, 19U}) {
    for (const std::uint32_t height : {1U, 3U, 8U, 13U}) {
      std::string pixels(width * height, '\0');
      for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<char>(i * 37);
      expect_pixels({width, height, 8, 0, adam7(pixels, width, height), true}, {height, width, 1}, pixels);
      EXPECT_EQ(rows_of(*open_rows(path_)), pixels);
    }
  }
}

TEST_F(Png, FiltersAreUndone) {
  expect_pixels({3, 4, 8, 0,
                 "\1\1\1\1"
                 "\2\1\1\1"
                 "\3\1\1\1"
                 "\4\1\1\1"},
                {4, 3, 1}, "\1\2\3\2\3\4\2\3\4\3\4\5");
}

TEST_F(Png, ColourSpacesAndTextsChangeNothing) {
  const std::vector<std::pair<std::string, std::string>> chunks = {
      {"gAMA", "\0\0\x10\0"s},     {"cHRM", std::string(32, '\1')}, {"sRGB", "\0"s}, {"iCCP", "bad\0\0bad"s},
      {"tEXt", "Comment\0hello"s}, {"zTXt", "Comment\0\0garbage"s}, {"sBIT", "\1"},  {"prVt", "private"}};
  expect_pixels({2, 1, 8, 0, "\0ab"s, false, chunks}, {1, 2, 1}, "ab");
}

TEST_F(Png, ContentsCountAndNotTheName) {
  path_ = folder_ / "x.jpeg";
  expect_pixels({2, 1, 8, 0, "\0ab"s}, {1, 2, 1}, "ab");
  path_ = folder_ / "noending";
  expect_pixels({2, 1, 8, 0, "\0ab"s}, {1, 2, 1}, "ab");
}

TEST_F(Png, WhatFollowsIsIgnored) {
  EXPECT_EQ(elements_of(read(png_file({2, 1, 8, 0, "\0ab"s}) + "more").view), "ab");
}

TEST_F(Png, MoreThanAMillionColumnsOrRows) {
  const std::string row(1500000, 'x');
  expect_pixels({1500000, 1, 8, 0, '\0' + row}, {1, 1500000, 1}, row);
}

TEST_F(Png, OutlivesItsFile) {
  const auto picture = read(png_file({2, 1, 8, 0, "\0ab"s}));
  write_bytes(path_, "");
  EXPECT_EQ(elements_of(picture.view), "ab");
}

TEST_F(Png, NamesOfPictures) {
  for (const auto* name : {"a.png", "a.PNG", "a.jpg", "a.JPEG", "a.Jpeg", "a.tif", "a.TIFF", "folder.npy/a.b.png"})
    EXPECT_TRUE(is_picture_path(name));
  for (const auto* name : {"a.npy", "png", ".png", "a.png/", "a.png.npy", "a.bmp", ""}) EXPECT_FALSE(is_picture_path(name));
  EXPECT_TRUE(has_pictures());
}

}  // namespace
}  // namespace patchfold::formats
