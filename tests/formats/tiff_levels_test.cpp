// SPDX-License-Identifier: Apache-2.0
// Tests the levels of TIFF files, cloud-optimised files, and colours that become RGB.
#include <tiffio.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "formats/picture.hpp"
#include "formats/rows.hpp"
#include "tests/formats/support.hpp"
#include "tests/formats/tiff_files.hpp"

namespace patchfold::formats {
namespace {

using namespace test;
using namespace std::string_literals;
using Compression = TiffOptions::Compression;
using Overviews = TiffOptions::Overviews;
using File = std::unique_ptr<TIFF, void (*)(TIFF*)>;

class TiffLevels : public ::testing::Test {
 protected:
  File open(const char* mode) { return {TIFFOpen(path_.string().c_str(), mode), TIFFClose}; }
  void expect_level(int level, std::int64_t side, std::string_view pixels) {
    const auto reader = open_rows(path_, std::nullopt, level);
    EXPECT_EQ(reader->shape(), (Dims{side, side, 1})) << level;
    EXPECT_EQ(rows_of(*reader), pixels) << level;
  }

  TempFolder folder_;
  std::filesystem::path path_ = folder_ / "x.tif";
};

/// Writes a grey page of side x side pixels of one byte.
void write_page(TIFF* tiff, int side, char pixel, int kind, int inside = 0) {
  const std::string pixels(static_cast<std::size_t>(side) * static_cast<std::size_t>(side), pixel);
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, side);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, side);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, kind);
  const std::vector<toff_t> offsets(static_cast<std::size_t>(inside));
  if (inside > 0) TIFFSetField(tiff, TIFFTAG_SUBIFD, inside, offsets.data());
  ASSERT_EQ(TIFFWriteEncodedStrip(tiff, 0, const_cast<char*>(pixels.data()), static_cast<tmsize_t>(pixels.size())),
            static_cast<tmsize_t>(pixels.size()));
  ASSERT_EQ(TIFFWriteDirectory(tiff), 1);
}

TEST_F(TiffLevels, SmallerCopiesLieBehindThePageAndInsideIt) {
  {
    const File tiff = open("w");
    write_page(tiff.get(), 8, 'a', 0, 3);
    write_page(tiff.get(), 2, 'c', FILETYPE_REDUCEDIMAGE);  // the SubIFDs of the first page
    write_page(tiff.get(), 4, 'b', FILETYPE_REDUCEDIMAGE);
    write_page(tiff.get(), 8, 'x', 0);  // no smaller copy
    write_page(tiff.get(), 9, 'd', 0);
    write_page(tiff.get(), 9, 'x', FILETYPE_REDUCEDIMAGE | FILETYPE_MASK);
    write_page(tiff.get(), 5, 'e', FILETYPE_REDUCEDIMAGE);
    write_page(tiff.get(), 3, 'f', FILETYPE_REDUCEDIMAGE);
    write_page(tiff.get(), 7, 'g', 0);
  }
  const auto expect = [&](int page, int level, std::size_t side, char pixel) {
    const auto reader = open_rows(path_, page, level);
    EXPECT_EQ(rows_of(*reader), std::string(side * side, pixel)) << page << " " << level;
  };
  expect(0, 0, 8, 'a');
  expect(0, 1, 4, 'b');
  expect(0, 2, 2, 'c');
  expect(1, 0, 9, 'd');
  expect(1, 1, 5, 'e');
  expect(1, 2, 3, 'f');
  expect(2, 0, 7, 'g');
  const auto fails = [&](int page, int level, std::string_view fragment) {
    expect_error([&] { open_rows(path_, page, level); }, ErrorCode::value, "tiff", path_, fragment);
  };
  fails(0, 3, "has no such level; given level 3, expected a level from 0 to 2");
  fails(2, 1, "has no such level; given level 1, expected level 0, the picture itself");
  fails(0, -1, "has no such level; given level -1, expected from 0");
  write_bytes(folder_ / "x.npy", npy_file(npy_dictionary("|u1", "(2,)"), "ab"));
  expect_error([&] { open_rows(folder_ / "x.npy", std::nullopt, 1); }, ErrorCode::value, "file", folder_ / "x.npy",
               "has no levels to choose from: only TIFF files have; given level 1");
}

