// SPDX-License-Identifier: Apache-2.0
#include "formats/picture.hpp"

#include <cmath>
#include <limits>

#include "formats/rows.hpp"
#include "tests/formats/picture_files.hpp"
#include "tests/formats/support.hpp"

namespace patchfold::formats {
namespace {

using namespace test;
using namespace std::string_literals;

/// Returns `file`, a JPEG file, with `height` and `width` in its frame header.
std::string with_jpeg_size(std::string file, int height, int width) {
  std::size_t frame = file.find("\xFF\xC0\0\x11"s);
  if (frame == std::string::npos) frame = file.find("\xFF\xC9\0\x11"s);  // arithmetic coding
  for (int i = 0; i < 2; ++i) {
    file[frame + 5 + i] = static_cast<char>(height >> (8 - 8 * i));
    file[frame + 7 + i] = static_cast<char>(width >> (8 - 8 * i));
  }
  return file;
}

std::string with_byte(std::string file, std::string_view after, std::size_t offset, char value) {
  file[file.find(after) + offset] = value;
  return file;
}

TEST(PictureHostile, EveryCaseIsTheErrorThatItShouldBe) {
  const TempFolder folder;
  const std::string png = png_file({2, 1, 8, 0, "\0ab"s});
  const std::string jpeg = jpeg_file({.width = 16, .height = 16}, noise(16 * 16 * 3));
  const std::string other = "must be a PNG, JPEG or TIFF file; other pictures are not read";
  const std::string bad_png = "must be a sound PNG file";
  const std::string bad_jpeg = "must be a sound JPEG file";
  const std::string too_short = "is too short for its picture";
  const std::vector<Damaged> files = {
      {"empty", "", format, "is cut short; given 0 bytes", "picture"},
      {"an array", "\x93NUMPY......", unsupported, other, "picture"},
      {"GIF", "GIF89a......", unsupported, other + "; given a file that begins with \"GIF89a..\"", "picture"},
      {"text", "hi", unsupported, other, "picture"},
      {"damaged line ends", "\x89PNG\n\x1A\n........", unsupported, other, "picture"},

      {"PNG of no rows", png_file({2, 0, 8, 0, ""}), format, bad_png, "png"},
      {"PNG of no columns", png_file({0, 2, 8, 0, "\0\0"s}), format, bad_png, "png"},
      {"PNG of 2^31 columns", png_file({0x80000000, 1, 8, 0, "\0ab"s}), format, bad_png, "png"},
      {"PNG of 2^62 pixels", png_file({0x7FFFFFFF, 0x7FFFFFFF, 16, 6, "\0ab"s}), format,
       too_short + "; given 71 bytes for 2147483647 x 2147483647 pixels", "png"},
      {"PNG of 2^40 pixels", png_file({1 << 20, 1 << 20, 8, 6, "\0ab"s}), format, too_short + "; given", "png"},
      {"PNG of one long row", png_file({1 << 24, 1, 8, 0, "\0ab"s}), format, too_short, "png"},
      {"PNG of many short rows", png_file({1, 0x7FFFFFFF, 1, 0, "\0ab"s}), format, too_short, "png"},
      {"PNG with 3 bits", png_file({2, 1, 3, 0, "\0ab"s}), format, bad_png, "png"},
      {"PNG of colour type 5", png_file({2, 1, 8, 5, "\0ab"s}), format, bad_png, "png"},
      {"PNG palette missing", png_file({2, 1, 8, 3, "\0ab"s}), format, bad_png, "png"},
      {"PNG palette of 257 colours", png_file({2, 1, 8, 3, "\0ab"s, false, {{"PLTE", std::string(257 * 3, 'x')}}}), format,
       bad_png, "png"},
      {"PNG with too few rows", png_file({2, 3, 8, 0, "\0ab\0cd"s}), format, bad_png, "png"},
      {"PNG with half a row", png_file({4, 1, 8, 0, "\0ab"s}), format, bad_png, "png"},
      {"PNG with an unknown filter", png_file({2, 1, 8, 0, "\7ab"}), format, bad_png, "png"},
      {"PNG with an unknown critical chunk", png_file({2, 1, 8, 0, "\0ab"s, false, {{"ABCD", "x"}}}), format, bad_png,
       "png"},
      {"PNG with a wrong checksum", with_byte(png, "IHDR", 7, 3), format, bad_png, "png"},
      {"PNG with wrong pixels", with_byte(png, "ab", 0, 'x'), format, bad_png, "png"},
      {"PNG without pixels", png.substr(0, png.find("IDAT") - 4) + png_chunk("IEND", ""), format, bad_png, "png"},
      {"PNG without a header", png.substr(0, 8) + png.substr(33), format, bad_png, "png"},
      {"PNG with a chunk of 4 GB", png.substr(0, 33) + "\xFF\xFF\xFF\xFFtEXt", format, bad_png, "png"},
      {"PNG with a chunk of 2 GB", png.substr(0, 33) + "\x7F\xFF\xFF\xFFtEXt", format, bad_png, "png"},
      {"PNG with pixels that are no stream",
       png.substr(0, png.find("IDAT") - 4) + png_chunk("IDAT", "garbage!") + png_chunk("IEND", ""), format, bad_png, "png"},

      {"JPEG of two bytes", jpeg.substr(0, 2), format, bad_jpeg, "jpeg"},
      {"JPEG of garbage", "\xFF\xD8garbage", format, bad_jpeg, "jpeg"},
      {"JPEG without a picture", jpeg.substr(0, 20) + "\xFF\xD9", format, bad_jpeg, "jpeg"},
      {"JPEG of no columns", with_jpeg_size(jpeg, 16, 0), format, bad_jpeg, "jpeg"},
      {"JPEG of no rows", with_jpeg_size(jpeg, 0, 16), format, bad_jpeg, "jpeg"},
      {"JPEG of 65500 x 65500", with_jpeg_size(jpeg, 65500, 65500), format, too_short, "jpeg"},
      {"JPEG of 65535 x 65535", with_jpeg_size(jpeg, 65535, 65535), unsupported, "must be a JPEG file of a usual kind",
       "jpeg"},
      {"JPEG with more rows than data", with_jpeg_size(jpeg, 64, 16), format, bad_jpeg, "jpeg"},
      {"JPEG with 12 bits", with_byte(jpeg, "\xFF\xC0\0\x11"s, 4, 12), unsupported, "must be a JPEG file of a usual kind",
       "jpeg"},
      {"JPEG without loss", with_byte(jpeg, "\xFF\xC0\0\x11"s, 1, '\xC3'), unsupported,
       "must be a JPEG file of a usual kind", "jpeg"},
      {"JPEG without tables", with_byte(jpeg, "\xFF\xDB", 1, '\xFE'), format, bad_jpeg, "jpeg"},
      {"JPEG with a marker amid the pixels", with_byte(jpeg, "\xFF\xDA", 30, '\xFF'), format, bad_jpeg, "jpeg"},
  };
  expect_errors(
      folder / "x.png", "", [](const auto& file) { read_picture(file); }, files);
}

/// Writes the bytes to a file and returns whether the reader opens it. If not, expects the error that the file is too short.
bool is_long_enough(const std::filesystem::path& path, const std::string& bytes) {
  write_bytes(path, bytes);
  try {
    open_rows(path);
    return true;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("is too short for its picture"), std::string::npos) << error.what();
    return false;
  }
}

// Tests that a small file that claims a large picture does not make the reader allocate much memory.
TEST(PictureHostile, AFileHoldsNoMoreThanItsCompressionCanMakeOfIt) {
  const TempFolder folder;
  const auto path = folder / "x";
  const auto png = [](std::uint32_t rows) { return png_file({1032, rows, 8, 0, "\0ab"s}); };
  const auto bytes = static_cast<std::uint32_t>(png(1).size());
  EXPECT_TRUE(is_long_enough(path, png(bytes)));
  EXPECT_FALSE(is_long_enough(path, png(bytes + 1)));

  const std::string jpeg = jpeg_file({.width = 16, .height = 16}, noise(16 * 16 * 3));
  EXPECT_TRUE(is_long_enough(path, with_jpeg_size(jpeg, static_cast<int>(jpeg.size()), 1024)));
  EXPECT_FALSE(is_long_enough(path, with_jpeg_size(jpeg, static_cast<int>(jpeg.size()) + 1, 1024)));

  // With arithmetic coding a block may need less than a bit, so any size up to the limit of JPEG is possible.
  const std::string arithmetic = jpeg_file({.width = 16, .height = 16, .arithmetic = true}, noise(16 * 16 * 3));
  EXPECT_TRUE(is_long_enough(path, with_jpeg_size(arithmetic, 65500, 65500)));
  for (const auto& [height, width] : {std::pair{65501, 16}, {16, 65501}}) {
    write_bytes(path, with_jpeg_size(arithmetic, height, width));
    expect_error([&] { open_rows(path); }, unsupported, "jpeg", path, "must be a JPEG file of a usual kind");
  }
}

class PictureWrite : public ::testing::Test {
 protected:
  void expect_round_trip(const ConstTensorView& picture) {
    write_picture(path_, picture);
    const auto read = read_picture(path_);
    EXPECT_EQ(read.view.shape, picture.shape);
    EXPECT_EQ(read.view.dtype, picture.dtype);
    EXPECT_EQ(elements_of(read.view), elements_of(picture));
    EXPECT_EQ(folder_.names(), std::vector<std::string>{"x.png"});
  }
  /// Returns the pixels that are written for a row of floating-point numbers.
  std::string pixels_of(const ConstTensorView& row) {
    write_picture(path_, row);
    return elements_of(read_picture(path_).view);
  }
  void expect_refused(const ConstTensorView& picture, ErrorCode code, std::string_view op, std::string_view fragment) {
    expect_error([&] { write_picture(path_, picture); }, code, op, path_, fragment);
    EXPECT_TRUE(folder_.names().empty());
  }

