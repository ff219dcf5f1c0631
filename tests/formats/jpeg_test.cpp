// SPDX-License-Identifier: Apache-2.0
#include "formats/picture.hpp"
#include "tests/formats/picture_files.hpp"
#include "tests/formats/support.hpp"

namespace patchfold::formats {
namespace {

using namespace test;

/// Returns smooth gradients, which JPEG keeps nearly unchanged.
std::string gradient(int width, int height, int channels) {
  std::string pixels;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c) pixels += static_cast<char>(60 + 2 * x + y + 30 * c);
  return pixels;
}

int largest_difference(const std::string& a, const std::string& b) {
  EXPECT_EQ(a.size(), b.size());
  int largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<unsigned char>(a[i]) - static_cast<unsigned char>(b[i])));
  return largest;
}

class Jpeg : public ::testing::Test {
 protected:
  void expect_near(const JpegSpec& spec, int tolerance) {
    const std::string pixels = gradient(spec.width, spec.height, spec.components);
    write_bytes(path_, jpeg_file(spec, pixels));
    const auto picture = read_picture(path_);
    EXPECT_EQ(picture.view.shape, (Dims{spec.height, spec.width, spec.components}));
    EXPECT_EQ(picture.view.dtype, DType::uint8);
    EXPECT_EQ(picture.type.descr, "'|u1'");
    EXPECT_LE(largest_difference(elements_of(picture.view), pixels), tolerance);
    EXPECT_EQ(rows_of(*open_rows(path_)), elements_of(picture.view));
  }

  TempFolder folder_;
  std::filesystem::path path_ = folder_ / "x.jpg";
};

TEST_F(Jpeg, GreyAndColour) {
  expect_near({.width = 37, .height = 21, .components = 1}, 3);
  expect_near({.width = 37, .height = 21, .components = 3}, 3);
  expect_near({.width = 1, .height = 1, .components = 3}, 3);
}

TEST_F(Jpeg, EveryKindOfEncoding) {
  expect_near({.width = 37, .height = 21, .progressive = true}, 3);
  expect_near({.width = 37, .height = 21, .arithmetic = true}, 3);
  expect_near({.width = 37, .height = 21, .progressive = true, .arithmetic = true}, 3);
  expect_near({.width = 37, .height = 21, .subsampled = true}, 5);
  expect_near({.width = 37, .height = 21, .separate = true}, 3);
  expect_near({.width = 37, .height = 21, .stays_rgb = true}, 3);
}

TEST_F(Jpeg, LongSegmentsAreSkipped) {
  const std::string pixels = gradient(37, 21, 3);
  std::string file = jpeg_file({.width = 37, .height = 21}, pixels);
  for (int i = 0; i < 5; ++i) file.insert(2, "\xFF\xE5\xFF\xFF" + std::string(65533, 'x'));
  write_bytes(path_, file);
  EXPECT_LE(largest_difference(elements_of(read_picture(path_).view), pixels), 3);
  write_bytes(path_, std::string_view(file).substr(0, 200000));
  expect_error([&] { read_picture(path_); }, ErrorCode::file_format, "jpeg", path_, "Premature end of JPEG file");
}

TEST_F(Jpeg, ContentsCountAndNotTheName) {
  path_ = folder_ / "x.png";
  expect_near({}, 3);
}

TEST_F(Jpeg, CmykIsRefused) {
  write_bytes(path_, jpeg_file({.components = 4}, gradient(8, 8, 4)));
  expect_error([&] { read_picture(path_); }, ErrorCode::file_unsupported, "jpeg", path_,
               "must be grey or RGB; CMYK and other colours are not read");
}

TEST_F(Jpeg, WritesWhatItReads) {
  for (const int channels : {1, 3}) {
    const std::string pixels = gradient(45, 30, channels);
    write_picture(path_, contiguous(pixels.data(), {30, 45, channels}, DType::uint8));
    const auto picture = read_picture(path_);
    EXPECT_EQ(picture.view.shape, (Dims{30, 45, channels}));
    EXPECT_LE(largest_difference(elements_of(picture.view), pixels), 3);
    EXPECT_EQ(folder_.names(), std::vector<std::string>{"x.jpg"});
  }
}

// Tests colours that change from pixel to pixel, since subsampling of colours would blur them.
TEST_F(Jpeg, WritesColoursAtFullResolution) {
  std::string pixels;
  for (int i = 0; i < 32 * 32; ++i) pixels += i % 2 == 0 ? "\xB0\x60\x60" : "\x60\x60\xB0";
  write_picture(path_, contiguous(pixels.data(), {32, 32, 3}, DType::uint8));
  EXPECT_LE(largest_difference(elements_of(read_picture(path_).view), pixels), 12);
}

// Tests files in which the last scan is repeated, since each scan costs time in proportion to the picture.
TEST_F(Jpeg, ScansWithoutEndAreRefused) {
  const auto with_scans = [](int repeats) {
    std::string file = jpeg_file({.separate = true}, gradient(8, 8, 3));
    const std::size_t scan = file.rfind("\xFF\xDA");
    const std::string last = file.substr(scan, file.size() - 2 - scan);
    file.resize(file.size() - 2);
    for (int i = 0; i < repeats; ++i) file += last;
    return file + "\xFF\xD9";
  };
  write_bytes(path_, with_scans(490));
  EXPECT_LE(largest_difference(elements_of(read_picture(path_).view), gradient(8, 8, 3)), 3);
  write_bytes(path_, with_scans(500));
  expect_error([&] { read_picture(path_); }, ErrorCode::file_format, "jpeg", path_, "must be a sound JPEG file");
}

}  // namespace
}  // namespace patchfold::formats
