// SPDX-License-Identifier: Apache-2.0
#include "formats/picture.hpp"
#include "formats/rows.hpp"
#include "samples.hpp"
#include "tests/formats/support.hpp"
#include "tests/formats/tiff_files.hpp"

namespace patchfold::inputs {
namespace {

using namespace formats::test;

std::string read_tiff(const std::filesystem::path& folder) {
  const std::string read = elements_of(formats::read_picture(folder / "x.tif").view);
  return read + rows_of(*formats::open_rows(folder / "x.tif"));
}

/// Returns the sample of a file that libtiff writes. Its `lie` never calls `take`, since readers_test.cpp changes every
/// single byte of a sample anyway.
Sample tiff_sample(const std::string& name, const std::vector<TiffSpec>& pages) {
  return {name,
          "x.tif",
          {"tiff", "picture", "file"},
          [=](const auto& folder) { write_tiff(folder / "x.tif", pages, noise(tiff_bytes(pages.front()))); },
          read_tiff,
          [](const TakeLie&) {}};
}

/// Returns the sample of a file written byte by byte, in which each entry gets false values and false counts.
Sample entry_sample() {
  const auto entries = [] {
    auto all = grey_entries(4, 2);
    for (const auto& [tag, value] : {std::pair{259, 1}, {262, 1}, {277, 1}, {258, 8}, {284, 1}, {339, 1}, {274, 1}})
      all = with_entry(all, {tag, 3, 1, static_cast<std::uint32_t>(value)});
    return all;
  };
  return {"TIFF by hand",
          "x.tif",
          {"tiff", "picture", "file"},
          [=](const auto& folder) {
            // Sets the offset of the strip to the end of all entries, since the file has more entries than grey_entries()
            // assumes.
            auto all = entries();
            all = with_entry(all, {273, 4, 1, static_cast<std::uint32_t>(8 + 2 + 12 * all.size() + 4)});
            write_bytes(folder / "x.tif", tiff_file(all, "abcdefgh"));
          },
          read_tiff,
          [=](const TakeLie& take) {
            const auto all = entries();
            for (const TiffEntry& entry : all) {
              for (const std::uint64_t value : edges_of_bits(32)) {
                TiffEntry lies = entry;
                lies.type = 4;
                lies.value = static_cast<std::uint32_t>(value);
                take("tag " + std::to_string(entry.tag) + " " + std::to_string(value),
                     tiff_file(with_entry(all, lies), "abcdefgh"));
                lies.value = entry.value;
                lies.count = static_cast<std::uint32_t>(value);
                take("count of tag " + std::to_string(entry.tag) + " " + std::to_string(value),
                     tiff_file(with_entry(all, lies), "abcdefgh"));
              }
            }
            for (const std::uint64_t next : edges_of_bits(32))
              take("next directory " + std::to_string(next), tiff_file(all, "abcdefgh", static_cast<std::uint32_t>(next)));
          }};
}

}  // namespace

std::vector<Sample> tiff_samples() {
  return {
      entry_sample(),
      tiff_sample("TIFF strips", {{.rows_per_strip = 2}}),
      tiff_sample("big-endian TIFF strips", {{.bits = 16, .mode = "wb"}}),
      tiff_sample("BigTIFF", {{.mode = "w8"}}),
      tiff_sample("separate TIFF strips", {{.channels = 3, .separate = true, .rows_per_strip = 2}}),
      tiff_sample("LZW", {{.channels = 3, .compression = 5, .rows_per_strip = 2, .predictor = 2}}),
      tiff_sample("deflated TIFF", {{.bits = 32, .format = 3, .compression = 8, .predictor = 3}}),
      tiff_sample("PackBits", {{.compression = 32773}}),
      tiff_sample("deflated tiles", {{.height = 17, .channels = 2, .compression = 8, .tile_width = 16, .tile_height = 16}}),
      tiff_sample("separate LZW tiles",
                  {{.channels = 2, .compression = 5, .separate = true, .tile_width = 16, .tile_height = 16}}),
      tiff_sample("JPEG in TIFF", {{.height = 16, .width = 16, .channels = 3, .compression = 7, .photometric = 6}}),
      tiff_sample("TIFF of two directories", {{}, {.height = 2, .kind = 1}}),
  };
}

}  // namespace patchfold::inputs
