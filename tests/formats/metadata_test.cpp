// SPDX-License-Identifier: Apache-2.0
// Tests metadata that is read from files made by hand, written, and read again.
#include "formats/metadata.hpp"

#include "formats/picture.hpp"
#include "tests/formats/picture_files.hpp"
#include "tests/formats/support.hpp"

namespace patchfold::formats {
namespace {

using namespace test;
using namespace std::string_literals;

/// Returns the bytes of an ICC profile for a display: a header followed by noise.
std::string profile(const char* space, std::size_t bytes = 3000) {
  std::string icc = noise(bytes);
  icc.replace(0, 132, std::string(132, '\0'));
  for (std::size_t i = 0; i < 4; ++i) icc[i] = static_cast<char>(bytes >> (24 - 8 * i) & 255);
  icc.replace(8, 1, "\2");
  icc.replace(12, 12, "mntr" + std::string(space) + "XYZ ");
  icc.replace(36, 4, "acsp");
  icc.replace(68, 12, std::string("\0\0\xF6\xD6\0\1\0\0\0\0\xD3\x2D", 12));
  return icc;
}

/// Returns an EXIF structure with an orientation, a camera, and a thumbnail of five bytes.
std::string exif(bool little, int orientation, const std::string& thumbnail = "THUMB") {
  const auto number = [&](std::uint32_t value, int size) {
    std::string bytes;
    for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> 8 * (little ? i : size - 1 - i) & 255);
    return bytes;
  };
  const auto field = [&](std::uint32_t tag, std::uint32_t type, std::uint32_t count, const std::string& value) {
    return number(tag, 2) + number(type, 2) + number(count, 4) + value;
  };
  std::string text = (little ? "II" : "MM") + number(42, 2) + number(8, 4);
  text += number(2, 2) + field(0x10F, 2, 4, "cam\0"s) +
          field(0x112, 3, 1, number(static_cast<std::uint32_t>(orientation), 2) + "\0\0"s) + number(38, 4);
  text += number(2, 2) + field(0x201, 4, 1, number(68, 4)) +
          field(0x202, 4, 1, number(static_cast<std::uint32_t>(thumbnail.size()), 4)) + number(0, 4);
  return text + thumbnail;
}

Metadata everything() {
  Metadata metadata;
  metadata.icc = profile("RGB ");
  metadata.resolution = Resolution{300, 150, Resolution::Unit::inch};
  metadata.orientation = 6;
  metadata.xmp = "<x:xmpmeta/>";
  return metadata;
}

Metadata written(const std::filesystem::path& path, const Metadata& metadata, std::vector<std::string>* losses = nullptr,
                 std::int64_t channels = 3) {
  const std::string pixels = noise(16 * 16 * 4);
  WriteOptions options;
  options.metadata = metadata;
  const auto lost = write_picture(path, contiguous(pixels.data(), {16, 16, channels}, DType::uint8), options);
  if (losses != nullptr) *losses = lost;
  return open_rows(path)->metadata();
}

TEST(Exif, TheOrientationIsFoundAndChanged) {
  for (const bool little : {false, true})
    for (int orientation = 1; orientation <= 8; ++orientation) {
      EXPECT_EQ(exif_orientation(exif(little, orientation)), orientation);
      EXPECT_EQ(exif_orientation(exif_with(exif(little, 3), orientation)), orientation);
      EXPECT_EQ(exif_orientation(exif_with("", orientation)), orientation);
    }
  EXPECT_EQ(exif_orientation(exif(true, 9)), 1);
  EXPECT_EQ(exif_orientation(exif(true, 0)), 1);
}

TEST(Exif, TheThumbnailGoes) {
  for (const bool little : {false, true}) {
    const std::string changed = exif_with(exif(little, 6), 6);
    EXPECT_EQ(changed.find("THUMB"), std::string::npos);
    EXPECT_NE(changed.find("cam"), std::string::npos);
    EXPECT_EQ(exif_with(changed, 6), changed);
  }
}

TEST(Exif, WhateverItsBytesAreNothingIsReadBeyondThem) {
  const std::string sound = exif(true, 6);
  for (std::size_t size = 0; size < sound.size(); ++size) exif_with(sound.substr(0, size), 3);
  for (std::size_t at = 0; at < sound.size(); ++at)
    for (const char byte : {'\0', '\x7F', '\xFF'}) {
      std::string damaged = sound;
      damaged[at] = byte;
      EXPECT_LE(exif_orientation(damaged), 8);
      EXPECT_LE(exif_with(damaged, 3).size(), std::max<std::size_t>(sound.size(), 26));
    }
}

TEST(Metadata, OfPngIsReadAndWritten) {
  const TempFolder folder;
  const std::string physical = "\0\0\x0B\x13\0\0\x0B\x14\1"s;  // 2835 x 2836 pixels per metre
  write_bytes(folder / "in.png", png_file({.width = 1,
                                           .height = 1,
                                           .color_type = 2,
                                           .rows = "\0\1\2\3"s,
                                           .chunks = {{"gAMA", "\0\0\xB1\x8F"s},
                                                      {"pHYs", physical},
                                                      {"eXIf", exif(false, 8)},
                                                      {"tEXt", "Title\0caf\xE9"s},
                                                      {"iTXt", "Author\0\0\0\0\0\xC5\x81ukasz"s}}}));
  const Metadata read = open_rows(folder / "in.png")->metadata();
  EXPECT_EQ(read.resolution, (Resolution{2835, 2836, Resolution::Unit::metre}));
  EXPECT_EQ(read.orientation, 8);
  EXPECT_NE(read.exif.find("cam"), std::string::npos);
  EXPECT_EQ(read.texts,
            (std::vector<std::pair<std::string, std::string>>{{"Title", "caf\xC3\xA9"}, {"Author", "\xC5\x81ukasz"}}));
  EXPECT_EQ(read.colours, (std::vector<std::pair<std::string, std::string>>{{"gAMA", "\0\0\xB1\x8F"s}}));
  std::vector<std::string> losses;
  EXPECT_TRUE(written(folder / "out.png", read, &losses) == read);
  EXPECT_TRUE(losses.empty());
  EXPECT_NE(read_bytes(folder / "out.png").find("pHYs" + physical), std::string::npos);
  Metadata all = everything();
  all.exif = exif_with("", 6);
  all.resolution = Resolution{11811, 11811, Resolution::Unit::metre};
  EXPECT_TRUE(written(folder / "out.png", all, &losses) == all);
}

TEST(Metadata, OfJpegIsReadAndWritten) {
  const TempFolder folder;
  std::string file = jpeg_file({}, noise(8 * 8 * 3));
  const auto marker = [](char code, const std::string& data) {
    const std::size_t size = data.size() + 2;
    return "\xFF"s + code + static_cast<char>(size >> 8) + static_cast<char>(size & 255) + data;
  };
  const std::string icc = profile("RGB ", 100000);
  // The file has the profile in two parts, the second one first.
  file.insert(2, marker('\xE1', "Exif\0\0"s + exif(true, 6)) + marker('\xE2', "ICC_PROFILE\0\2\2"s + icc.substr(60000)) +
                     marker('\xE2', "ICC_PROFILE\0\1\2"s + icc.substr(0, 60000)) + marker('\xFE', "hello"));
  write_bytes(folder / "in.jpg", file);
  const Metadata read = open_rows(folder / "in.jpg")->metadata();
  EXPECT_EQ(read.orientation, 6);
  EXPECT_TRUE(read.icc == icc);
  EXPECT_EQ(read.exif.find("THUMB"), std::string::npos);
  EXPECT_EQ(read.texts, (std::vector<std::pair<std::string, std::string>>{{"Comment", "hello"}}));
  std::vector<std::string> losses;
  EXPECT_TRUE(written(folder / "out.jpg", read, &losses) == read);
  EXPECT_TRUE(losses.empty());
  Metadata all = everything();
  all.exif = exif(false, 6, "");
  const Metadata again = written(folder / "out.jpg", all);
  EXPECT_EQ(again.resolution, all.resolution);
  EXPECT_EQ(again.xmp, all.xmp);
  EXPECT_EQ(again.orientation, 6);
}

#ifdef PATCHFOLD_TESTS_WITH_TIFF
std::string doubles(const std::vector<double>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)};
}

