// SPDX-License-Identifier: Apache-2.0
#include "explain/tiles.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/checked.hpp"
#include "explain/lines.hpp"
#include "explain/patches.hpp"
#include "patchfold/explain.hpp"

namespace patchfold::explaining {
namespace {

/// The most tiles of an axis, elements of a tile's result, and tiles of a merge that are examined one by one.
constexpr std::int64_t most_tiles = std::int64_t{1} << 16;
constexpr std::int64_t most_weights = std::int64_t{1} << 20;
constexpr std::int64_t most_merged = 4096;
constexpr std::int64_t strip_columns = 72;

/// Returns "0.125": three digits after the point.
std::string in_thousandths(double value) {
  const auto thousandths = static_cast<std::int64_t>(std::llround(std::clamp(value, 0.0, 1e9) * 1000));
  std::string digits = std::to_string(thousandths % 1000);
  digits.insert(0, 3 - digits.size(), '0');
  return std::to_string(thousandths / 1000) + "." + digits;
}

/// Writes the tiles of an axis as strips, to scale.
void write_strips(Text& text, const Tiling& tiling, int i) {
  const std::int64_t grid = tiling.grid()[i], extent = tiling.spec().shape[tiling.axes()[i]];
  if (grid == 0 || extent == 0) return;
  const TileSpan last = tiling.span(i, grid - 1);
  const std::int64_t first = std::min<std::int64_t>(0, tiling.span(i, 0).origin);
  const std::int64_t end = std::max(extent, last.origin + last.extent);
  const auto at = [&](std::int64_t element) {
    return static_cast<std::size_t>(static_cast<double>(element - first) / static_cast<double>(end - first) * strip_columns);
  };
  std::string axis(at(end), '_');
  axis.replace(at(0), at(extent) - at(0), at(extent) - at(0), '-');
  text.line("    array      " + axis);
  for (const std::int64_t k : shown_between(0, grid, 8)) {
    if (k == left_out) {
      text.line("    ..");
      continue;
    }
    const TileSpan span = tiling.span(i, k);
    std::string strip(at(end), ' ');
    const auto paint = [&](std::int64_t begin, std::int64_t end, char c) {
      const std::size_t from = std::min(at(begin), strip.size() - 1);
      const std::size_t to = std::max(at(end), from + 1);
      strip.replace(from, to - from, to - from, c);
    };
    paint(span.origin, span.origin + span.extent, '_');
    if (span.read.size() > 0) paint(span.read.begin, span.read.end, '#');
    strip.erase(strip.find_last_not_of(' ') + 1);
    std::string name = "tile " + std::to_string(k);
    name.resize(std::max<std::size_t>(name.size(), 10), ' ');
    text.line("    " + name + " " + strip);
  }
}

}  // namespace

std::string extents_text(const Dims& extents) {
  std::string text;
  for (const std::int64_t extent : extents) text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text;
}

std::vector<TileRun> tile_runs(const std::vector<Span>& spans, std::int64_t begin, std::int64_t end) {
  std::vector<std::pair<std::int64_t, std::int64_t>> events;
  for (const Span& span : spans) {
    if (span.end <= span.begin) continue;
    events.emplace_back(std::clamp(span.begin, begin, end), 1);
    events.emplace_back(std::clamp(span.end, begin, end), -1);
  }
  std::ranges::sort(events);
  std::vector<TileRun> runs;
  std::int64_t at = begin, tiles = 0;
  const auto close = [&](std::int64_t to) {
    if (to <= at) return;
    if (!runs.empty() && runs.back().tiles == tiles)
      runs.back().elements.end = to;
    else
      runs.push_back({{at, to}, tiles});
    at = to;
  };
  for (const auto& [where, change] : events) {
    close(where);
    tiles += change;
  }
  close(end);
  return runs;
}

std::optional<TileCounts> tile_counts(const Tiling& tiling, int axis) {
  const std::int64_t grid = tiling.grid()[axis], extent = tiling.output()[axis];
  if (grid > most_tiles) return std::nullopt;
  std::vector<Span> spans;
  for (std::int64_t k = 0; k < grid; ++k) spans.push_back(tiling.span(axis, k).write);
  TileCounts counts;
  double total = 0;
  bool first = true;
  for (const TileRun& run : tile_runs(spans, 0, extent)) {
    counts.least = first ? run.tiles : std::min(counts.least, run.tiles);
    counts.most = std::max(counts.most, run.tiles);
    total += static_cast<double>(run.tiles) * static_cast<double>(run.elements.size());
    first = false;
  }
  counts.mean = extent > 0 ? total / static_cast<double>(extent) : 0;
  return counts;
}

std::string merge_words(const MergeSpec& merge) {
  using Kind = WeightWindow::Kind;
  const Reduce reduce = reduction_of(merge);
  const Kind kind = merge.window.kind;
  const bool weighs = makes_means(reduce) || reduce == Reduce::sum;
  const std::string name(word_of(reduce));
  if (!weighs) return name;
  if (kind == Kind::axes || kind == Kind::array) return name + ", weighted by weights of your own";
  const std::string window(kind == Kind::standard ? (makes_means(reduce) ? "hann" : "ones") : word_of(kind));
  return name + ", weighted by the window " + window;
}

std::vector<double> axis_weights(const Tiling& tiling, const MergeSpec& merge, int axis) {
  using Kind = WeightWindow::Kind;
  const std::int64_t length = tiling.result()[axis];
  const Reduce reduce = reduction_of(merge);
  if (length > most_weights || merge.window.kind == Kind::array) return {};
  if (merge.window.kind == Kind::axes) {
    const auto i = static_cast<std::size_t>(axis);
    const bool fits = i < merge.window.axes.size() && std::ssize(merge.window.axes[i]) == length;
    return fits ? merge.window.axes[i] : std::vector<double>{};
  }
  const bool plain = merge.window.kind == Kind::standard && !makes_means(reduce);
  return plain ? std::vector<double>(static_cast<std::size_t>(length), 1.0) : sample(merge.window, length);
}

Shares shares_at(const Tiling& tiling, const MergeSpec& merge, int axis, const std::vector<double>& weights,
                 const std::vector<std::int64_t>& tiles, std::int64_t element) {
  Shares shares;
  double sum = 0;
  std::optional<std::size_t> chosen;
  double nearest = 0;
  const Reduce reduce = reduction_of(merge);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const TileSpan span = tiling.span(axis, tiles[i]);
    const bool reaches = element >= span.write.begin && element < span.write.end;
    const auto place = static_cast<std::size_t>(std::max<std::int64_t>(0, element - span.start));
    shares.weights.push_back(reaches && place < weights.size() ? weights[place] : 0);
    if (!reaches) continue;
    sum += shares.weights.back();
    const double middle = static_cast<double>(span.start) + static_cast<double>(tiling.result()[axis]) / 2;
    const double distance = std::abs(static_cast<double>(element) + .5 - middle);
    if (!chosen || reduce == Reduce::last || (reduce == Reduce::center && distance < nearest)) {
      chosen = i;
      nearest = distance;
    }
  }
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const bool picks = reduce == Reduce::first || reduce == Reduce::last || reduce == Reduce::center;
    shares.parts.push_back(picks                 ? (chosen == i ? 1 : 0)
                           : makes_means(reduce) ? (sum > 0 ? shares.weights[i] / sum : 0)
                                                 : shares.weights[i]);
  }
  return shares;
}

