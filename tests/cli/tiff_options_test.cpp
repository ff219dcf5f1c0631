// SPDX-License-Identifier: Apache-2.0
// Tests the TIFF options of `split` and `merge`.
#include <gtest/gtest.h>
#include <tiffio.h>

#include <algorithm>
#include <memory>

#include "tests/cli/tiles.hpp"

namespace patchfold::cli_test {
namespace {

using File = std::unique_ptr<TIFF, void (*)(TIFF*)>;

/// Writes a file with one grey page for each of `heights`. Every page is 4 pixels wide, and its pixels are the first ones of
/// `pixels`.
void write_pages(const std::filesystem::path& path, const std::vector<std::int64_t>& heights,
                 std::vector<std::byte> pixels) {
  const File tiff(TIFFOpen(path.string().c_str(), "w"), TIFFClose);
  ASSERT_TRUE(tiff);
  for (const std::int64_t height : heights) {
    TIFFSetField(tiff.get(), TIFFTAG_IMAGEWIDTH, 4);
    TIFFSetField(tiff.get(), TIFFTAG_IMAGELENGTH, static_cast<int>(height));
    TIFFSetField(tiff.get(), TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff.get(), TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(tiff.get(), TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff.get(), TIFFTAG_ROWSPERSTRIP, static_cast<int>(height));
    ASSERT_EQ(TIFFWriteEncodedStrip(tiff.get(), 0, pixels.data(), 4 * height), 4 * height);
    ASSERT_EQ(TIFFWriteDirectory(tiff.get()), 1);
  }
}

TEST(TiffOptions, APageIsTheOneThatIsAskedFor) {
  const Folder folder;
  const std::vector<std::byte> pixels = noise(16 * 4);
  const std::vector<std::int64_t> heights = {4, 16, 8};
  write_pages(folder.path("in.tif"), heights, pixels);
  for (std::size_t page = 0; page < heights.size(); ++page) {
    const std::string number = std::to_string(page);
    run_well(folder, "split in.tif tiles-" + number + " --tile 4 --format npy --page " + number);
    run_well(folder, "merge tiles-" + number + " out.npy");
    const Array merged = read_array(folder, "out.npy");
    EXPECT_EQ(merged.shape, (Dims{heights[page], 4, 1})) << page;
    EXPECT_TRUE(std::equal(merged.bytes.begin(), merged.bytes.end(), pixels.begin())) << page;
  }
  run_badly(folder, "split in.tif tiles --tile 4", {"given 3 pages, expected a page from 0 to 2; --page 0"});
  const Outcome outcome = folder.run("split in.tif tiles --tile 4 --json");
  EXPECT_NE(outcome.err.find("\"hint\": \"--page 0\""), std::string::npos) << outcome.err;
}

/// Returns the field COMPRESSION of a file.
int compression_of(const std::filesystem::path& path) {
  const File tiff(TIFFOpen(path.string().c_str(), "r"), TIFFClose);
  std::uint16_t value = 0;
  return tiff && TIFFGetField(tiff.get(), TIFFTAG_COMPRESSION, &value) == 1 ? value : -1;
}

TEST(TiffOptions, FilesAreCompressedAsAskedFor) {
  const Folder folder;
  const Array picture = random_array({20, 30, 1}, DType::uint8);
  write_array(folder, "in.tif", picture);
  run_well(folder, "split in.tif tiles --tile 10 --format npy");
  for (const auto& [option, compression] : {std::pair{"", COMPRESSION_NONE},
                                            {" --compress none", COMPRESSION_NONE},
                                            {" --compress deflate", COMPRESSION_ADOBE_DEFLATE},
                                            {" --compress lzw", COMPRESSION_LZW},
                                            {" --compress zstd", COMPRESSION_ZSTD}}) {
    if (TIFFIsCODECConfigured(static_cast<std::uint16_t>(compression)) == 0) {
      run_badly(folder, std::string("merge tiles out.tif") + option, {"does not write"});
      continue;
    }
    run_well(folder, std::string("merge tiles out.tif") + option);
    EXPECT_EQ(compression_of(folder.path("out.tif")), compression) << option;
    EXPECT_TRUE(read_array(folder, "out.tif") == picture) << option;
  }
}

TEST(TiffOptions, ACloudOptimisedFileIsReadLevelByLevel) {
  const Folder folder;
  const Array picture = random_array({70, 50, 1}, DType::uint8);
  write_array(folder, "in.tif", picture);
  run_well(folder, "split in.tif tiles --tile 30");
  run_well(folder, "merge tiles out.tif --cog --tiff-tile 16");
  EXPECT_EQ(compression_of(folder.path("out.tif")), COMPRESSION_ADOBE_DEFLATE);
  EXPECT_TRUE(read_array(folder, "out.tif") == picture);
  run_well(folder, "split out.tif level --tile 12 --level 2 --format npy");
  run_well(folder, "merge level level.npy");
  const Array level = read_array(folder, "level.npy");
  ASSERT_EQ(level.shape, (Dims{18, 13, 1}));
  for (std::size_t i = 0; i < level.bytes.size(); ++i)
    ASSERT_EQ(level.bytes[i], picture.bytes[i / 13 * 4 * 50 + i % 13 * 4]) << i;  // every fourth pixel
  run_well(folder, "run copy out.tif --level 1 -o again.tif --compress zstd --cog --overviews none");
  EXPECT_EQ(read_array(folder, "again.tif").shape, (Dims{35, 25, 1}));
  run_badly(folder, "split out.tif level --tile 12 --level 9",
            {"has no such level; given level 9, expected a level from 0 to 3"});
  run_badly(folder, "merge tiles out.png --cog", {"--cog", "applies to .tif only"}, 2);
  run_badly(folder, "merge tiles out.tif --overviews mean", {"--overviews", "needs --cog"}, 2);
  run_badly(folder, "merge tiles out.tif --tiff-tile 20", {"--tiff-tile", "must be a multiple of 16"}, 2);
  run_well(folder, "merge tiles out.tif --compress jpeg --quality 90");
  EXPECT_EQ(compression_of(folder.path("out.tif")), COMPRESSION_JPEG);
}

TEST(TiffOptions, BandsAreNoColours) {
  const Folder folder;
  write_array(folder, "in.npy", random_array({20, 30, 4}, DType::uint8));
  for (const auto& [option, photometric] : {std::pair{"", PHOTOMETRIC_RGB}, {" --bands", PHOTOMETRIC_MINISBLACK}}) {
    run_well(folder, std::string("run copy in.npy -o out.tif") + option);
    const File tiff(TIFFOpen(folder.path("out.tif").string().c_str(), "r"), TIFFClose);
    std::uint16_t value = 0;
    TIFFGetField(tiff.get(), TIFFTAG_PHOTOMETRIC, &value);
    EXPECT_EQ(value, photometric);
  }
}

}  // namespace
}  // namespace patchfold::cli_test
