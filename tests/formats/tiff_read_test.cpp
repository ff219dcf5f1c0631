// SPDX-License-Identifier: Apache-2.0
#include "formats/picture.hpp"
#include "tests/formats/support.hpp"
#include "tests/formats/tiff_files.hpp"

namespace patchfold::formats {
namespace {

using namespace test;

class TiffRead : public ::testing::Test {
 protected:
  /// Writes a file with libtiff, reads it with patchfold's reader, in portions and at once, and compares the pixels.
  void expect_pixels(const TiffSpec& spec, DType dtype) {
    SCOPED_TRACE(testing::Message() << spec.height << " x " << spec.width << " x " << spec.channels << ", format "
                                    << spec.format << " of " << spec.bits << " bits, compression " << spec.compression
                                    << ", separate " << spec.separate << ", tiles " << spec.tile_width << ", strips "
                                    << spec.rows_per_strip << ", mode " << spec.mode);
    const std::string pixels = noise(tiff_bytes(spec));
    write_tiff(path_, {spec}, pixels);
    const auto reader = open_rows(path_);
    EXPECT_EQ(reader->shape(), (Dims{spec.height, spec.width, spec.channels}));
    EXPECT_EQ(reader->type().dtype, dtype);
    EXPECT_TRUE(rows_of(*reader) == pixels);
    EXPECT_TRUE(elements_of(read_picture(path_).view) == pixels);
  }
  void expect_refused(const TiffSpec& spec, std::string_view fragment) {
    write_tiff(path_, {spec}, noise(tiff_bytes(spec)));
    expect_error([&] { open_rows(path_); }, ErrorCode::file_unsupported, "tiff", path_, fragment);
  }
  /// Expects that a file with the entry, which is written byte by byte, is refused.
  void expect_refused(const TiffEntry& entry, std::string_view fragment) {
    write_bytes(path_, tiff_file(with_entry(grey_entries(4, 2), entry), "abcdefgh"));
    expect_error([&] { open_rows(path_); }, ErrorCode::file_unsupported, "tiff", path_, fragment);
  }

