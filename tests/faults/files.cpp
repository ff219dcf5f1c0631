// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <array>

#include "formats/output_file.hpp"
#include "formats/picture.hpp"
#include "formats/rows.hpp"
#include "formats/tile_plan.hpp"

namespace patchfold::faults {
namespace {

using formats::TiffOptions;
using formats::test::read_bytes;
using formats::test::TempFolder;

/// A picture of noise, which no codec compresses well.
struct Picture {
  Dims shape{40, 37, 3};
  std::vector<std::uint8_t> pixels = std::vector<std::uint8_t>(40 * 37 * 3);
  Picture() {
    std::uint32_t state = 1;
    for (auto& pixel : pixels) pixel = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  }
  ConstTensorView view() const { return contiguous(pixels.data(), shape, DType::uint8); }
};

const Picture& picture() {
  static const Picture one;
  return one;
}

void write_rows(const std::filesystem::path& path, const TiffOptions& options) {
  const ConstTensorView all = picture().view();
  const auto writer = formats::create_rows(path, all.shape, formats::element_type(DType::uint8), options);
  for (std::int64_t y = 0; y < all.shape[0]; y += 10) {
    ConstTensorView part = all;
    part.shape[0] = 10;
    part.data = picture().pixels.data() + y * all.strides[0];
    writer->write(part);
  }
  writer->commit();
}

/// Reads a picture by rows; with `exact`, the pixels must equal the original.
void read_rows(const std::filesystem::path& path, bool exact) {
  const auto reader = formats::open_rows(path);
  std::array<std::byte, 40 * 37 * 3> bytes;
  ASSERT_EQ(reader->row_bytes() * reader->shape()[0], 40 * 37 * 3);
  for (std::int64_t y = 0; y < reader->shape()[0]; y += 10) reader->read(10, bytes.data() + y * reader->row_bytes());
  EXPECT_TRUE(!exact || std::memcmp(bytes.data(), picture().pixels.data(), bytes.size()) == 0) << path;
}

formats::TilePlan tile_plan() {
  formats::TilePlan plan{.source = "photo.png",
                         .type = "uint8",
                         .tiling = Tiling({.shape = {40, 37, 3}, .tile = {16, 16}, .overlap = 4, .axes = {0, 1}})};
  for (std::int64_t index = 0; index < plan.tiling.size(); ++index)
    plan.files.push_back("tile-with-a-rather-long-name-" + std::to_string(index) + ".png");
  plan.crcs.resize(plan.files.size(), 17);
  return plan;
}

void check(const formats::LoadedTensor& tensor, std::int64_t count) {
  EXPECT_EQ(element_count(tensor.view.shape), count);
}

}  // namespace

std::vector<Writing> writings(const TempFolder& folder) {
  std::vector<Writing> all;
  const auto add = [&](const std::string& name, const std::string& file,
                       const std::function<void(const std::filesystem::path&)>& f) {
    const auto path = folder / file;
    all.push_back({name, path, [f, path] { f(path); }});
  };
  const auto rows = [](const TiffOptions& options) {
    return [options](const std::filesystem::path& path) { write_rows(path, options); };
  };
  add("npy at once", "out.npy", [](const std::filesystem::path& path) {
    formats::write_npy(path, picture().view(), formats::element_type(DType::uint8));
  });
  add("npy mapped", "out.npy", [](const std::filesystem::path& path) {
    formats::NpyOutput output(path, picture().shape, formats::element_type(DType::uint8));
    std::memcpy(output.view().data, picture().pixels.data(), picture().pixels.size());
    output.commit();
  });
  add("npy rows", "out.npy", rows({}));
  add("tile plan", "plan.json", [plan = tile_plan()](const std::filesystem::path& path) { write_tile_plan(path, plan); });
  if (formats::has_pictures()) {
    add("png rows", "out.png", rows({}));
    add("jpeg rows", "out.jpg", rows({}));
    add("png at once", "out.png", [](const std::filesystem::path& path) { formats::write_picture(path, picture().view()); });
  }
  if (formats::has_tiff()) {
    using enum TiffOptions::Compression;
    add("tiff strips", "out.tif", rows({}));
    add("tiff tiles", "out.tif", rows({.tile = 16}));
    add("tiff deflate", "out.tif", rows({.compression = deflate}));
    add("tiff lzw tiles", "out.tif", rows({.compression = lzw, .tile = 32}));
    add("cloud tiff", "out.tif", rows({.compression = deflate, .tile = 16, .is_cloud = true}));
    all.back().files = 4;  // levels of 40 x 37, 20 x 19 and 10 x 10 pixels, and the whole
    add("big tiff zstd", "out.tif", rows({.compression = zstd, .always_big = true}));
  }
  for (Writing& writing : all) {
    writing.write();
    writing.bytes = read_bytes(writing.path);
    std::filesystem::remove(writing.path);
  }
  return all;
}

std::vector<Reading> readings(const TempFolder& folder) {
  std::vector<Reading> all;
  for (Writing& writing : writings(folder)) {
    std::string file = "in " + writing.name + writing.path.extension().string();
    const auto path = folder / file;
    formats::test::write_bytes(path, writing.bytes);
    if (writing.path.extension() == ".json") {
      all.push_back({writing.name, path, [path, plan = tile_plan()] {
                       const auto read = formats::read_tile_plan(path);
                       EXPECT_TRUE(read.files == plan.files && read.crcs == plan.crcs);
                       EXPECT_TRUE(read.tiling.output() == plan.tiling.output());
                     }});
      continue;
    }
    const bool exact = path.extension() != ".jpg";
    all.push_back({writing.name + " by rows", path, [path, exact] { read_rows(path, exact); }});
    if (path.extension() == ".npy")
      all.push_back({writing.name + " at once", path, [path] { check(formats::read_npy(path), 40 * 37 * 3); }});
    else
      all.push_back({writing.name + " at once", path, [path] { check(formats::read_picture(path), 40 * 37 * 3); }});
  }
  const auto swapped = folder / "in swapped.npy";
  formats::test::write_bytes(
      swapped, formats::test::npy_file(formats::test::npy_dictionary("'>i4'", "(10, 2)"), std::string(80, 'x')));
  all.push_back({"npy of another byte order", swapped, [swapped] { check(formats::read_npy(swapped), 20); }});
  all.push_back({"npy of another byte order by rows", swapped, [swapped] {
                   const auto reader = formats::open_rows(swapped);
                   std::byte bytes[80];
                   reader->read(10, bytes);
                   EXPECT_EQ(bytes[79], std::byte{'x'});
                 }});
  return all;
}

}  // namespace patchfold::faults