std::vector<std::string> axis_lines(const Tiling& tiling, int i) {
  const auto n = [](std::int64_t number) { return std::to_string(number); };
  const std::int64_t extent = tiling.spec().shape[tiling.axes()[i]], tile = tiling.spec().tile[i],
                     stride = tiling.stride()[i];
  const std::int64_t grid = tiling.grid()[i], overlap = tile - stride;
  std::vector<std::string> lines;
  lines.push_back("axis " + n(tiling.axes()[i]) + ": extent " + n(extent) + ", tile " + n(tile) + ", stride " + n(stride) +
                  (overlap >= 0 ? ", overlap " + n(overlap) : ", gap " + n(-overlap)));
  const std::string tail(word_of(tiling.spec().tail));
  const Span reach = tiling.reach(i);
  const std::int64_t length = reach.size();
  if (length != extent)
    lines.push_back("  tiles read from " + n(reach.begin) + " to " + n(reach.end) + ": margins of " + n(-reach.begin) +
                    " and " + n(reach.end - extent));
  if (length < tile) {
    lines.push_back("  the axis is shorter than a tile: " + counted(grid, "tile") + ", tail " + tail);
  } else {
    const std::int64_t fit = (length - tile) / stride + 1, end = (fit - 1) * stride + tile, rest = length - end;
    lines.push_back("  floor((" + n(length) + " - " + n(tile) + ") / " + n(stride) + ") + 1 = " + counted(fit, "tile") +
                    (fit == 1 ? " fits" : " fit"));
    if (rest > 0 && grid > fit)
      lines.push_back("  " + counted(rest, "element") + (rest == 1 ? " remains" : " remain") + ": one more tile, tail " +
                      tail);
    else if (rest > 0)
      lines.push_back("  " + counted(rest, "element") + " at the end " + (rest == 1 ? "is" : "are") + " in no tile: tail " +
                      tail);
  }
  if (grid == 0) return lines;
  const TileSpan last = tiling.span(i, grid - 1);
  const TileSpan first = tiling.span(i, 0);
  const std::int64_t back = first.origin + (grid - 1) * stride - last.origin;  // by how much the last tile is moved back
  const bool even = grid < 2 || back == 0 || tiling.spec().tail == Tail::partial;
  lines.push_back(
      "  tiles begin at " +
      (even ? listed(grid, reach.begin, stride) : listed(grid - 1, reach.begin, stride) + ", " + n(last.origin)) +
      (grid > 1 ? "; the last one ends at " : "; it ends at ") +
      n(std::min(last.origin + last.extent, std::max(reach.end, extent))));
  if (!even)
    lines.push_back("  the last tile is moved back by " + n(back) + " and shares " +
                    counted(tiling.span(i, grid - 2).origin + tile - last.origin, "element") + " with the one before");
  const std::string padding = tiling.spec().padding_mode == PaddingMode::constant
                                  ? to_string(tiling.spec().value)
                                  : std::string(word_of(tiling.spec().padding_mode));
  if (const std::int64_t before = first.padding().begin; before > 0)
    lines.push_back("  the first tile begins with " + counted(before, "element") + " of padding: " + padding);
  if (const std::int64_t behind = last.padding().end; behind > 0)
    lines.push_back("  the last tile has " + counted(behind, "element") + " of padding: " + padding);
  if (const Ratio ratio = tiling.spec().scale.empty()
                              ? Ratio{}
                              : tiling.spec().scale[tiling.spec().scale.size() == 1 ? 0 : static_cast<std::size_t>(i)];
      ratio.num != ratio.den || tiling.result()[i] != tile)
    lines.push_back("  the result of a tile has " + counted(tiling.result()[i], "element") + ", and the output " +
                    n(tiling.output()[i]));
  return lines;
}

