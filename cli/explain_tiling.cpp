// SPDX-License-Identifier: Apache-2.0
// `patchfold explain tiling`.
#include <algorithm>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/tile_options.hpp"
#include "cli/tiling_options.hpp"
#include "patchfold/explain.hpp"

namespace patchfold::cli {
namespace {

constexpr std::string_view name = "explain tiling";

/// Reads the words of `patchfold explain tiling`.
struct TilingCommand {
  TilingCommand() {
    tiling.add_results();
    command.usage("patchfold explain tiling --shape N,.. --tile N [--overlap N] [OPTION]...");
    command.footer(
        "N,.. of a tile is one number for each tiled axis, or one for the last two.\n"
        "\n"
        "Example: patchfold explain tiling --shape 3,1000,700 --tile 256 --overlap 32\n"
        "         patchfold explain tiling --shape 1000,700 --tile 256 --overlap 32 --window linear --svg > tiling.svg");
    add_reduce(command, reduce, "mean");
    add_window(command, window);
    command.choices(command.option("--dtype", dtype, "TYPE", "element type of the tiles' results; default float32"),
                    dtype_names());
    command.option("--fill", fill, "NUMBER", "for elements that no tile gives (--tail drop, gaps)");
    command.flag("--svg", svg, "print a picture, as SVG");
  }

  std::string shape{}, reduce{}, window{}, dtype{}, fill{};
  bool svg = false;
  Command command{"Shows where the tiles of an array lie, how many overlap, and what a merge of them weighs and holds.",
                  "patchfold explain tiling"};
  Command::Option shape_given = command.option("--shape", shape, "N,..", "extents of the array; required");
  TilingOptions tiling{command, name};
};

}  // namespace

std::vector<OptionInfo> explain_tiling_options() {
  return TilingCommand().command.options();
}

void run_explain_tiling(const std::vector<std::string>& words) {
  TilingCommand all;
  if (const std::string help = all.command.parse(words); !help.empty()) return print(help);
  if (!all.command.given(all.shape_given)) fail_usage(name, "--shape", "is required", "", "the extents of the array: N,..");
  const Axes tile = all.tiling.tile();
  TilingSpec spec = all.tiling.spec();
  spec.shape = std::get<Dims>(parse_argument(name, "--shape", ArgumentKind::integers, all.shape));
  const int tiled = spec.axes.empty() ? std::clamp(spec.shape.size(), 1, 2) : spec.axes.size();
  spec.tile = tile.is_scalar() ? Dims::filled(tiled, tile.values()[0]) : tile.values();
  const Tiling tiling(spec);
  MergeSpec merge;
  if (!all.reduce.empty()) merge.reduce = choice_of<Reduce>(name, "--reduce", all.reduce);
  if (!all.window.empty()) merge.window = window_named(name, all.window);
  merge.dtype = parse_dtype(name, "--dtype", all.dtype).value_or(DType::float32);
  merge.element_size = size_of(merge.dtype);
  if (!all.fill.empty()) merge.fill = std::get<Scalar>(parse_argument(name, "--fill", ArgumentKind::number, all.fill));
  print(all.svg ? explain_svg(tiling, merge) : explain(tiling, merge));
}

}  // namespace patchfold::cli
