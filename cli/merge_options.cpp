// SPDX-License-Identifier: Apache-2.0
#include "cli/merge_options.hpp"

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/report.hpp"
#include "cli/text.hpp"
#include "cli/tile_options.hpp"
#include "cli/tiling_options.hpp"

namespace patchfold::cli {
namespace {

constexpr const char* merge_doc =
    "Puts the tiles that `patchfold split` wrote together again, row by row: only tiles that wait for their neighbours are\n"
    "in memory. Where tiles overlap, floating-point numbers become their mean, weighted so that no seams show; where they\n"
    "agree, it is exact. Integers may be labels: in pictures and in arrays they are not blended, unless --reduce, --window\n"
    "or --dtype is given. Photographs need --reduce mean. Scores of shape (classes, H, W) become labels by --reduce argmax.";
constexpr const char* merge_footer =
    "Every tile's checksum is compared with plan.json, unless tiles are results of a program (--processed, or --plan, "
    "which\n"
    "says that FOLDER holds results of tiles elsewhere): these may have other channels, another element type and another\n"
    "format (tile-07.npy instead of tile-07.png), the same for all of them. OUT is written whole or not at all.\n"
    "\n"
    "Example: patchfold split photo.tif tiles --tile 512 --overlap 64\n"
    "         patchfold merge tiles photo-again.tif\n"
    "         patchfold merge results result.tif --plan tiles/plan.json --compress deflate";

/// Values of options as texts, which are converted after parsing.
struct Texts {
  std::string window{}, reduce{}, dtype{}, fill{}, format{}, shape{};
};

void convert(const Texts& texts, MergeRequest& request) {
  if (!texts.window.empty()) request.window = window_named("merge", texts.window);
  if (!texts.reduce.empty()) request.reduce = choice_of<Reduce>("merge", "--reduce", texts.reduce);
  request.dtype = parse_dtype("merge", "--dtype", texts.dtype);
  if (request.dtype && *request.dtype != DType::float32 && *request.dtype != DType::float64)
    fail_usage("merge", "--dtype", "must be float32 or float64", texts.dtype);
  if (!texts.fill.empty())
    request.fill = std::get<Scalar>(parse_argument("merge", "--fill", ArgumentKind::number, texts.fill));
}

/// Reads the words of `patchfold merge`.
struct MergeCommand {
  MergeCommand();

  MergeRequest request{};
  Texts texts{};
  Command command{merge_doc, "patchfold merge"};
  std::optional<TilingOptions> tiling{};  ///< added behind the words
  Command::Option chw{};
};

MergeCommand::MergeCommand() {
  command.usage("patchfold merge FOLDER OUT [OPTION]...");
  command.footer(merge_footer);
  command.completes(command.word("FOLDER", request.folder, "that holds the tiles, and plan.json"), Completion::folder);
  command.completes(
      command.word("OUT", request.output, "where the picture goes: .tif, .png, .jpg or .npy; - for standard output"),
      Completion::file);
  command.option("--pattern", request.pattern, "NAME",
                 "tiles that split did not make: their names, with {row} and {column}, {y} and {x} in pixels, or {index}");
  tiling.emplace(command, "merge", TilingOptions::Use::places);
  command.option("--shape", texts.shape, "H,W", "with --pattern: size of the whole; default: where the last tiles end");
  add_format(command, texts.format);
  add_reduce(command, texts.reduce, "mean, for integers center");
  add_window(command, texts.window);
  command.choices(command.option("--dtype", texts.dtype, "TYPE", "float32 or float64: of the output; default: the tiles'"),
                  {"float32", "float64"});
  command.option("--fill", texts.fill, "NUMBER", "for elements that no tile gives (--tail drop, gaps, missing tiles)");
  command.flag("--processed", request.processed, "tiles are results of a program: no checksums, any type, any channels");
  chw = command.flag("--chw", request.chw, "results are .npy arrays of C x H x W; OUT is a picture, H x W x C");
  command.completes(command.option("--plan", request.plan, "FILE", "plan.json elsewhere; FOLDER holds results"),
                    Completion::file);
  request.picture.add_to(command);
  command.flag("--force", request.force, "replace OUT even if it has the name of the picture that was split");
  command.flag("--dry-run", request.dry_run, "only print what would be written, and how much memory that needs");
  add_threads(command, request.threads);
  add_reporting(command, request.reporting);
}

}  // namespace

std::vector<OptionInfo> merge_options() {
  return MergeCommand().command.options();
}

MergeRequest parse_merge(const std::vector<std::string>& words) {
  MergeCommand all;
  MergeRequest& request = all.request;
  request.help = all.command.parse(words);
  if (!request.help.empty()) return std::move(request);
  if (request.folder.empty() || request.output.empty())
    fail_usage("merge", request.folder.empty() ? "FOLDER" : "OUT", "is required", "", "patchfold merge FOLDER OUT");
  if (request.plan == "-") fail_usage("merge", "--plan", "must be the name of a file", "-");
  request.format = format_of_output("merge", "OUT", request.output, all.texts.format);
  if (all.command.given(all.chw) && request.format == formats::FileFormat::npy)
    fail_usage("merge", "--chw", "applies to .png, .jpg and .tif only", request.output);
  request.picture.check("merge", request.format, request.output);
  convert(all.texts, request);
  if (request.pattern.empty()) {
    if (!all.texts.shape.empty() || all.tiling->is_given())
      fail_usage("merge", all.texts.shape.empty() ? "--tile" : "--shape",
                 "needs --pattern: plan.json says where other tiles lie", "", "--pattern 'tile_{row}_{column}.png'");
    return std::move(request);
  }
  if (!request.plan.empty()) fail_usage("merge", "--pattern", "must not be given together with --plan");
  request.processed = true;
  request.spec = all.tiling->spec();
  request.has_tail = all.tiling->has_tail();
  if (all.tiling->has_tile()) request.tile = all.tiling->tile();
  if (!all.texts.shape.empty())
    request.shape = std::get<Dims>(parse_argument("merge", "--shape", ArgumentKind::integers, all.texts.shape));
  return std::move(request);
}

}  // namespace patchfold::cli