  TempFolder folder_;
  std::filesystem::path path_ = folder_ / "x.png";
};

TEST_F(PictureWrite, PngKeepsEveryBit) {
  const std::string data = noise(2 * 17 * 23 * 4);
  for (const int channels : {1, 2, 3, 4})
    for (const auto dtype : {DType::uint8, DType::uint16})
      expect_round_trip(contiguous(data.data(), {17, 23, channels}, dtype));
}

TEST_F(PictureWrite, AnyStrides) {
  const std::string data = noise(2 * 3 * 20 * 30 + 1);
  const auto* bytes = data.data();
  expect_round_trip({bytes, {20, 30, 3}, {30, 1, 600}, DType::uint8, 1});  // C x H x W
  expect_round_trip({bytes, {20, 30, 3}, {60, 2, 1200}, DType::uint16, 2});
  expect_round_trip({bytes + 1, {20, 30, 3}, {180, 6, 2}, DType::uint16, 2});      // unaligned
  expect_round_trip({bytes + 1799, {20, 30, 3}, {-90, -3, -1}, DType::uint8, 1});  // turned, BGR
  expect_round_trip({bytes, {20, 30, 3}, {90, 3, 0}, DType::uint8, 1});            // grey as RGB
  expect_round_trip({bytes, {1, 1, 1}, {-999, 999, 0}, DType::uint8, 1});
}

TEST_F(PictureWrite, NumbersAreRoundedToEvenAndClipped) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> numbers = {0,   -0.0, 0.5,   1.5,   2.5,      0.49,      254.4,        254.5,  255, 255.5,
                                       256, -0.5, -1000, 1e300, infinity, -infinity, std::nan(""), 5e-324, 3,   127.5};
  const std::string expected{0,      0, 0, 2,      2,      0, '\xFE', '\xFE', '\xFF', '\xFF',
                             '\xFF', 0, 0, '\xFF', '\xFF', 0, 0,      0,      3,      '\x80'};
  const std::vector<float> singles(numbers.begin(), numbers.end());
  EXPECT_EQ(pixels_of(view(numbers.data(), {1, 20, 1})), expected);
  EXPECT_EQ(pixels_of(view(singles.data(), {1, 20, 1})), expected);
}

