// SPDX-License-Identifier: Apache-2.0
#include "cli/split_options.hpp"

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/report.hpp"
#include "cli/tile_options.hpp"
#include "cli/tiling_options.hpp"

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

void convert(const TilingOptions& tiling, const std::string& names, const std::string& empty, SplitRequest& request) {
  request.tile = tiling.tile();
  request.spec = tiling.spec();
  if (!empty.empty()) request.empty = std::get<Scalar>(parse_argument("split", "--skip-empty", ArgumentKind::number, empty));
  if (!names.empty()) request.names = choice_of<TileNames>("split", "--names", names);
  if (request.format == "jpeg") request.format = "jpg";
  if (!request.format.empty() && request.format != "png" && request.format != "tif" && request.format != "npy" &&
      request.format != "jpg")
    fail_usage("split", "--format", "is unknown", request.format, "png, tif, npy or jpg");
  if (request.quality && request.format != "jpg") fail_usage("split", "--quality", "applies to --format jpg only");
}

/// Reads the words of `patchfold split`.
struct SplitCommand {
  SplitCommand();

  SplitRequest request{};
  std::string names{}, empty{};
  Command command{split_doc, "patchfold split"};
  Command::Option picture =
      command.word("PICTURE", request.picture, "what is cut: .png, .jpg, .tif or .npy; - for standard input");
  Command::Option folder = command.word("FOLDER", request.folder, "where the tiles go; made if it is not there");
  TilingOptions tiling{command, "split"};
};

SplitCommand::SplitCommand() {
  command.usage("patchfold split PICTURE FOLDER --tile N [--overlap N] [OPTION]...");
  command.footer(split_footer);
  command.completes(picture, Completion::file);
  command.completes(folder, Completion::folder);
  command.choices(
      command.option(
          "--format", request.format, "FORMAT",
          "of tiles: png, tif, npy, jpg; default npy for .npy, png for 8 and 16 bits, else tif; jpg changes pixels"),
      {"png", "tif", "npy", "jpg"});
  command.option("--quality", request.quality, 1, 100, "N", "of jpg tiles: 1 to 100; default 95");
  command.choices(command.option("--names", names, "NAMES",
                                 "of tiles: index (tile-17.png) or grid (tile-2-5.png: row and column); default index"),
                  choices_of<TileNames>());
  tiling.add_results();
  command.option("--page", request.page, 0, 1 << 16, "N", "the page of a TIFF file that has several, from 0");
  command.option("--skip-empty", empty, "NUMBER",
                 "write no file for tiles that hold only this number; merge fills their places with it");
  command.option("--level", request.level, 0, 64, "N",
                 "of a TIFF file: 1 for its largest smaller copy (overview), 2 for the next, ..");
  command.flag("--force", request.force, "replace tiles of another picture or of other sizes that FOLDER holds");
  command.flag("--dry-run", request.dry_run, "only print how many tiles, how many bytes, how much memory");
  add_threads(command, request.threads);
  add_reporting(command, request.reporting);
}

}  // namespace

std::vector<OptionInfo> split_options() {
  return SplitCommand().command.options();
}

SplitRequest parse_split(const std::vector<std::string>& words) {
  SplitCommand all;
  SplitRequest& request = all.request;
  request.help = all.command.parse(words);
  if (!request.help.empty()) return std::move(request);
  if (request.picture.empty() || request.folder.empty())
    fail_usage("split", request.picture.empty() ? "PICTURE" : "FOLDER", "is required", "",
               "patchfold split PICTURE FOLDER --tile N");
  convert(all.tiling, all.names, all.empty, request);
  return std::move(request);
}

}  // namespace patchfold::cli