Metadata of_geotiff() {
  Metadata metadata = everything();
  metadata.texts = {{"Description", "a field"}, {"Author", "somebody"}};
  metadata.geo = {{33550, doubles({0.5, 0.25, 0})},
                  {33922, doubles({0, 0, 0, 500000, 4100000, 0})},
                  {34735, std::string("\1\0\1\0\0\0\1\0\0\4\0\0\1\0\1\0", 16)},
                  {34737, "WGS 84|\0"s},
                  {42113, "-9999\0"s}};
  return metadata;
}

TEST(Metadata, OfTiffIsReadAndWritten) {
  const TempFolder folder;
  const Metadata all = of_geotiff();
  for (const bool big : {false, true}) {
    std::vector<std::string> losses;
    const std::string pixels = noise(16 * 16 * 3);
    WriteOptions options(TiffOptions{.always_big = big});
    options.metadata = all;
    EXPECT_TRUE(write_picture(folder / "x.tif", contiguous(pixels.data(), {16, 16, 3}, DType::uint8), options).empty());
    EXPECT_TRUE(open_rows(folder / "x.tif")->metadata() == all);
  }
}

TEST(Metadata, APartLiesWhereItWas) {
  const Metadata part = metadata_of_part(of_geotiff(), 100, 40);
  EXPECT_EQ(part.geo[1].values, doubles({-40, -100, 0, 500000, 4100000, 0}));
  EXPECT_EQ(part.orientation, 1);
  EXPECT_TRUE(part.texts.empty());
  EXPECT_EQ(part.resolution, everything().resolution);
  Metadata turned;
  turned.geo = {{34264, doubles({2, 0, 0, 10, 0, -3, 0, 20, 0, 0, 0, 0, 0, 0, 0, 1})}};
  EXPECT_EQ(metadata_of_part(turned, 100, 40).geo[0].values, doubles({2, 0, 0, 90, 0, -3, 0, -280, 0, 0, 0, 0, 0, 0, 0, 1}));
  const Metadata large = metadata_of_scaled(of_geotiff(), 2, 4);
  EXPECT_EQ(large.geo[0].values, doubles({0.125, 0.125, 0}));
  EXPECT_EQ(large.resolution, (Resolution{1200, 300, Resolution::Unit::inch}));
}

