// SPDX-License-Identifier: Apache-2.0
// Tests that libpng reads the PNG files that patchfold's own writer compresses on several threads.
#include <cmath>

#include "formats/picture.hpp"
#include "patchfold/plan.hpp"
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
  /// Expects that reading the PNG file of `spec` gives this shape and these pixels.
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

/// Returns pixels for all ways of compression: noise, gradients, flat areas, and a pattern that repeats at a large distance.
std::string mixed_pixels(std::int64_t height, std::int64_t row_bytes) {
  const std::string grains = noise(static_cast<std::size_t>(height * row_bytes));
  std::string pixels(grains.size(), '\0');
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < row_bytes; ++x) {
      const auto at = static_cast<std::size_t>(y * row_bytes + x);
      const int grain = static_cast<unsigned char>(grains[at]);
      switch (y * 5 / height) {
        case 0: pixels[at] = grains[at]; break;
        case 1: pixels[at] = static_cast<char>(x / 7 + y / 3 + grain % 4); break;
        case 2: pixels[at] = 17; break;
        case 3: pixels[at] = grains[static_cast<std::size_t>(x % 997)]; break;
        default: pixels[at] = static_cast<char>(std::lround(128 + 100 * std::sin(static_cast<double>(x * y) / 5000)));
      }
    }
  return pixels;
}

/// An executor with several threads that runs pieces one after another, the last one first.
class Backwards final : public Executor {
 public:
  explicit Backwards(int threads) : threads_(threads) {}
  int threads() const noexcept override { return threads_; }
  bool run(std::int64_t pieces, Body body, void* context) noexcept override {
    for (std::int64_t piece = pieces - 1; piece >= 0; --piece) body(context, piece);
    return true;
  }

 private:
  int threads_;
};

std::string written(const TempFolder& folder, const ConstTensorView& picture, Executor& executor) {
  WriteOptions options;
  options.executor = &executor;
  write_picture(folder / "x.png", picture, options);
  return read_bytes(folder / "x.png");
}

TEST(PngWrite, ManyThreadsWriteTheBytesThatOneWrites) {
  const TempFolder folder;
  for (const auto& [shape, dtype] : {std::pair{Dims{900, 700, 3}, DType::uint8},
                                     {Dims{400, 500, 4}, DType::uint16},
                                     {Dims{3, 400000, 1}, DType::uint8},
                                     {Dims{100000, 1, 2}, DType::uint16},
                                     {Dims{1, 1, 1}, DType::uint8}}) {
    const std::string pixels = mixed_pixels(shape[0], shape[1] * shape[2] * static_cast<std::int64_t>(size_of(dtype)));
    const auto picture = contiguous(pixels.data(), shape, dtype);
    const std::string one = written(folder, picture, serial_executor());
    EXPECT_EQ(elements_of(read_picture(folder / "x.png").view), elements_of(picture)) << to_string(shape);
    for (const int threads : {2, 3, 100}) {
      Backwards executor(threads);
      EXPECT_TRUE(written(folder, picture, executor) == one) << to_string(shape) << " " << threads;
    }
    EXPECT_TRUE(written(folder, picture, default_executor()) == one) << to_string(shape);
  }
}

TEST(PngWrite, PartsAreCompressedInTheWayThatSuitsThem) {
  const TempFolder folder;
  const std::int64_t side = 1024;
  const auto size_of_file = [&](const std::string& pixels) {
    return written(folder, contiguous(pixels.data(), {side, side, 1}, DType::uint8), serial_executor()).size();
  };
  const auto bytes = static_cast<std::size_t>(side * side);
  std::string slope(bytes, '\0');
  const std::string grains = noise(bytes);
  std::string repeated(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) {
    slope[i] = static_cast<char>(i % 1024 / 9 + i / 9216 + (static_cast<unsigned char>(grains[i]) & 7));
    repeated[i] = grains[i % 5000];
  }
  EXPECT_LT(size_of_file(std::string(bytes, 'x')), 3000U);  // flat
  EXPECT_LT(size_of_file(slope), bytes * 6 / 10);           // a gradient with 3 bits of noise, stored as differences
  EXPECT_LT(size_of_file(repeated), bytes / 20);            // repetitions 5000 bytes apart
  EXPECT_LT(size_of_file(grains), bytes + bytes / 100);     // noise, which cannot be compressed
}

