// SPDX-License-Identifier: Apache-2.0
#include <tiffio.h>

#include <cstring>
#include <thread>

#include "formats/picture.hpp"
#include "formats/rows.hpp"
#include "tests/formats/support.hpp"
#include "tests/formats/tiff_files.hpp"

namespace patchfold::formats {
namespace {

using namespace test;
using namespace std::string_literals;

std::string grey_with(const TiffEntry& entry, const std::string& data = "abcdefgh") {
  return tiff_file(with_entry(grey_entries(4, 2), entry), data);
}

/// Returns a grey picture of 4 x 2 in tiles.
std::string tiled(std::uint32_t tile_width, std::uint32_t tile_height) {
  std::vector<TiffEntry> entries = {{256, 4, 1, 4}, {257, 4, 1, 2}, {258, 3, 1, 8},
                                    {259, 3, 1, 1}, {262, 3, 1, 1}, {277, 3, 1, 1}};
  const std::uint32_t data = 8 + 2 + 12 * 10 + 4;
  entries.insert(entries.end(), {{322, 4, 1, tile_width}, {323, 4, 1, tile_height}, {324, 4, 1, data}, {325, 4, 1, 256}});
  return tiff_file(entries, std::string(256, 'x'));
}

/// Returns a grey picture of 4 x 2 in two strips, whose lengths in the file are `first` and `second`.
std::string two_strips(std::uint32_t first, std::uint32_t second) {
  const std::uint32_t data = 8 + 2 + 12 * 9 + 4;
  auto entries = with_entry(grey_entries(4, 2), {278, 4, 1, 1});
  entries = with_entry(entries, {273, 3, 2, data | (data + 4) << 16});
  return tiff_file(with_entry(entries, {279, 3, 2, first | second << 16}), "abcdefgh");
}

TEST(TiffHostile, EveryCaseIsTheErrorThatItShouldBe) {
  const std::uint32_t most = 0xFFFFFFFF;
  const std::string bad = "must be a sound TIFF file";
  const std::string too_short = "is too short for its picture";
  const std::string strip = "has a strip that is too short or not in the file";
  const std::string big = "II+\0\10\0\0\0"s;
  const TempFolder folder;
  const auto path = folder / "x.tif";
  testing::internal::CaptureStderr();
  const std::vector<Damaged> files = {
      {"signature only", "II*\0"s, format, bad},
      {"BigTIFF signature only", "MM\0+"s, format, bad},
      {"directory beyond the end", "II*\0\xFF\xFF\xFF\x7F"s, format, bad},
      {"directory at 0", "II*\0\0\0\0\0"s, format, bad},
      {"BigTIFF directory at the end of all", big + "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", format, bad},
      {"BigTIFF with another offset size", "II+\0\4\0\0\0........"s, format, bad},
      {"no entries", tiff_file({}, ""), format, bad},
      {"65535 entries", "II*\0\10\0\0\0\xFF\xFF"s, format, bad},
      {"no width", grey_with({256, 4, 1, 0}), format, ""},
      {"no height", grey_with({257, 4, 1, 0}), format, ""},
      {"no samples", grey_with({277, 3, 1, 0}), format, ""},
      {"no bits", grey_with({258, 3, 1, 0}), format, bad},
      {"no rows in a strip", grey_with({278, 4, 1, 0}), format, ""},
      {"2^32 columns", grey_with({256, 4, 1, most}), format, ""},
      {"2^32 rows", grey_with({257, 4, 1, most}), format, ""},
      {"2^32 rows in one strip",
       tiff_file(with_entry(with_entry(grey_entries(4, 2), {257, 4, 1, most}), {278, 4, 1, most}), "abcdefgh"), format, ""},
      {"65535 samples", grey_with({277, 3, 1, 65535}), format, ""},
      {"more rows than data", grey_with({257, 4, 1, 200}), format, ""},
      {"strip beyond the end", grey_with({273, 4, 1, 1000}), format, strip},
      {"strip at 2^32", grey_with({273, 4, 1, most}), format, strip},
      {"strip at 0", grey_with({273, 4, 1, 0}), format, ""},
      {"second strip too short", two_strips(4, 3), format, strip + "; given 3 bytes, expected 4 bytes"},
      {"strip longer than the file", grey_with({279, 4, 1, most}, "abc"), format, "is cut short"},
      {"offsets beyond the end", grey_with({273, 4, 1000, 1 << 20}), format, ""},
      {"no LZW", grey_with({259, 3, 1, 5}), format, bad},
      {"no deflate", grey_with({259, 3, 1, 8}), format, bad},
      {"no JPEG", grey_with({259, 3, 1, 7}), format, bad},
      {"PackBits that ends early", grey_with({259, 3, 1, 32773}, "\7abcdefg"s), format, bad},
      {"zstd, or no zstd", grey_with({259, 3, 1, 50000}), format, ""},
      {"tiles of 2^31", tiled(0x80000000, 0x80000000), format, ""},
      {"tiles of 65536", tiled(65536, 65536), format, too_short},
      {"one long tile", tiled(16, 0x7FFFFFF0), format, ""},
      {"tiles of 0", tiled(0, 16), format, ""},
      {"a directory that comes next to itself", tiff_file(grey_entries(4, 2), "abcdefgh", 8), format, bad},
      {"a next directory that is none", tiff_file(grey_entries(4, 2), "abcdefgh", 200), format, bad},
      {"a next directory amid the first", tiff_file(grey_entries(4, 2), "abcdefgh", 10), format, ""},
  };
  expect_errors(
      path, "tiff", [](const auto& file) { read_picture(file); }, files);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  write_bytes(path, two_strips(4, 4));
  EXPECT_EQ(elements_of(read_picture(path).view), "abcdefgh");
  write_bytes(path, tiled(16, 16));
  EXPECT_EQ(elements_of(read_picture(path).view), "xxxxxxxx");
}

// Tests that a small file is refused if it claims more pixels than its bytes can hold in its compression.
TEST(TiffHostile, AFileHoldsNoMoreThanItsCompressionCanMakeOfIt) {
  const TempFolder folder;
  const auto path = folder / "x.tif";
  for (const auto& [compression, most] : {std::pair{1U, 1U},
                                          {5U, 1400U},
                                          {7U, 4096U},
                                          {8U, 1032U},
                                          {32773U, 64U},
                                          {32946U, 1032U},
                                          {34925U, 1U << 14},
                                          {50000U, 1U << 16}}) {
    if (TIFFIsCODECConfigured(static_cast<std::uint16_t>(compression)) == 0) continue;
    const std::string picture = tiff_file(with_entry(grey_entries(1, 1), {259, 3, 1, compression}), "abcdefgh");
    const auto width = static_cast<std::uint32_t>(picture.size());
    for (const std::uint32_t height : {most, most + 1}) {
      SCOPED_TRACE(testing::Message() << "compression " << compression << ", " << height << " bytes for each of the file");
      write_bytes(path, with_field(with_field(with_field(picture, 256, width), 257, height), 278, height));
      try {
        open_rows(path);
        EXPECT_EQ(height, most) << "taken";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), format);
        EXPECT_EQ(std::string(error.what()).find("is too short for its picture") != std::string::npos, height > most)
            << error.what();
      }
    }
  }
}