TEST_F(TiffLevels, HostileLevels) {
  const auto with_inside = [](std::uint32_t count, std::uint32_t value) {
    const auto entries = with_entry(grey_entries(4, 2), {330, 4, count, value});
    const auto data = static_cast<std::uint32_t>(14 + 12 * entries.size());
    return tiff_file(with_entry(entries, {273, 4, 1, data}), "abcdefgh");
  };
  for (const auto& [name, file, code] :
       {std::tuple{"a SubIFD beyond the end", with_inside(1, 1 << 20), ErrorCode::file_format},
        {"a SubIFD that is the page", with_inside(1, 8), ErrorCode::value},
        {"SubIFDs beyond the end", with_inside(1 << 20, 1 << 20), ErrorCode::value},
        {"a next page amid the first", tiff_file(grey_entries(4, 2), "abcdefgh", 10), ErrorCode::file_format},
        {"a next page that is the first", tiff_file(grey_entries(4, 2), "abcdefgh", 8), ErrorCode::file_format}}) {
    write_bytes(path_, file);
    SCOPED_TRACE(name);
    EXPECT_EQ(elements_of(read_picture(path_, 0).view), "abcdefgh");
    try {
      open_rows(path_, 0, 1);
      ADD_FAILURE() << "taken";
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == code || error.code() == ErrorCode::file_format) << error.what();
    }
  }
}

template <class T>
std::vector<double> numbers_of(const ConstTensorView& view) {
  const std::string bytes = elements_of(view);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return {values.begin(), values.end()};
}

/// Returns the next overview, pixel by pixel.
std::vector<double> next_level(const std::vector<double>& x, const Dims& shape, bool is_mean, bool rounds,
                               std::optional<double> nodata) {
  std::vector<double> y;
  for (std::int64_t row = 0; row < shape[0]; row += 2)
    for (std::int64_t column = 0; column < shape[1]; column += 2)
      for (std::int64_t c = 0; c < shape[2]; ++c) {
        double sum = 0;
        int count = 0;
        const auto at = [&](std::int64_t i, std::int64_t k) {
          return x[static_cast<std::size_t>((i * shape[1] + k) * shape[2] + c)];
        };
        for (std::int64_t i = row; i < std::min(row + 2, shape[0]); ++i)
          for (std::int64_t k = column; k < std::min(column + 2, shape[1]); ++k)
            if (const double value = at(i, k); !std::isnan(value) && value != nodata.value_or(NAN)) sum += value, ++count;
        const double mean = count == 0 ? nodata.value_or(NAN) : rounds ? std::rint(sum / count) : sum / count;
        y.push_back(is_mean ? mean : at(row, column));
      }
  return y;
}

template <class T>
void expect_cloud(const std::filesystem::path& path, const Dims& shape, TiffOptions options, std::optional<double> nodata,
                  bool is_mean) {
  SCOPED_TRACE(testing::Message() << to_string(shape) << " " << name_of(*dtype_for<T>));
  std::vector<T> data(static_cast<std::size_t>(element_count(shape)));
  std::uint32_t state = 1;
  for (T& value : data) value = static_cast<T>((state = state * 1664525 + 1013904223) >> 24);
  for (std::size_t i = 0; i < data.size() / 3; ++i) data[i] = nodata ? static_cast<T>(*nodata) : data[i];
  if constexpr (std::is_floating_point_v<T>) data[data.size() - 1] = NAN;
  options.is_cloud = true;
  options.tile = 16;
  WriteOptions all(options);
  if (nodata) all.metadata.geo.push_back({42113, std::to_string(*nodata) + '\0'});
  write_picture(path, contiguous(data.data(), shape, *dtype_for<T>), all);
  Dims size = shape;
  std::vector<double> expected(data.begin(), data.end());
  int level = 0;
  for (;; ++level) {
    const auto read = read_picture(path, std::nullopt, nullptr, level);
    ASSERT_EQ(read.view.shape, size);
    const std::vector<double> found = numbers_of<T>(read.view);
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_TRUE(found[i] == static_cast<double>(static_cast<T>(expected[i])) ||
                  (std::isnan(found[i]) && std::isnan(expected[i])))
          << level << " " << i << ": " << found[i] << " " << expected[i];
    if ((size[0] <= 16 && size[1] <= 16) || options.overviews == Overviews::none) break;
    expected = next_level(expected, size, is_mean, std::is_integral_v<T>, nodata);
    if constexpr (std::is_same_v<T, float>)
      for (double& value : expected) value = static_cast<float>(value);
    size[0] = (size[0] + 1) / 2;
    size[1] = (size[1] + 1) / 2;
  }
  EXPECT_THROW(open_rows(path, std::nullopt, level + 1), Error);
  // All directories come first, then the tiles, those of the smallest level before those of larger ones.
  const File tiff(TIFFOpen(path.string().c_str(), "r"), TIFFClose);
  std::uint64_t directory = 0;
  std::uint64_t first_tile = UINT64_MAX;
  for (int k = 0; k <= level; ++k) {
    ASSERT_EQ(TIFFSetDirectory(tiff.get(), static_cast<tdir_t>(k)), 1);
    EXPECT_LT(directory, TIFFCurrentDirOffset(tiff.get()));
    directory = TIFFCurrentDirOffset(tiff.get());
    EXPECT_LT(TIFFGetStrileOffset(tiff.get(), 0), first_tile);
    first_tile = TIFFGetStrileOffset(tiff.get(), 0);
    EXPECT_EQ(TIFFLastDirectory(tiff.get()), k == level);
  }
  EXPECT_LT(directory, first_tile);
}

