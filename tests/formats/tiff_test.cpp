// SPDX-License-Identifier: Apache-2.0
#include <tiffio.h>

#include <algorithm>
#include <memory>

#include "formats/picture.hpp"
#include "formats/rows.hpp"
#include "tests/formats/support.hpp"
#include "tests/formats/tiff_files.hpp"

namespace patchfold::formats {
namespace {

using namespace test;
using Compression = TiffOptions::Compression;
using Names = std::vector<std::string>;

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
  /// Writes a grey picture byte by byte. `entry` replaces an entry of the same tag, or is added. Expects that the reader
  /// refuses this file.
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
      // Big-endian files are left out, since libtiff 4.5 writes floats with predictor 3 wrongly in such files.
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
  expect_refused({.channels = 5, .photometric = 5}, "must have the four inks of CMYK, of 8 or 16 bits, if its channels are inks");
  expect_refused({.channels = 3, .photometric = 6}, "YCbCr that is not JPEG");
  expect_refused({.channels = 3, .photometric = 8},
                 "must be grey, RGB, CMYK or of a palette; other colours are not read; given CIE L*a*b*");
  expect_refused({.bits = 64, .format = 6}, "given complex numbers of 64 bits");
  expect_refused({.bits = 32, .format = 5}, "given complex numbers of 32 bits");
  expect_refused({.bits = 24}, "given unsigned integers of 24 bits");
  for (const int photometric : {1, 3})  // grey, and labels with a palette
    expect_refused({.bits = 4, .photometric = photometric},
                   "given unsigned integers of 4 bits, expected 8 bits, as `gdal_translate -co NBITS=8` writes them");
  expect_refused({.bits = 1}, "given unsigned integers of 1 bit, expected 8 bits");
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

class TiffWrite : public ::testing::Test {
 protected:
  void write(const ConstTensorView& tensor, const TiffOptions& options, std::int64_t portion) {
    const auto writer = create_rows(path_, tensor.shape, element_type(tensor.dtype), options);
    while (writer->next() < tensor.shape[0]) {
      ConstTensorView rows = tensor;
      rows.data = static_cast<const std::byte*>(tensor.data) + writer->next() * tensor.strides[0];
      rows.shape[0] = std::min(portion, tensor.shape[0] - writer->next());
      writer->write(rows);
    }
    writer->commit();
  }
  void expect_round_trip(const Dims& shape, DType dtype, const TiffOptions& options) {
    SCOPED_TRACE(testing::Message() << to_string(shape) << " " << name_of(dtype) << ", tile " << options.tile
                                    << ", compression " << static_cast<int>(options.compression));
    const std::string data = noise(static_cast<std::size_t>(element_count(shape)) * size_of(dtype));
    write(contiguous(data.data(), shape, dtype), options, 7);
    const auto read = read_picture(path_);
    EXPECT_EQ(read.view.shape, shape);
    EXPECT_EQ(read.view.dtype, dtype);
    EXPECT_TRUE(elements_of(read.view) == data);
    EXPECT_EQ(folder_.names(), Names{"x.tif"});
  }
  void expect_refused(const Dims& shape, DType dtype, const TiffOptions& options, ErrorCode code,
                      std::string_view fragment) {
    expect_error([&] { create_rows(path_, shape, element_type(dtype), options); }, code, "tiff", path_, fragment);
    EXPECT_EQ(folder_.names(), Names{});
  }
  /// Returns a field of the written file, as libtiff reads it.
  std::int64_t field(std::uint32_t tag) {
    const std::unique_ptr<TIFF, void (*)(TIFF*)> tiff(TIFFOpen(path_.string().c_str(), "r"), TIFFClose);
    std::uint16_t value = 0;
    if (const TIFFField* kind = TIFFFieldWithTag(tiff.get(), tag); TIFFFieldDataType(kind) == TIFF_LONG) {
      std::uint32_t wide = 0;
      return TIFFGetFieldDefaulted(tiff.get(), tag, &wide) == 1 ? std::int64_t{wide} : -1;
    }
    if (tag == TIFFTAG_EXTRASAMPLES) {
      std::uint16_t* kinds = nullptr;
      return TIFFGetField(tiff.get(), tag, &value, &kinds) == 1 && value > 0 ? 10 * value + kinds[0] : 0;
    }
    return TIFFGetFieldDefaulted(tiff.get(), tag, &value) == 1 ? value : -1;
  }