TEST(TiffHostile, ALaterPageThatIsNoneDoesNotMatterToTheFirst) {
  const TempFolder folder;
  const auto path = folder / "x.tif";
  write_bytes(path, tiff_file(grey_entries(4, 2), "abcdefgh", 8));
  EXPECT_EQ(elements_of(read_picture(path, 0).view), "abcdefgh");
  expect_error([&] { read_picture(path, 1); }, format, "tiff", path, "");
}

// Tests a JPEG stream that ends early, whose missing pixels libjpeg would fill in without an error.
TEST(TiffHostile, JpegThatEndsEarly) {
  const TempFolder folder;
  const auto path = folder / "x.tif";
  const TiffSpec spec{.height = 64, .width = 64, .channels = 3, .compression = 7, .photometric = 6};
  write_tiff(path, {spec}, noise(tiff_bytes(spec)));
  write_bytes(path, with_field(read_bytes(path), 279, 2000));
  expect_error([&] { read_picture(path); }, format, "tiff", path, "must be a sound TIFF file; given Premature end of JPEG");
}

/// Returns samples of 4 bytes that deflate can shorten.
std::string few_values(std::size_t bytes) {
  std::string samples = noise(bytes);
  for (std::size_t i = 0; i < bytes; ++i) samples[i] = static_cast<char>(i % 4 == 3 ? 63 : samples[i] & 7);
  return samples;
}