TEST_F(TiffLevels, ACloudOptimisedFileHasOverviews) {
  const Dims small{67, 41, 1};
  const Dims bands{40, 70, 6};
  const auto none = std::nullopt;
  expect_cloud<std::uint8_t>(path_, small, {}, none, false);
  expect_cloud<std::uint8_t>(path_, {67, 41, 3}, {.overviews = Overviews::mean}, none, true);
  expect_cloud<std::uint16_t>(path_, bands, {.compression = Compression::deflate, .overviews = Overviews::mean}, 9, true);
  expect_cloud<std::int32_t>(path_, small, {.compression = Compression::lzw, .overviews = Overviews::mean}, -9, true);
  expect_cloud<std::int64_t>(path_, small, {.always_big = true}, none, false);
  expect_cloud<float>(path_, bands, {.compression = Compression::deflate}, none, true);
  expect_cloud<double>(path_, small, {.overviews = Overviews::nearest}, none, false);
  expect_cloud<double>(path_, small, {}, -9999, true);
  expect_cloud<float>(path_, small, {.overviews = Overviews::none}, none, true);
  expect_cloud<float>(path_, {3, 5, 1}, {}, none, true);
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"x.tif"});
  const TiffOptions means{.tile = 16, .is_cloud = true, .overviews = Overviews::mean};
  expect_error([&] { create_rows(path_, small, element_type(DType::int64), means); }, ErrorCode::dtype, "tiff", path_,
               "must hold floating-point numbers, or integers of at most 32 bits, for means as overviews; given int64");
  expect_error([&] { create_rows(path_, small, element_type(DType::uint8), TiffOptions{.is_cloud = true}); },
               ErrorCode::value, "tiff", path_, "must have tiles to be cloud-optimised");
}

TEST_F(TiffLevels, LevelsHaveThePlaceOfThePicture) {
  WriteOptions options(TiffOptions{.tile = 16, .is_cloud = true});
  const std::vector<double> scale = {10, 20, 0};
  options.metadata.geo.push_back({33550, bytes_of(scale)});
  const std::string data = noise(32 * 32);
  write_picture(path_, contiguous(data.data(), {32, 32, 1}, DType::uint8), options);
  Metadata metadata;
  read_picture(path_, std::nullopt, &metadata, 1);
  ASSERT_EQ(metadata.geo.size(), 1U);
  EXPECT_EQ(metadata.geo[0].values, bytes_of(std::vector<double>{20, 40, 0}));
}

TEST_F(TiffLevels, JpegCompressesPhotographs) {
  std::string data;
  for (int i = 0; i < 90 * 70 * 3; ++i) data += static_cast<char>(static_cast<int>(128 + 100 * std::sin(i / 3 * 0.001) + i % 3));
  for (const std::int64_t channels : {1, 3})
    for (const TiffOptions options :
         {TiffOptions{}, {.tile = 32}, {.tile = 32, .is_cloud = true, .overviews = Overviews::mean}}) {
      TiffOptions jpeg = options;
      jpeg.compression = Compression::jpeg;
      write_picture(path_, contiguous(data.data(), {90, 70, channels}, DType::uint8), jpeg);
      const std::string found = elements_of(read_picture(path_).view);
      ASSERT_EQ(found.size(), 90U * 70U * static_cast<std::size_t>(channels));
      for (std::size_t i = 0; i < found.size(); ++i)
        ASSERT_NEAR(static_cast<unsigned char>(found[i]), static_cast<unsigned char>(data[i]), 8) << i;
      std::uint16_t compression = 0;
      TIFFGetField(open("r").get(), TIFFTAG_COMPRESSION, &compression);
      EXPECT_EQ(compression, COMPRESSION_JPEG);
      if (!options.is_cloud) continue;
      EXPECT_EQ(read_picture(path_, std::nullopt, nullptr, 2).view.shape, (Dims{23, 18, channels}));
    }
  for (const auto& [channels, dtype] : {std::pair{4, DType::uint8}, {1, DType::uint16}, {3, DType::float32}})
    expect_error(
        [&, channels = channels, dtype = dtype] {
          create_rows(path_, {8, 8, channels}, element_type(dtype), TiffOptions{.compression = Compression::jpeg});
        },
        ErrorCode::file_unsupported, "tiff", path_, "must hold 1 or 3 channels of uint8 to be compressed by JPEG");
}

