// SPDX-License-Identifier: Apache-2.0
#include "formats/picture.hpp"
#include "formats/rows.hpp"
#include "samples.hpp"
#include "tests/formats/picture_files.hpp"
#include "tests/formats/support.hpp"

namespace patchfold::inputs {
namespace {

using namespace formats::test;
using namespace std::string_literals;

Sample picture_sample(const std::string& name, const std::string& op, const std::string& bytes,
                      std::function<void(const TakeLie&)> lie) {
  const std::string file = op == "png" ? "x.png" : "x.jpg";
  return {name,
          file,
          {op, "picture", "file"},
          [=](const auto& folder) { write_bytes(folder / file, bytes); },
          [=](const auto& folder) {
            const std::string read = elements_of(formats::read_picture(folder / file).view);
            return read + rows_of(*formats::open_rows(folder / file));
          },
          std::move(lie)};
}

Sample png_sample(const std::string& name, const PngSpec& spec) {
  return picture_sample(name, "png", png_file(spec), [spec](const TakeLie& take) {
    for (const std::uint64_t edge : edges_of_bits(32)) {
      const auto value = static_cast<std::uint32_t>(edge);
      PngSpec changed = spec;
      changed.width = value;
      take("width " + std::to_string(value), png_file(changed));
      changed.height = value;
      take("width and height " + std::to_string(value), png_file(changed));
      changed.width = spec.width;
      take("height " + std::to_string(value), png_file(changed));
      changed = spec;
      changed.bit_depth = static_cast<int>(value & 0xFF);
      take("bit depth " + std::to_string(changed.bit_depth), png_file(changed));
    }
  });
}

Sample jpeg_sample(const std::string& name, const JpegSpec& spec) {
  const std::string file = jpeg_file(spec, noise(16 * 16 * 3));
  return picture_sample(name, "jpeg", file, [file, spec](const TakeLie& take) {
    const char marker = spec.progressive ? '\xC2' : spec.arithmetic ? '\xC9' : '\xC0';
    const std::size_t frame = file.find("\xFF"s + marker + "\0\x11"s);
    // The fields of the frame header, as offset and bytes: length, precision, height, width, components.
    for (const auto& [offset, bytes] : {std::pair{2, 2}, {4, 1}, {5, 2}, {7, 2}, {9, 1}}) {
      for (const std::uint64_t value : edges_of_bits(8 * bytes)) {
        std::string changed = file;
        for (int i = 0; i < bytes; ++i)
          changed[frame + static_cast<std::size_t>(offset + i)] = static_cast<char>(value >> (8 * (bytes - 1 - i)));
        take("byte " + std::to_string(offset) + " of the frame " + std::to_string(value), changed);
      }
    }
  });
}

}  // namespace

std::vector<Sample> picture_samples() {
  return {
      png_sample("PNG", {5, 4, 16, 2, std::string(4 * 31, '\0')}),
      png_sample("interlaced PNG", {19, 13, 8, 0, adam7(noise(19 * 13), 19, 13), true}),
      png_sample("palette PNG", {3, 1, 8, 3, "\0\2\0\1"s, false, {{"PLTE", "abcdefghi"}, {"tRNS", "ab"}}}),
      jpeg_sample("JPEG", {.width = 16, .height = 16, .quality = 50}),
      jpeg_sample("progressive JPEG", {.width = 16, .height = 16, .progressive = true, .quality = 50}),
      jpeg_sample("arithmetic JPEG", {.width = 16, .height = 16, .arithmetic = true, .quality = 50}),
  };
}

}  // namespace patchfold::inputs