std::vector<std::string> work_lines(const Tiling& tiling, const MergeSpec& merge) {
  std::vector<std::string> lines;
  double least = 1, most = 1, mean = 1;
  bool known = true;
  for (int i = 0; i < tiling.grid().size(); ++i) {
    const std::optional<TileCounts> counts = tile_counts(tiling, i);
    known &= counts.has_value();
    if (!counts) continue;
    least *= static_cast<double>(counts->least);
    most *= static_cast<double>(counts->most);
    mean *= counts->mean;
  }
  if (!known)
    lines.push_back("coverage: left out, since an axis has more than " + std::to_string(most_tiles) + " tiles");
  else if (least == most)
    lines.push_back("coverage: each element of the output comes from " + counted(static_cast<std::int64_t>(most), "tile"));
  else
    lines.push_back("coverage: an element of the output comes from " + number(least) + " to " + number(most) +
                    " tiles, on average from " + number(mean));
  double held = 1, whole = 1;
  for (int i = 0; i < tiling.grid().size(); ++i) {
    held *= static_cast<double>(tiling.spec().tile[i]) * static_cast<double>(tiling.grid()[i]);
    whole *= static_cast<double>(tiling.spec().shape[tiling.axes()[i]]);
  }
  if (whole > 0 && tiling.spec().tail != Tail::partial)
    lines.push_back("work: the tiles hold " + number(held / whole) + " times as many elements as the array");
  lines.push_back("merge: " + merge_words(merge));
  if (tiling.size() > most_merged) {
    lines.push_back("memory of a merge: left out, since there are more than " + std::to_string(most_merged) + " tiles");
    return lines;
  }
  MergeSpec spec = merge;
  if (spec.channels.empty()) spec.channels = tiling.channels();
  try {
    const MergeMemory memory = merge_memory(tiling, spec, false);
    lines.push_back("memory of a merge, tiles in order, " + std::string(name_of(spec.dtype)) + ": at most " +
                    bytes(memory.tiles) + " of tiles wait for their neighbours");
  } catch (const Error& error) {
    lines.push_back(std::string("a merge refuses this: ") + error.what());
  }
  return lines;
}

}  // namespace patchfold::explaining