TEST(PngWrite, AnExecutorThatRefusesLeavesNoFile) {
  class Refusing final : public Executor {
   public:
    int threads() const noexcept override { return 2; }
    bool run(std::int64_t, Body, void*) noexcept override { return false; }
  } executor;
  const TempFolder folder;
  const std::string pixels(300, '\1');
  EXPECT_THROW(written(folder, contiguous(pixels.data(), {10, 10, 3}, DType::uint8), executor), Error);
  EXPECT_TRUE(folder.names().empty());
}

TEST(PngWrite, FloatsOfABlackPictureAreRefused) {
  const TempFolder folder;
  for (const char* name : {"x.png", "x.jpg"}) {
    const auto path = folder / name;
    const auto expect_refused = [&](const std::vector<float>& numbers, std::string_view fragment) {
      expect_error(
          [&] {
            write_picture(path, view(numbers.data(), {1, static_cast<std::int64_t>(numbers.size()), 1}));
          },
          ErrorCode::value, std::string_view(name) == "x.png" ? "png" : "jpeg", path, fragment);
      EXPECT_TRUE(folder.names().empty());
    };
    expect_refused({0.25F, 0.5F, 1}, "would be black: 255 is white, and no number is above 1; given numbers from 0.25 to 1");
    expect_refused({-1, 0.5F}, "--range 0,1");
    expect_refused({-2, -1}, "given numbers from -2 to -1");
    expect_refused({std::nanf(""), std::nanf("")}, "given NaN");
    const std::vector<float> dark = {0, 0, 0};
    EXPECT_TRUE(write_picture(path, view(dark.data(), {1, 3, 1})).empty());
    const std::vector<float> above = {0, 1.5F, 0.5F, 300, -3};
    EXPECT_EQ(write_picture(path, view(above.data(), {1, 5, 1})),
              std::vector<std::string>{"2 numbers beyond 0 to 255 became black or white"});
    std::filesystem::remove(path);
  }
}

TEST(PngWrite, ARangeMapsFloats) {
  const TempFolder folder;
  const auto pixels = [&](const std::vector<double>& numbers, ValueRange range) {
    WriteOptions options;
    options.range = range;
    write_picture(folder / "x.png", view(numbers.data(), {1, static_cast<std::int64_t>(numbers.size()), 1}), options);
    return elements_of(read_picture(folder / "x.png").view);
  };
  EXPECT_EQ(pixels({0, 0.5, 1, 2, -1}, {0, 1}), std::string({0, '\x80', '\xFF', '\xFF', 0}));
  EXPECT_EQ(pixels({-1, 0, 1}, {-1, 1}), std::string({0, '\x80', '\xFF'}));
  EXPECT_EQ(pixels({0, 1}, {1, 0}), std::string({'\xFF', 0}));  // from white to black, as in a negative
  EXPECT_EQ(pixels({0, 1, 0.4}, {0, 255}), std::string({0, 1, 0}));
  EXPECT_THROW(pixels({1}, {1, 1}), Error);
  WriteOptions options;
  options.range = ValueRange{0, 1};
  const std::uint8_t pixel = 1;
  EXPECT_THROW(write_picture(folder / "y.png", view(&pixel, {1, 1, 1}), options), Error);
}

TEST(JpegWrite, ALowerQualityMakesASmallerFile) {
  const TempFolder folder;
  const std::string pixels = noise(64 * 64 * 3);
  const auto size_with = [&](int quality) {
    WriteOptions options;
    options.jpeg_quality = quality;
    write_picture(folder / "x.jpg", contiguous(pixels.data(), {64, 64, 3}, DType::uint8), options);
    return std::filesystem::file_size(folder / "x.jpg");
  };
  EXPECT_LT(size_with(20), size_with(95));
  EXPECT_LT(size_with(95), size_with(100));
  EXPECT_THROW(size_with(0), Error);
  EXPECT_THROW(size_with(101), Error);
}

}  // namespace
}  // namespace patchfold::formats
