// SPDX-License-Identifier: Apache-2.0
#include "cli/split_options.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/report.hpp"
#include "cli/text.hpp"
#include "cli/tile_options.hpp"

namespace patchfold::cli {
namespace {

constexpr const char* split_doc =
    "Cuts a picture, or an array of any rank, into overlapping tiles of one size, each a file of its own, and writes\n"
    "plan.json, which says what each tile holds. Only the rows of the tiles at hand are in memory. Run again, it writes\n"
    "what is missing or damaged and leaves the rest alone. `patchfold merge` puts the tiles together.";
constexpr const char* split_footer =
    "N,.. is one number for each tiled axis, or one for all. A program that makes its tiles larger or smaller needs "
    "--scale\n"
    "here: 2 if it doubles the resolution, 1/4 if it gives a quarter of it.\n"
    "\n"
    "Example: patchfold split photo.tif tiles --tile 512 --overlap 64\n"
    "         patchfold merge tiles result.tif             after tiles were processed: with --processed";

/// Options that are converted after parsing.
struct Texts {
  std::string tile{}, overlap{}, stride{}, tail{}, padding_mode{}, value{}, axes{}, scale{}, offset{}, result{}, names{};
};

ArgumentValue value_of(ArgumentKind kind, const char* option, const std::string& text) {
  return parse_argument("split", option, kind, text);
}

Axes axes_of(const char* option, const std::string& text) {
  if (text.empty()) return {};
  const ArgumentValue value = value_of(ArgumentKind::axes, option, text);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  return std::get<Dims>(value);
}

Dims dims_of(const char* option, const std::string& text) {
  return text.empty() ? Dims{} : std::get<Dims>(value_of(ArgumentKind::integers, option, text));
}

/// A decimal number as a fraction of small numbers, or nothing.
std::string fraction_of(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value > 0 && value < 1e6)) return {};
  for (int den = 1; den <= 1000; ++den) {
    const double num = value * den;
    if (std::abs(num - std::round(num)) < 1e-9 * num)
      return den == 1 ? text_of(std::llround(num)) : text_of(std::llround(num), "/", den);
  }
  return {};
}

std::int64_t part_of_ratio(const std::string& ratio, const std::string& part) {
  try {
    return std::get<std::int64_t>(value_of(ArgumentKind::integer, "--scale", part));
  } catch (const Error& error) {
    const std::string fraction = fraction_of(ratio);
    throw Error({error.code(),
                 "split",
                 "--scale",
                 "must be an integer or a fraction of integers",
                 ratio,
                 {},
                 fraction.empty() ? ErrorValue() : ErrorValue("write --scale ", fraction)});
  }
}

/// "2", "1/4", "2,1/2".
std::vector<Ratio> ratios_of(const std::string& text) {
  std::vector<Ratio> ratios;
  for (std::size_t at = 0; at < text.size() || (at > 0 && at == text.size());) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, comma - at);
    const std::size_t slash = std::min(part.find('/'), part.size());
    Ratio ratio;
    ratio.num = part_of_ratio(part, part.substr(0, slash));
    if (slash < part.size()) ratio.den = part_of_ratio(part, part.substr(slash + 1));
    ratios.push_back(ratio);
    at = comma + 1;
  }
  return ratios;
}

void convert(const Texts& texts, SplitRequest& request) {
  TilingSpec& spec = request.spec;
  if (texts.tile.empty()) fail_usage("split", "--tile", "is required", "", "the size of tiles: 512, or 512,256");
  if (!texts.overlap.empty() && !texts.stride.empty())
    fail_usage("split", "--stride", "must not be given together with --overlap");
  request.tile = axes_of("--tile", texts.tile);
  spec.overlap = axes_of("--overlap", texts.overlap);
  spec.stride = axes_of("--stride", texts.stride);
  spec.axes = dims_of("--axes", texts.axes);
  spec.offset = dims_of("--offset", texts.offset);
  spec.result = dims_of("--result", texts.result);
  spec.scale = ratios_of(texts.scale);
  if (!texts.tail.empty()) spec.tail = choice_of<Tail>("split", "--tail", texts.tail);
  if ((!texts.padding_mode.empty() || !texts.value.empty()) && !pads(spec.tail))
    fail_usage("split", texts.value.empty() ? "--padding-mode" : "--value", "applies to --tail pad and shift_or_pad only");
  if (!texts.padding_mode.empty())
    spec.padding_mode = choice_of<PaddingMode>("split", "--padding-mode", texts.padding_mode, pads_tiles);
  if (!texts.value.empty()) spec.value = std::get<Scalar>(value_of(ArgumentKind::number, "--value", texts.value));
  if (!texts.names.empty()) request.names = choice_of<TileNames>("split", "--names", texts.names);
  if (request.format == "jpeg") request.format = "jpg";
  if (!request.format.empty() && request.format != "png" && request.format != "tif" && request.format != "npy" &&
      request.format != "jpg")
    fail_usage("split", "--format", "is unknown", request.format, "png, tif, npy or jpg");
  if (request.quality && request.format != "jpg") fail_usage("split", "--quality", "applies to --format jpg only");
}