namespace patchfold {

std::string explain(const Tiling& tiling, const MergeSpec& merge) {
  using namespace explaining;
  Text text;
  text.line("Tiling: " + counted(tiling.size(), "tile") + " of " + extents_text(tiling.spec().tile) +
            " elements, in a grid of " + extents_text(tiling.grid()));
  text.line("  array: " + to_string(tiling.spec().shape) + ", output: " + to_string(tiling.output_shape(tiling.channels())));
  text.section("Tiles: tile k reads [k * stride, k * stride + tile) of an axis; # is read, _ is padding");
  for (int i = 0; i < tiling.grid().size(); ++i) {
    for (const std::string& line : axis_lines(tiling, i)) text.line("  " + line);
    write_strips(text, tiling, i);
  }
  text.section("Coverage, work and memory");
  for (const std::string& line : work_lines(tiling, merge)) text.line("  " + line);
  const std::vector<double> weights = axis_weights(tiling, merge, tiling.grid().size() - 1);
  const int last = tiling.grid().size() - 1;
  if (weights.empty() || tiling.grid()[last] < 2) return text.take();
  const TileSpan first = tiling.span(last, 0), second = tiling.span(last, 1);
  const Span shared{std::max(first.write.begin, second.write.begin), std::min(first.write.end, second.write.end)};
  if (shared.size() <= 0) return text.take();
  text.section("Weights: what tiles 0 and 1 give to the elements that they share along axis " +
               std::to_string(tiling.axes()[last]));
  std::vector<std::vector<std::string>> rows = {{"element"}, {"tile 0"}, {"tile 1"}};
  for (const std::int64_t element : shown_between(shared.begin, shared.end, 8)) {
    if (element == left_out) {
      for (auto& row : rows) row.emplace_back("..");
      continue;
    }
    const Shares shares = shares_at(tiling, merge, last, weights, {0, 1}, element);
    rows[0].push_back(std::to_string(element));
    for (std::size_t i = 0; i < 2; ++i) rows[i + 1].push_back(in_thousandths(shares.parts[i]));
  }
  text.table(rows);
  return text.take();
}

}  // namespace patchfold
