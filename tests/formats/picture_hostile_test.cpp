// SPDX-License-Identifier: Apache-2.0
#include "formats/picture.hpp"
#include "formats/rows.hpp"
#include "tests/formats/picture_files.hpp"
#include "tests/formats/support.hpp"

namespace patchfold::formats {
namespace {

using namespace test;
using namespace std::string_literals;

const ErrorCode format = ErrorCode::file_format;
const ErrorCode unsupported = ErrorCode::file_unsupported;

/// Returns a JPEG file with another size in its frame header.
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

struct Case {
  std::string name;
  std::string bytes;
  ErrorCode code;
  std::string op;
  std::string fragment;
};

std::vector<Case> cases() {
  const std::string png = png_file({2, 1, 8, 0, "\0ab"s});
  const std::string jpeg = jpeg_file({.width = 16, .height = 16}, noise(16 * 16 * 3));
  const std::string other = "must be a PNG, JPEG or TIFF file; other pictures are not read";
  const std::string bad_png = "must be a sound PNG file";
  const std::string bad_jpeg = "must be a sound JPEG file";
  const std::string too_short = "is too short for its picture";
  return {
      {"empty", "", format, "picture", "is cut short; given 0 bytes"},
      {"an array", "\x93NUMPY......", unsupported, "picture", other},
      {"GIF", "GIF89a......", unsupported, "picture", other + "; given a file that begins with \"GIF89a..\""},
      {"text", "hi", unsupported, "picture", other},
      {"damaged line ends", "\x89PNG\n\x1A\n........", unsupported, "picture", other},

      {"PNG of no rows", png_file({2, 0, 8, 0, ""}), format, "png", bad_png},
      {"PNG of no columns", png_file({0, 2, 8, 0, "\0\0"s}), format, "png", bad_png},
      {"PNG of 2^31 columns", png_file({0x80000000, 1, 8, 0, "\0ab"s}), format, "png", bad_png},
      {"PNG of 2^62 pixels", png_file({0x7FFFFFFF, 0x7FFFFFFF, 16, 6, "\0ab"s}), format, "png",
       too_short + "; given 71 bytes for 2147483647 x 2147483647 pixels"},
      {"PNG of 2^40 pixels", png_file({1 << 20, 1 << 20, 8, 6, "\0ab"s}), format, "png", too_short + "; given"},
      {"PNG of one long row", png_file({1 << 24, 1, 8, 0, "\0ab"s}), format, "png", too_short},
      {"PNG of many short rows", png_file({1, 0x7FFFFFFF, 1, 0, "\0ab"s}), format, "png", too_short},
      {"PNG with 3 bits", png_file({2, 1, 3, 0, "\0ab"s}), format, "png", bad_png},
      {"PNG of colour type 5", png_file({2, 1, 8, 5, "\0ab"s}), format, "png", bad_png},
      {"PNG palette missing", png_file({2, 1, 8, 3, "\0ab"s}), format, "png", bad_png},
      {"PNG palette of 257 colours", png_file({2, 1, 8, 3, "\0ab"s, false, {{"PLTE", std::string(257 * 3, 'x')}}}), format,
       "png", bad_png},
      {"PNG with too few rows", png_file({2, 3, 8, 0, "\0ab\0cd"s}), format, "png", bad_png},
      {"PNG with half a row", png_file({4, 1, 8, 0, "\0ab"s}), format, "png", bad_png},
      {"PNG with an unknown filter", png_file({2, 1, 8, 0, "\7ab"}), format, "png", bad_png},
      {"PNG with an unknown critical chunk", png_file({2, 1, 8, 0, "\0ab"s, false, {{"ABCD", "x"}}}), format, "png",
       bad_png},
      {"PNG with a wrong checksum", with_byte(png, "IHDR", 7, 3), format, "png", bad_png},
      {"PNG with wrong pixels", with_byte(png, "ab", 0, 'x'), format, "png", bad_png},
      {"PNG without pixels", png.substr(0, png.find("IDAT") - 4) + png_chunk("IEND", ""), format, "png", bad_png},
      {"PNG without a header", png.substr(0, 8) + png.substr(33), format, "png", bad_png},
      {"PNG with a chunk of 4 GB", png.substr(0, 33) + "\xFF\xFF\xFF\xFFtEXt", format, "png", bad_png},
      {"PNG with a chunk of 2 GB", png.substr(0, 33) + "\x7F\xFF\xFF\xFFtEXt", format, "png", bad_png},
      {"PNG with pixels that are no stream",
       png.substr(0, png.find("IDAT") - 4) + png_chunk("IDAT", "garbage!") + png_chunk("IEND", ""), format, "png", bad_png},

      {"JPEG of two bytes", jpeg.substr(0, 2), format, "jpeg", bad_jpeg},
      {"JPEG of garbage", "\xFF\xD8garbage", format, "jpeg", bad_jpeg},
      {"JPEG without a picture", jpeg.substr(0, 20) + "\xFF\xD9", format, "jpeg", bad_jpeg},
      {"JPEG of no columns", with_jpeg_size(jpeg, 16, 0), format, "jpeg", bad_jpeg},
      {"JPEG of no rows", with_jpeg_size(jpeg, 0, 16), format, "jpeg", bad_jpeg},
      {"JPEG of 65500 x 65500", with_jpeg_size(jpeg, 65500, 65500), format, "jpeg", too_short},
      {"JPEG of 65535 x 65535", with_jpeg_size(jpeg, 65535, 65535), unsupported, "jpeg",
       "must be a JPEG file of a usual kind"},
      {"JPEG with more rows than data", with_jpeg_size(jpeg, 64, 16), format, "jpeg", bad_jpeg},
      {"JPEG with 12 bits", with_byte(jpeg, "\xFF\xC0\0\x11"s, 4, 12), unsupported, "jpeg",
       "must be a JPEG file of a usual kind"},
      {"JPEG without loss", with_byte(jpeg, "\xFF\xC0\0\x11"s, 1, '\xC3'), unsupported, "jpeg",
       "must be a JPEG file of a usual kind"},
      {"JPEG without tables", with_byte(jpeg, "\xFF\xDB", 1, '\xFE'), format, "jpeg", bad_jpeg},
      {"JPEG with a marker amid the pixels", with_byte(jpeg, "\xFF\xDA", 30, '\xFF'), format, "jpeg", bad_jpeg},
  };
}

TEST(PictureHostile, EveryCaseIsTheErrorThatItShouldBe) {
  const TempFolder folder;
  const auto path = folder / "x.png";
  for (const auto& [name, bytes, code, op, fragment] : cases()) {
    SCOPED_TRACE(name);
    write_bytes(path, bytes);
    expect_error([&] { read_picture(path); }, code, op, path, fragment);
  }
}

/// Returns whether a file with the bytes is read as a picture. If not, expects the error that the file is too short.
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

// A small file that claims a large picture must not make the reader allocate much memory.
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

  // With arithmetic coding a block may need less than a bit.
  const std::string arithmetic = jpeg_file({.width = 16, .height = 16, .arithmetic = true}, noise(16 * 16 * 3));
  EXPECT_TRUE(is_long_enough(path, with_jpeg_size(arithmetic, 65500, 65500)));
  for (const auto& [height, width] : {std::pair{65501, 16}, {16, 65501}}) {
    write_bytes(path, with_jpeg_size(arithmetic, height, width));
    expect_error([&] { open_rows(path); }, unsupported, "jpeg", path, "must be a JPEG file of a usual kind");
  }
}

}  // namespace
}  // namespace patchfold::formats