  TempFolder folder_;
  std::filesystem::path path_ = folder_ / "x.tif";
};

struct Type {
  int format;
  int bits;
  DType dtype;
};

constexpr Type types[] = {{1, 8, DType::uint8},    {1, 16, DType::uint16},  {1, 32, DType::uint32},  {1, 64, DType::uint64},
                          {2, 8, DType::int8},     {2, 16, DType::int16},   {2, 32, DType::int32},   {2, 64, DType::int64},
                          {3, 16, DType::float16}, {3, 32, DType::float32}, {3, 64, DType::float64}, {4, 8, DType::uint8}};

TEST_F(TiffRead, EveryTypeInEitherByteOrderAndForm) {
  for (const auto& [format, bits, dtype] : types)
    for (const std::string mode : {"w", "wb", "w8", "wb8"})
      for (const int channels : {1, 3})
        expect_pixels({.channels = channels, .bits = bits, .format = format, .rows_per_strip = 2, .mode = mode}, dtype);
}

TEST_F(TiffRead, EveryLayout) {
  for (const int compression : {1, 5, 8, 32773})
    for (const bool separate : {false, true})
      for (const int channels : {1, 2, 5})
        for (const auto& [width, height] : {std::pair{1U, 1U}, {7U, 5U}, {33U, 50U}, {64U, 32U}})
          for (const auto& [tile_width, tile_height, rows] :
               {std::tuple{0U, 0U, 0U}, {0U, 0U, 1U}, {0U, 0U, 4U}, {16U, 16U, 0U}, {32U, 48U, 0U}, {128U, 16U, 0U}})
            for (const int bits : {8, 16})
              expect_pixels({.height = height,
                             .width = width,
                             .channels = channels,
                             .bits = bits,
                             .compression = compression,
                             .separate = separate,
                             .tile_width = tile_width,
                             .tile_height = tile_height,
                             .rows_per_strip = rows,
                             .mode = bits == 16 ? "wb" : "w"},
                            bits == 8 ? DType::uint8 : DType::uint16);
}

TEST_F(TiffRead, Predictors) {
  for (const int compression : {5, 8})
    for (const std::string mode : {"w", "wb"}) {
      expect_pixels({.channels = 3, .compression = compression, .predictor = 2, .mode = mode}, DType::uint8);
      // Not for big-endian files, in which libtiff 4.5 writes these pixels wrongly.
      if (mode == "w") expect_pixels({.bits = 32, .format = 3, .compression = compression, .predictor = 3}, DType::float32);
    }
}

TEST_F(TiffRead, LargeSeparateStrips) {
  expect_pixels({.height = 300, .width = 1000, .channels = 3, .bits = 16, .separate = true}, DType::uint16);
}

TEST_F(TiffRead, BitsInTheOtherOrder) {
  expect_pixels({.channels = 3, .fill_order = 2}, DType::uint8);
  expect_pixels({.channels = 3, .compression = 8, .fill_order = 2}, DType::uint8);
}

TEST_F(TiffRead, WhiteAsZeroIsTurned) {
  for (const int bits : {8, 16}) {
    const TiffSpec spec{.bits = bits, .photometric = 0, .mode = "wb"};
    std::string pixels = noise(tiff_bytes(spec));
    write_tiff(path_, {spec}, pixels);
    for (char& byte : pixels) byte = static_cast<char>(~byte);
    EXPECT_EQ(elements_of(read_picture(path_).view), pixels);
  }
  expect_refused({.bits = 32, .format = 3, .photometric = 0}, "must be a single channel of unsigned integers if 0 is white");
}

TEST_F(TiffRead, JpegInsideBecomesRgb) {
  for (const std::uint32_t tile : {0U, 32U}) {
    const TiffSpec spec{.height = 64,
                        .width = 96,
                        .channels = 3,
                        .compression = 7,
                        .photometric = 6,
                        .tile_width = tile,
                        .tile_height = tile,
                        .rows_per_strip = 16};
    std::string pixels;
    for (std::uint32_t i = 0; i < spec.height * spec.width; ++i)
      for (int c = 0; c < 3; ++c) pixels += static_cast<char>(60 + i / spec.width + 40 * static_cast<std::uint32_t>(c));
    write_tiff(path_, {spec}, pixels);
    const std::string given = elements_of(read_picture(path_).view);
    ASSERT_EQ(given.size(), pixels.size());
    for (std::size_t i = 0; i < pixels.size(); ++i)
      ASSERT_NEAR(static_cast<unsigned char>(given[i]), static_cast<unsigned char>(pixels[i]), 12) << i;
    EXPECT_TRUE(rows_of(*open_rows(path_)) == given);
  }
}

TEST_F(TiffRead, PixelsAreNotTurnedAndTheOrientationIsKept) {
  for (const int orientation : {1, 2, 3, 4, 5, 6, 7, 8}) {
    const TiffSpec spec{.orientation = orientation};
    const std::string pixels = noise(tiff_bytes(spec));
    write_tiff(path_, {spec}, pixels);
    const auto reader = open_rows(path_);
    EXPECT_EQ(reader->metadata().orientation, orientation);
    EXPECT_TRUE(rows_of(*reader) == pixels) << orientation;
  }
}

TEST_F(TiffRead, WhatIsNotRead) {
  expect_refused({.photometric = 3}, "must be grey or RGB; palettes, CMYK and other colours are not read; given a palette");
  expect_refused({.channels = 4, .photometric = 5}, "other colours are not read; given CMYK");
  expect_refused({.channels = 3, .photometric = 6}, "YCbCr that is not JPEG");
  expect_refused({.channels = 3, .photometric = 8}, "CIE L*a*b*");
  expect_refused({.bits = 64, .format = 6}, "given complex numbers of 64 bits");
  expect_refused({.bits = 32, .format = 5}, "given complex numbers of 32 bits");
  expect_refused({.bits = 24}, "given unsigned integers of 24 bits");
  for (const std::uint32_t bits : {1U, 2U, 4U, 12U})
    expect_refused(TiffEntry{258, 3, 1, bits},
                   "must hold integers of 8, 16, 32 or 64 bits, or floating-point numbers of 16, "
                   "32 or 64 bits; given unsigned integers of " +
                       std::to_string(bits));
  expect_refused(TiffEntry{262, 3, 1, 32803}, "photometric interpretation 32803");
  expect_refused(TiffEntry{259, 3, 1, 6}, "has a compression that is not read; given JPEG as TIFF 6.0 defined it");
  expect_refused(TiffEntry{259, 3, 1, 4}, "CCITT fax 4");
  expect_refused(TiffEntry{259, 3, 1, 34712}, "has a compression that is not read; given 34712, expected none, PackBits");
}

TEST_F(TiffRead, OnePageOfSeveral) {
  const std::string pixels = noise(35);
  const auto expect_page = [&](std::optional<int> page, std::uint32_t height, std::uint32_t width) {
    const auto reader = open_rows(path_, page);
    EXPECT_EQ(reader->shape(), (Dims{height, width, 1}));
    EXPECT_EQ(rows_of(*reader), pixels.substr(0, height * width));
  };
  // Reduced copies and masks do not count as pages.
  write_tiff(path_, {{}, {.height = 2, .width = 3, .kind = 1}, {.kind = 4}, {.height = 1, .width = 1, .kind = 5}}, pixels);
  expect_page(std::nullopt, 5, 7);
  expect_page(0, 5, 7);
  expect_error([&] { open_rows(path_, 1); }, ErrorCode::value, "tiff", path_,
               "has no such page; given page 1, expected a page from 0 to 0");
  expect_error([&] { open_rows(path_, -1); }, ErrorCode::value, "tiff", path_, "has no such page; given page -1");
  write_tiff(path_, {{.height = 2, .width = 3, .kind = 1}, {}}, pixels);
  expect_page(std::nullopt, 5, 7);
  write_tiff(path_, {{.height = 2, .width = 3, .kind = 1}}, pixels);
  expect_page(std::nullopt, 2, 3);

  write_tiff(path_, {{}, {.height = 2, .width = 3, .kind = 2}, {.height = 2, .width = 2, .kind = 1}, {.height = 4}}, pixels);
  expect_error([&] { open_rows(path_); }, ErrorCode::file_unsupported, "tiff", path_,
               "has several pages: one has to be chosen; given 3 pages, expected a page from 0 to 2; page=0");
  expect_page(0, 5, 7);
  expect_page(1, 2, 3);
  expect_page(2, 4, 7);
  EXPECT_EQ(read_picture(path_, 1).view.shape, (Dims{2, 3, 1}));
  expect_error([&] { open_rows(path_, 3); }, ErrorCode::value, "tiff", path_, "expected a page from 0 to 2");
}

TEST_F(TiffRead, FilesMadeByteByByte) {
  write_bytes(path_, tiff_file(grey_entries(4, 2), "abcdefgh"));
  EXPECT_EQ(elements_of(read_picture(path_).view), "abcdefgh");
  write_bytes(path_, tiff_file(with_entry(grey_entries(4, 2), {262, 3, 0, 0}), "abcdefgh"));
  EXPECT_EQ(elements_of(read_picture(path_).view), "abcdefgh");
}

TEST_F(TiffRead, ContentsCountAndNotTheName) {
  path_ = folder_ / "x.npy";
  expect_pixels({}, DType::uint8);
  EXPECT_TRUE(has_tiff());
}

}  // namespace
}  // namespace patchfold::formats