TEST_F(PictureWrite, HalfPrecision) {
  // 0, 0.5, 1.5, 2.5, 100, 255, 65504, infinity, NaN, -3, smallest subnormal
  const std::vector<std::uint16_t> half = {0, 0x3800, 0x3E00, 0x4100, 0x5640, 0x5BF8, 0x7BFF, 0x7C00, 0x7E00, 0xC200, 1};
  EXPECT_EQ(pixels_of(contiguous(half.data(), {1, 11, 1}, DType::float16)),
            std::string({0, 0, 2, 2, 100, '\xFF', '\xFF', '\xFF', 0, 0, 0}));
  // 0, 0.5, 1.5, 2.5, 100, 255, largest, infinity, NaN, -3, smallest subnormal
  const std::vector<std::uint16_t> brain = {0, 0x3F00, 0x3FC0, 0x4020, 0x42C8, 0x437F, 0x7F7F, 0x7F80, 0x7FC0, 0xC040, 1};
  EXPECT_EQ(pixels_of(contiguous(brain.data(), {1, 11, 1}, DType::bfloat16)),
            std::string({0, 0, 2, 2, 100, '\xFF', '\xFF', '\xFF', 0, 0, 0}));
}

TEST_F(PictureWrite, EveryHalfThatIsAPixelGivesItsNumber) {
  std::vector<std::uint16_t> half;
  for (int i = 1; i < 256; ++i) {
    const int exponent = static_cast<int>(std::log2(i));
    half.push_back(static_cast<std::uint16_t>((exponent + 15) << 10 | (i << (10 - exponent) & 0x3FF)));
  }
  const std::string pixels = pixels_of(contiguous(half.data(), {1, 255, 1}, DType::float16));
  for (int i = 1; i < 256; ++i) EXPECT_EQ(static_cast<unsigned char>(pixels[i - 1]), i);
}