TEST_F(TiffLevels, BandsAreNoColours) {
  const std::string data = noise(4 * 4 * 4);
  for (const bool as_bands : {false, true}) {
    write_picture(path_, contiguous(data.data(), {4, 4, 4}, DType::uint8), TiffOptions{.as_bands = as_bands});
    std::uint16_t photometric = 0;
    TIFFGetField(open("r").get(), TIFFTAG_PHOTOMETRIC, &photometric);
    EXPECT_EQ(photometric, as_bands ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB);
    EXPECT_EQ(elements_of(read_picture(path_).view), data);
  }
}

TEST_F(TiffLevels, PalettesBecomeColours) {
  for (const int bits : {8, 16})
    for (const int shift : {0, 8}) {
      std::vector<std::uint16_t> maps[3];
      for (int c = 0; c < 3; ++c)
        for (int i = 0; i < 1 << bits; ++i) maps[c].push_back(static_cast<std::uint16_t>(((i + c) % 256) << shift));
      {
        const File tiff = open("w");
        TIFFSetField(tiff.get(), TIFFTAG_IMAGEWIDTH, 2);
        TIFFSetField(tiff.get(), TIFFTAG_IMAGELENGTH, 2);
        TIFFSetField(tiff.get(), TIFFTAG_BITSPERSAMPLE, bits);
        TIFFSetField(tiff.get(), TIFFTAG_SAMPLESPERPIXEL, 1);
        TIFFSetField(tiff.get(), TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_PALETTE);
        TIFFSetField(tiff.get(), TIFFTAG_COLORMAP, maps[0].data(), maps[1].data(), maps[2].data());
        std::string pixels = bits == 8 ? "\0\1\xFF\2"s : bytes_of(std::vector<std::uint16_t>{0, 1, 0xFFFF, 2});
        ASSERT_GT(TIFFWriteEncodedStrip(tiff.get(), 0, pixels.data(), static_cast<tmsize_t>(pixels.size())), 0);
      }
      const auto read = read_picture(path_);
      EXPECT_EQ(read.view.shape, (Dims{2, 2, 3}));
      EXPECT_EQ(read.view.dtype, DType::uint8);
      EXPECT_EQ(elements_of(read.view), "\0\1\2\1\2\3\xFF\0\1\2\3\4"s) << bits << " " << shift;
    }
  const std::vector<TiffEntry> grey = with_entry(grey_entries(4, 2), {262, 3, 1, 3});
  for (const std::string& file :
       {tiff_file(grey, "abcdefgh"), tiff_file(with_entry(grey, {320, 3, 768, 1 << 20}), "abcdefgh"),
        tiff_file(with_entry(grey, {320, 3, 2, 0}), "abcdefgh")}) {
    write_bytes(path_, file);
    EXPECT_EQ(read_picture(path_).view.shape, (Dims{2, 4, 1}));  // libtiff takes a picture without its palette for grey
  }
}

TEST_F(TiffLevels, InksBecomeColours) {
  for (const bool separate : {false, true}) {
    write_tiff(path_, {{.height = 1, .width = 3, .channels = 4, .photometric = 5, .separate = separate}},
               "\0\0\0\0\xFF\0\x80\0\x40\x40\x40\x80"s);
    const auto read = read_picture(path_);
    EXPECT_EQ(read.view.shape, (Dims{1, 3, 3}));
    EXPECT_EQ(elements_of(read.view), "\xFF\xFF\xFF\0\xFF\x7F\x5F\x5F\x5F"s);  // (255 - ink) * (255 - black) / 255
  }
  const std::string wide = bytes_of(std::vector<std::uint16_t>{0, 0xFFFF, 0x8000, 0});
  write_tiff(path_, {{.height = 1, .width = 1, .channels = 4, .bits = 16, .photometric = 5}}, wide);
  EXPECT_EQ(elements_of(read_picture(path_).view), bytes_of(std::vector<std::uint16_t>{0xFFFF, 0, 0x7FFF}));
}

}  // namespace
}  // namespace patchfold::formats