TEST(Metadata, APlaceOfPointsStaysWhereTheMiddlesWere) {
  Metadata points;
  points.geo = {{33922, doubles({0, 0, 0, 500000, 4100000, 0})},
                {34264, doubles({2, 0, 0, 10, 0, -3, 0, 20, 0, 0, 0, 0, 0, 0, 0, 1})},
                {34735, std::string("\1\0\1\0\0\0\1\0\1\4\0\0\1\0\2\0", 16)}};  // RasterPixelIsPoint
  // Along the width, an old pixel becomes four new pixels, and the middle of the first lies 3/8 of an old pixel before the
  // old middle. Along the height, an old pixel becomes two, and the distance is 1/4.
  const Metadata large = metadata_of_scaled(points, 2, 4);
  EXPECT_EQ(large.geo[0].values, doubles({1.5, 0.5, 0, 500000, 4100000, 0}));
  EXPECT_EQ(large.geo[1].values, doubles({0.5, 0, 0, 9.25, 0, -1.5, 0, 20.75, 0, 0, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(metadata_of_part(points, 100, 40).geo[0].values, doubles({-40, -100, 0, 500000, 4100000, 0}));
}

TEST(Metadata, FieldsThatDoNotHoldAreTakenAndSaid) {
  const std::string sensor = "<Item name=\"SENSOR\">a > b</Item>";
  const std::string scale = "<Item name=\"SCALE\" sample=\"0\" role=\"scale\">0.0001</Item>";
  const std::string most = "<Item name=\"STATISTICS_MAXIMUM\" sample=\"0\">9</Item>";
  for (const std::string description :
       {"a field", "<?xml version=\"1.0\"?><OME/>", "ImageJ=1.53\nimages=3", "{\"shape\": [3]}"})
    for (const bool has_numbers : {false, true})
      for (const bool is_same : {false, true}) {
        SCOPED_TRACE(description);
        Metadata all = everything();
        all.texts = {{"Description", description}, {"Author", "somebody"}};
        all.geo = {{33550, doubles({0.5, 0.25, 0})},
                   {42112, "<GDALMetadata>" + sensor + scale + most + "</GDALMetadata>\0"s},
                   {42113, "0\0"s}};
        Metadata expected = all;
        const bool keeps_text = is_same || description == "a field";
        if (!keeps_text) expected.texts.erase(expected.texts.begin());
        expected.geo[1].values = "<GDALMetadata>" + sensor + (has_numbers ? scale : "") + "</GDALMetadata>\0"s;
        if (!has_numbers) expected.geo.pop_back();
        const std::vector<std::string> losses = take_what_does_not_hold(all, has_numbers, is_same);
        EXPECT_TRUE(all == expected);
        EXPECT_EQ(losses.size(), (has_numbers ? 0U : 2U) + (keeps_text ? 0U : 1U));
      }
}

TEST(Metadata, WhatAFormatDoesNotHoldIsSaid) {
  const TempFolder folder;
  std::vector<std::string> losses;
  Metadata all = of_geotiff();
  all.exif = exif(true, 6, "");
  const Metadata png = written(folder / "x.png", all, &losses);
  EXPECT_EQ(losses, (std::vector<std::string>{"the GeoTIFF tags were left out: PNG files do not hold them"}));
  EXPECT_EQ(png.texts, all.texts);
  EXPECT_EQ(png.orientation, 6);
  written(folder / "x.jpg", all, &losses);
  EXPECT_EQ(losses.size(), 2U);
  const Metadata tiff = written(folder / "x.tif", all, &losses);
  EXPECT_EQ(losses, (std::vector<std::string>{"the camera data (EXIF) were left out: TIFF files do not hold them"}));
  EXPECT_EQ(tiff.orientation, 6);
  written(folder / "x.png", everything(), &losses, 1);
  EXPECT_EQ(losses, (std::vector<std::string>{"the ICC profile was left out: it is not for 1 channel"}));
  Metadata dense;
  dense.resolution = Resolution{100000, 100000, Resolution::Unit::inch};
  EXPECT_FALSE(written(folder / "x.jpg", dense, &losses).resolution.has_value());
  EXPECT_EQ(losses, (std::vector<std::string>{"so high a resolution was left out: JPEG files do not hold it"}));
  Metadata told;
  told.texts = {{"Title", "a field"}};
  written(folder / "x.tif", told, &losses);
  EXPECT_EQ(losses, (std::vector<std::string>{"the text Title was left out: TIFF files do not hold it"}));
  told.texts.emplace_back("Source", "a camera");
  written(folder / "x.tif", told, &losses);
  EXPECT_EQ(losses, (std::vector<std::string>{"the texts Title, Source were left out: TIFF files do not hold them"}));
}

TEST(Metadata, PassesThroughJson) {
  Metadata all = of_geotiff();
  all.exif = exif(true, 6, "");
  all.resolution->x = 118.11;
  all.colours = {{"gAMA", "\0\0\xB1\x8F"s}};
  all.texts.emplace_back("Title", "caf\xC3\xA9 \"x\"");
  for (const std::string xmp : {"", "a", "ab", "abc", "\xFF\0\xFE"}) {
    all.xmp = xmp;
    const std::string text = to_string(json_of(all));
    EXPECT_TRUE(metadata_of(parse_json(text, 16)) == all) << text;
  }
}
#endif

TEST(Metadata, JsonThatIsWrongIsNamed) {
  for (const auto& [text, member] : {std::pair{"[]", "metadata"},
                                     {R"({"icc": 1})", "icc"},
                                     {R"({"icc": "abc"})", "icc"},
                                     {R"({"icc": "ab!="})", "icc"},
                                     {R"({"orientation": 9})", "orientation"},
                                     {R"({"resolution": [1, 2]})", "resolution"},
                                     {R"({"resolution": [1, -2, "inch"]})", "resolution"},
                                     {R"({"resolution": [1, 2, "foot"]})", "resolution"},
                                     {R"({"texts": [["a"]]})", "texts"},
                                     {R"({"geo": [[1, "AAAA"]]})", "geo"},
                                     {R"({"geo": [[33550, "AAAA"]]})", "geo"},
                                     {R"({"geo": [[34737, "QUFB"]]})", "geo"},
                                     {R"({"colours": [["IDAT", "AAAA"]]})", "colours"},
                                     {R"({"colours": [["gAMA", "AAAA"]]})", "colours"}}) {
    std::string named;
    try {
      metadata_of(parse_json(text, 16));
    } catch (const std::string& given) {
      named = given;
    }
    EXPECT_EQ(named, member) << text;
  }
}

}  // namespace
}  // namespace patchfold::formats
