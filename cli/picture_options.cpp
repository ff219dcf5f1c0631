// SPDX-License-Identifier: Apache-2.0
#include "cli/picture_options.hpp"

#include <charconv>
#include <cmath>

#include "cli/command.hpp"
#include "cli/report.hpp"
#include "cli/text.hpp"
#include "cli/tile_options.hpp"

namespace patchfold::cli {
namespace {

using Compression = formats::TiffOptions::Compression;
using Overviews = formats::TiffOptions::Overviews;

/// Returns the range in a text of two different numbers, such as "0,1"; nothing for any other text.
std::optional<formats::ValueRange> range_of(const std::string& text) {
  formats::ValueRange range;
  const char* last = text.data() + text.size();
  const auto [comma, error] = std::from_chars(text.data(), last, range.black);
  if (error != std::errc() || comma == last || *comma != ',') return std::nullopt;
  const auto [end, second] = std::from_chars(comma + 1, last, range.white);
  const double width = range.white - range.black;
  if (second != std::errc() || end != last || !std::isfinite(width) || width == 0) return std::nullopt;
  return range;
}

}  // namespace

void PictureOptions::add_to(Command& command) {
  command.option("--range", range, "BLACK,WHITE",
                 "of .png and .jpg from floating-point numbers: what is black and what is white, as 0,1; default 0,255");
  command.option("--quality", quality, 1, 100, "N", "of .jpg, and of .tif with --compress jpeg: 1 to 100; default 95");
  command.choices(command.option("--compress", compress, "HOW",
                                 text_of("of .tif: ", listed_words<Compression>(), "; default ",
                                         word_of(formats::TiffOptions().compression), ", with --cog deflate")),
                  choices_of<Compression>());
  command.option("--tiff-tile", tiff_tile, 16, 1 << 15, "N", "of .tif: tiles of N x N pixels instead of strips");
  command.flag("--bigtiff", always_big, "of .tif: BigTIFF, also below 4 GB");
  command.flag("--cog", is_cloud,
               "of .tif: cloud-optimised, with overviews; tiles of 512 x 512 unless --tiff-tile is given");
  command.choices(command.option("--overviews", overviews, "HOW",
                                 text_of("of --cog, how 2 x 2 pixels become one: ", listed_words<Overviews>(),
                                         "; default mean, for integers nearest")),
                  choices_of<Overviews>());
  command.flag("--bands", as_bands, "of .tif: 3 or 4 channels of 8 or 16 bits are bands, not colours");
}

void PictureOptions::check(std::string_view command, formats::FileFormat format, const std::string& output) const {
  const std::pair<const char*, bool> of_tiff[] = {{"--compress", !compress.empty()},   {"--tiff-tile", tiff_tile != 0},
                                                  {"--bigtiff", always_big},           {"--cog", is_cloud},
                                                  {"--overviews", !overviews.empty()}, {"--bands", as_bands}};
  for (const auto& [name, given] : of_tiff)
    if (given && format != formats::FileFormat::tiff) fail_usage(command, name, "applies to .tif only", output);
  if (!overviews.empty() && !is_cloud) fail_usage(command, "--overviews", "needs --cog", overviews, "add --cog");
  if (tiff_tile % 16 != 0) fail_usage(command, "--tiff-tile", "must be a multiple of 16", std::to_string(tiff_tile));
  if (!compress.empty()) choice_of<Compression>(command, "--compress", compress);
  if (!overviews.empty()) choice_of<Overviews>(command, "--overviews", overviews);
  const bool jpeg = format == formats::FileFormat::jpeg || compress == word_of(Compression::jpeg);
  if (!range.empty() && !jpeg && format != formats::FileFormat::png)
    fail_usage(command, "--range", "applies to .png and .jpg only", output);
  if (!range.empty() && !range_of(range))
    fail_usage(command, "--range", "must be two numbers, of black and of white", range, "0,1");
  if (quality && !jpeg) fail_usage(command, "--quality", "applies to .jpg only", output);
}

formats::WriteOptions PictureOptions::options() const {
  formats::WriteOptions options;
  options.range = range_of(range);
  options.jpeg_quality = quality.value_or(options.jpeg_quality);
  formats::TiffOptions& tiff = options.tiff;
  tiff.tile = tiff_tile > 0 || !is_cloud ? tiff_tile : 512;
  tiff.compression = is_cloud ? Compression::deflate : tiff.compression;
  if (!compress.empty()) tiff.compression = choice_of<Compression>({}, {}, compress);
  if (!overviews.empty()) tiff.overviews = choice_of<Overviews>({}, {}, overviews);
  tiff.always_big = always_big;
  tiff.is_cloud = is_cloud;
  tiff.as_bands = as_bands;
  return options;
}

JsonText losses_json(const std::vector<std::string>& losses) {
  return {json_list(losses, [](const std::string& loss) { return loss; })};
}

void print_losses(const std::string& output, const std::vector<std::string>& losses, bool quiet) {
  if (quiet) return;
  for (const auto& loss : losses) note(text_of("patchfold: ", output, ": ", loss, "\n"));
}

}  // namespace patchfold::cli