TEST_F(PictureWrite, JpegTakesNumbersToo) {
  path_ = folder_ / "x.JPG";
  const std::vector<float> grey(64, 100.4F);
  EXPECT_EQ(pixels_of(view(grey.data(), {8, 8, 1})), std::string(64, 100));
}

TEST_F(PictureWrite, WhatIsNoPicture) {
  const std::string data(64, '\0');
  const auto bytes = [&](const Dims& shape, DType dtype = DType::uint8) { return contiguous(data.data(), shape, dtype); };
  expect_refused(bytes({4, 4}), ErrorCode::rank, "png",
                 "must have 3 axes (height, width, channels) to be a picture; given [4, 4]");
  expect_refused(bytes({1, 4, 4, 1}), ErrorCode::rank, "png", "must have 3 axes");
  for (const Dims& shape : {Dims{4, 4, 0}, Dims{4, 3, 5}, Dims{0, 4, 3}, Dims{4, 0, 3}})
    expect_refused(bytes(shape), ErrorCode::shape, "png",
                   "must be H x W x C with H and W from 1 and C from 1 to 4 to be a picture");
  for (const auto dtype : {DType::boolean, DType::int8, DType::int16, DType::int32, DType::uint32, DType::int64,
                           DType::complex64, DType::float8_e5m2})
    expect_refused(bytes({2, 2, 1}, dtype), ErrorCode::dtype, "png",
                   "must be uint8, uint16, float16, bfloat16, float32 or float64");
  expect_refused({data.data(), {std::int64_t{1} << 31, 1, 1}, {0, 0, 0}, DType::uint8, 1}, ErrorCode::shape, "png",
                 "must have at most 2147483647");
  expect_refused({data.data(), {1, std::int64_t{1} << 31, 1}, {0, 0, 0}, DType::uint8, 1}, ErrorCode::shape, "png",
                 "must have at most 2147483647");
  path_ = folder_ / "x.jpg";
  expect_refused(bytes({2, 2, 1}, DType::uint16), ErrorCode::dtype, "jpeg",
                 "must not be uint16: JPEG files hold samples of 8 bits");
  expect_refused(bytes({2, 2, 2}), ErrorCode::shape, "jpeg", "must have 1 or 3 channels to be a JPEG file; given 2");
  expect_refused(bytes({2, 2, 4}), ErrorCode::shape, "jpeg", "must have 1 or 3 channels to be a JPEG file; given 4");
  expect_refused({data.data(), {65501, 1, 1}, {0, 0, 0}, DType::uint8, 1}, ErrorCode::shape, "jpeg",
                 "must have at most 65500");
  path_ = folder_ / "x.bmp";
  expect_refused(bytes({2, 2, 1}), ErrorCode::file_unsupported, "picture",
                 "must end in .png, .jpg, .jpeg, .tif or .tiff; given .bmp");
}

TEST_F(PictureWrite, HundredMegapixels) {
  const std::uint8_t row[3] = {1, 2, 3};
  write_picture(path_, {row, {10000, 10000, 1}, {0, 0, 0}, DType::uint8, 1});
  const auto picture = read_picture(path_);
  EXPECT_EQ(picture.view.shape, (Dims{10000, 10000, 1}));
  const auto* pixels = static_cast<const std::uint8_t*>(picture.view.data);
  std::size_t different = 0;
  for (std::size_t i = 0; i < 100000000; ++i) different += pixels[i] != 1;
  EXPECT_EQ(different, 0U);
}

}  // namespace
}  // namespace patchfold::formats
