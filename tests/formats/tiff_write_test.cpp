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
  // A size beyond classic TIFF's offsets is known before the first byte is written.
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