  TempFolder folder_;
  std::filesystem::path path_ = folder_ / "x.tif";
};

constexpr DType written_types[] = {DType::uint8, DType::uint16, DType::uint32,  DType::uint64,  DType::int8,   DType::int16,
                                   DType::int32, DType::int64,  DType::float16, DType::float32, DType::float64};

TEST_F(TiffWrite, KeepsEveryBit) {
  for (const auto dtype : written_types)
    for (const auto compression : {Compression::none, Compression::deflate, Compression::lzw, Compression::zstd})
      for (const int tile : {0, 16, 48})
        for (const int channels : {1, 3, 7}) {
          if (compression == Compression::zstd && TIFFIsCODECConfigured(COMPRESSION_ZSTD) == 0) continue;
          expect_round_trip({35, 50, channels}, dtype, {.compression = compression, .tile = tile});
        }
  for (const auto& [height, width] : {std::pair{1, 1}, {1, 100}, {100, 1}, {16, 16}, {17, 15}})
    for (const int tile : {0, 16})
      expect_round_trip({height, width, 2}, DType::uint16, {.compression = Compression::deflate, .tile = tile});
  expect_round_trip({1000, 999, 3}, DType::uint8, {});
  expect_round_trip({3, 300000, 1}, DType::uint8, {});
}

TEST_F(TiffWrite, IsCompressedAsAskedFor) {
  const std::string data = noise(8 * 8 * 4);
  for (const auto& [compression, code] : {std::pair{Compression::none, COMPRESSION_NONE},
                                          {Compression::deflate, COMPRESSION_ADOBE_DEFLATE},
                                          {Compression::lzw, COMPRESSION_LZW},
                                          {Compression::zstd, COMPRESSION_ZSTD}}) {
    if (TIFFIsCODECConfigured(static_cast<std::uint16_t>(code)) == 0) continue;
    for (const auto& [dtype, predictor] : {std::pair{DType::uint8, PREDICTOR_HORIZONTAL},
                                           {DType::int32, PREDICTOR_HORIZONTAL},
                                           {DType::float32, PREDICTOR_FLOATINGPOINT}}) {
      write(contiguous(data.data(), {8, 8, 1}, dtype), {.compression = compression}, 8);
      EXPECT_EQ(field(TIFFTAG_COMPRESSION), code);
      if (compression == Compression::none) continue;
      EXPECT_EQ(field(TIFFTAG_PREDICTOR), predictor) << name_of(dtype);
    }
  }
}

TEST_F(TiffWrite, BrainFloatsBecomeSingles) {
  const std::vector<std::uint16_t> brain = {0, 0x3F80, 0xC040, 0x7F80, 0x7FC1, 1};
  const std::vector<std::uint32_t> single = {0, 0x3F800000, 0xC0400000, 0x7F800000, 0x7FC10000, 0x10000};
  write_picture(path_, contiguous(brain.data(), {2, 3, 1}, DType::bfloat16));
  const auto read = read_picture(path_);
  EXPECT_EQ(read.view.dtype, DType::float32);
  EXPECT_EQ(elements_of(read.view), bytes_of(single));
}

TEST_F(TiffWrite, SaysWhatTheChannelsAre) {
  const std::string data = noise(4 * 4 * 5 * 4);
  const auto expect_fields = [&](int channels, DType dtype, int photometric, int extra) {
    write_picture(path_, contiguous(data.data(), {4, 4, channels}, dtype));
    EXPECT_EQ(field(TIFFTAG_PHOTOMETRIC), photometric) << channels;
    EXPECT_EQ(field(TIFFTAG_EXTRASAMPLES), extra) << channels;
  };
  expect_fields(1, DType::uint8, PHOTOMETRIC_MINISBLACK, 0);
  expect_fields(2, DType::uint8, PHOTOMETRIC_MINISBLACK, 10 + EXTRASAMPLE_UNSPECIFIED);
  expect_fields(3, DType::uint8, PHOTOMETRIC_RGB, 0);
  expect_fields(3, DType::uint16, PHOTOMETRIC_RGB, 0);
  expect_fields(4, DType::uint8, PHOTOMETRIC_RGB, 10 + EXTRASAMPLE_UNASSALPHA);
  expect_fields(5, DType::uint8, PHOTOMETRIC_MINISBLACK, 40 + EXTRASAMPLE_UNSPECIFIED);
  expect_fields(3, DType::float32, PHOTOMETRIC_MINISBLACK, 20 + EXTRASAMPLE_UNSPECIFIED);
}

TEST_F(TiffWrite, FormsAndStrips) {
  const std::string data = noise(600 * 1000);
  write(contiguous(data.data(), {600, 1000, 1}, DType::uint8), {}, 600);
  EXPECT_EQ(read_bytes(path_).substr(0, 4), std::string("II*\0", 4));
  EXPECT_EQ(field(TIFFTAG_ROWSPERSTRIP), 262);
  write(contiguous(data.data(), {600, 1000, 1}, DType::uint8), {.always_big = true}, 600);
  EXPECT_EQ(read_bytes(path_).substr(0, 4), std::string("II+\0", 4));
  EXPECT_TRUE(elements_of(read_picture(path_).view) == data);
  // The writer knows before the first byte whether a file may exceed the offsets of classic TIFF.
  const auto form = [&](const Dims& shape, Compression compression) {
    const auto writer = create_rows(path_, shape, element_type(DType::uint8), TiffOptions{.compression = compression});
    std::filesystem::path temporary;
    for (const auto& name : folder_.names())
      if (name != "x.tif") temporary = folder_ / name;
    return read_bytes(temporary).substr(0, 4);
  };
  EXPECT_EQ(form({60000, 60000, 1}, Compression::none), std::string("II*\0", 4));
  EXPECT_EQ(form({65536, 65536, 1}, Compression::none), std::string("II+\0", 4));
  EXPECT_EQ(form({65500, 65500, 1}, Compression::deflate), std::string("II+\0", 4));
  EXPECT_EQ(form({60000, 60000, 1}, Compression::lzw), std::string("II+\0", 4));
}

TEST_F(TiffWrite, WhatIsNotWritten) {
  const auto none = TiffOptions{};
  expect_refused({4, 4}, DType::uint8, none, ErrorCode::rank, "must have 3 axes (height, width, channels) to be a picture");
  for (const Dims& shape : {Dims{0, 4, 1}, Dims{4, 0, 1}, Dims{4, 4, 0}, Dims{4, 4, 65536}})
    expect_refused(shape, DType::uint8, none, ErrorCode::shape,
                   "must be H x W x C with H and W from 1 and C from 1 to 65535");
  for (const auto dtype : {DType::boolean, DType::complex64, DType::float8_e5m2, DType::opaque})
    expect_refused({4, 4, 1}, dtype, none, ErrorCode::dtype, "must hold integers or floating-point numbers of 8 to 64 bits");
  for (const int tile : {-16, 1, 15, 17})
    expect_refused({4, 4, 1}, DType::uint8, {.tile = tile}, ErrorCode::value,
                   "must have tiles whose side is a multiple of 16; given " + std::to_string(tile));
  expect_refused({4, 4, 1}, DType::uint8, {.tile = 1 << 20}, ErrorCode::value,
                 "must have tiles of at most 2147483647 bytes");
  const std::int64_t many = std::int64_t{1} << 31;
  for (const Dims& shape : {Dims{many, 1, 1}, Dims{1, many, 1}, Dims{1, many / 3, 4}, Dims{1, many << 30, 60000}})
    expect_refused(shape, DType::uint8, none, ErrorCode::shape, "must have at most 2147483647 rows, and bytes in a row");
}

TEST_F(TiffWrite, OnlyRegularFiles) {
  make_pipe(path_);
  const std::uint8_t pixel = 0;
  const auto write_pixel = [&] { write_picture(path_, view(&pixel, {1, 1, 1})); };
  const std::string rule = "must be a regular file: it is not written from its first byte to its last";
  expect_error(write_pixel, ErrorCode::file_write, "tiff", path_, rule);
  std::filesystem::remove(path_);
  std::filesystem::create_symlink("/dev/null", path_);
  expect_error(write_pixel, ErrorCode::file_write, "tiff", path_, rule);
  path_ = folder_ / "missing/x.tif";
  expect_error(write_pixel, ErrorCode::file_write, "tiff", path_, "cannot be written: No such file or directory");
}

TEST_F(TiffWrite, AfterAnErrorNothingIsWritten) {
  const std::string data = noise(1000 * 1000);
  const auto writer = create_rows(path_, {1000, 1000, 1}, element_type(DType::uint8));
  const auto rows = contiguous(data.data(), {1000, 1000, 1}, DType::uint8);
  {
    const FileSizeLimit limit(300000);
    EXPECT_THROW(writer->write(rows), Error);
  }
  const std::string rule = "is complete, or was given up after an error";
  expect_error([&] { writer->write(rows); }, ErrorCode::file_write, "tiff", path_, rule);
  expect_error([&] { writer->commit(); }, ErrorCode::file_write, "tiff", path_, rule);
}

}  // namespace
}  // namespace patchfold::formats