/// What `patchfold split` reads.
struct SplitCommand {
  SplitCommand();

  SplitRequest request{};
  Texts texts{};
  Command command{split_doc, "patchfold split"};
};

SplitCommand::SplitCommand() {
  command.usage("patchfold split PICTURE FOLDER --tile N [--overlap N] [OPTION]...");
  command.footer(split_footer);
  const auto text = [this](const char* name, std::string& value, const char* form, const std::string& doc) {
    return command.option(name, value, form, doc);
  };
  command.completes(command.word("PICTURE", request.picture, "what is cut: .png, .jpg, .tif or .npy; - for standard input"),
                    Completion::file);
  command.completes(command.word("FOLDER", request.folder, "where the tiles go; made if it is not there"),
                    Completion::folder);
  text("--tile", texts.tile, "N,..", "size of tiles; required");
  text("--overlap", texts.overlap, "N,..", "what neighbours share; default 0; negative: gaps");
  text("--stride", texts.stride, "N,..", "from tile to tile, instead of --overlap");
  command.choices(
      text("--tail", texts.tail, "TAIL",
           text_of("the last tile, if it does not fit: ", listed_words<Tail>(), "; default ", word_of(request.spec.tail))),
      choices_of<Tail>());
  command.choices(text("--padding-mode", texts.padding_mode, "MODE",
                       text_of("for --tail pad and shift_or_pad: ", listed_words<PaddingMode>(pads_tiles), "; default ",
                               word_of(request.spec.padding_mode))),
                  choices_of<PaddingMode>(pads_tiles));
  text("--value", texts.value, "NUMBER", "for --padding-mode constant; default 0");
  text("--axes", texts.axes, "N,..",
       "of .npy arrays: the axes that are tiled, from 0 or, negative, from the end; default: the last");
  command.choices(
      text("--format", request.format, "FORMAT",
           "of tiles: png, tif, npy, jpg; default npy for .npy, png for 8 and 16 bits, else tif; jpg changes pixels"),
      {"png", "tif", "npy", "jpg"});
  command.option("--quality", request.quality, 1, 100, "N", "of jpg tiles: 1 to 100; default 95");
  command.choices(text("--names", texts.names, "NAMES",
                       "of tiles: index (tile-17.png) or grid (tile-2-5.png: row and column); default index"),
                  choices_of<TileNames>());
  text("--scale", texts.scale, "RATIO,..", "elements of a result for each element of a tile: 2, 1/4; default 1");
  text("--offset", texts.offset, "N,..",
       "where results lie: this much after their tile's place, in elements of results; default 0");
  text("--result", texts.result, "N,..", "size of results; default: that of tiles, scaled");
  command.option("--page", request.page, 0, 1 << 16, "N", "the page of a TIFF file that has several, from 0");
  command.flag("--force", request.force, "replace tiles of another picture or of other sizes that FOLDER holds");
  command.flag("--dry-run", request.dry_run, "only print how many tiles, how many bytes, how much memory");
  add_threads(command, request.threads);
  add_reporting(command, request.reporting);
}

}  // namespace

CommandInfo split_info() {
  return SplitCommand().command.info();
}

SplitRequest parse_split(const std::vector<std::string>& words) {
  SplitCommand all;
  SplitRequest& request = all.request;
  request.help = all.command.parse(words);
  if (!request.help.empty()) return std::move(request);
  if (request.picture.empty() || request.folder.empty())
    fail_usage("split", request.picture.empty() ? "PICTURE" : "FOLDER", "is required", "",
               "patchfold split PICTURE FOLDER --tile N");
  convert(all.texts, request);
  return std::move(request);
}

}  // namespace patchfold::cli