// Tests damaged deflate streams. libtiff does not compare a stream with its checksum if damage has made the stream longer.
TEST(TiffHostile, DamagedDeflateIsNeverReadAsOtherPixels) {
  const TempFolder folder;
  const auto path = folder / "x.tif";
  const TiffSpec picture{.height = 64, .width = 64, .bits = 32, .format = 3, .compression = 8};
  std::vector<TiffSpec> specs(6, picture);
  specs[1].rows_per_strip = 24;
  specs[2].tile_width = specs[2].tile_height = 32;
  specs[3].tile_width = specs[3].tile_height = 48;
  specs[4].channels = specs[5].channels = 3;
  specs[4].separate = specs[5].separate = true;
  specs[5].compression = 32946;
  specs[5].fill_order = 2;
  for (std::size_t i = 0; i < 3 * specs.size(); ++i) {
    TiffSpec spec = specs[i / 3];
    spec.predictor = 1 + static_cast<int>(i % 3);
    SCOPED_TRACE(testing::Message() << "layout " << i / 3 << ", predictor " << spec.predictor);
    const std::string pixels = few_values(tiff_bytes(spec));
    write_tiff(path, {spec}, pixels);
    const std::string sound = read_bytes(path);
    EXPECT_EQ(elements_of(read_picture(path).view), pixels);
    std::uint32_t directory = 0;  // lies after the data
    std::memcpy(&directory, &sound[4], 4);
    for (std::size_t at = 8; at + 60 < directory; at += directory / 25) {
      std::string damaged = sound;
      for (std::size_t k = at; k < at + 60; ++k) damaged[k] = static_cast<char>(damaged[k] ^ static_cast<char>(k * 37 % 255 + 1));
      write_bytes(path, damaged);
      expect_error([&] { read_picture(path); }, format, "tiff", path, "must be a sound TIFF file; given Decoding error: ");
    }
  }
}

// Tests that a stream that holds far more than its strip is refused, since checking it to the end could take long.
TEST(TiffHostile, DeflateThatHoldsFarMoreThanItsStrip) {
  const TempFolder folder;
  const auto path = folder / "x.tif";
  const TiffSpec spec{.height = 4000, .width = 1000, .compression = 8};
  write_tiff(path, {spec}, std::string(tiff_bytes(spec), 'x'));
  const std::string file = read_bytes(path);
  write_bytes(path, with_field(with_field(file, 257, 2000), 278, 2000));
  EXPECT_EQ(elements_of(read_picture(path).view), std::string(2000 * 1000, 'x'));
  write_bytes(path, with_field(with_field(file, 257, 1000), 278, 1000));
  expect_error([&] { read_picture(path); }, format, "tiff", path, "given Decoding error: no end of the data");
}

TEST(TiffHostile, MessagesStayWithTheirFiles) {
  const TempFolder folder;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&folder, i] {
      const auto path = folder / (std::to_string(i) + ".tif");
      write_bytes(path, i % 2 == 0 ? grey_with({258, 3, 1, 0}) : grey_with({259, 3, 1, 8}));
      for (int repeat = 0; repeat < 200; ++repeat)
        expect_error([&] { read_picture(path); }, format, "tiff", path,
                     i % 2 == 0 ? "Computed scanline size is zero" : "Decoding error");
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(TiffHostile, PagesWithoutEnd) {
  const TempFolder folder;
  const auto path = folder / "x.tif";
  const std::string page = tiff_file(grey_entries(4, 2), "").substr(8);
  std::string file = "II*\0\10\0\0\0"s;
  for (int i = 0; i < 70000; ++i) {
    file += page;
    const auto next = static_cast<std::uint32_t>(file.size());
    file.replace(file.size() - 4, 4, bytes_of(next));
  }
  write_bytes(path, file);
  expect_error([&] { read_picture(path); }, unsupported, "tiff", path, "has too many pages; expected at most 65536");
}

TEST(TiffHostile, AFileThatIsShortenedMeanwhile) {
  const TempFolder folder;
  const auto path = folder / "x.tif";
  for (const int compression : {1, 5}) {
    const TiffSpec spec{.height = 400, .width = 400, .compression = compression, .rows_per_strip = 100};
    write_tiff(path, {spec}, noise(tiff_bytes(spec)));
    const auto reader = open_rows(path);
    std::vector<std::byte> rows(400 * 400);
    reader->read(100, rows.data());
    std::filesystem::resize_file(path, 50000);
    expect_error([&] { reader->read(300, rows.data()); }, format, "tiff", path, "");
    expect_error([&] { reader->read(1, rows.data()); }, ErrorCode::value, "tiff", path, "has fewer rows left");
  }
}

}  // namespace
}  // namespace patchfold::formats
