// SPDX-License-Identifier: Apache-2.0
// Hints for a tiling that is refused, or for results of another shape than the tiling expects. A hint is a change of the tiling;
// each change is tried before it is proposed.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/checked.hpp"
#include "base/fail.hpp"
#include "patchfold/tiling.hpp"
#include "tiling/names.hpp"

namespace patchfold::tiling {
namespace {

/// Returns whether a tiling can be made from the spec, and has results that leave no gaps.
bool can_be_made(const TilingSpec& spec) {
  try {
    const Tiling tiling(spec);
    for (int i = 0; i < tiling.result().size(); ++i) {
      const TileSpan first = tiling.span(i, 0);
      if (tiling.grid()[i] > 1 && tiling.span(i, 1).start > first.start + first.result) return false;
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Returns a setting with all values, or with a single number if all values are equal.
Setting setting(std::string_view name, const Dims& values) {
  const bool same = std::all_of(values.begin(), values.end(), [&](std::int64_t value) { return value == values[0]; });
  return same ? Setting(name, values[0]) : Setting(name, values);
}

/// Returns the setting of a scale, with a single fraction if all are equal.
Setting scale_setting(const std::vector<Ratio>& scale) {
  const bool same = std::all_of(scale.begin(), scale.end(), [&](Ratio one) { return one == scale[0]; });
  Setting::Fractions fractions;
  for (const Ratio one : scale)
    if (fractions.empty() || !same) fractions.emplace_back(one.num, one.den);
  return {"scale", std::move(fractions)};
}

/// Adds settings to `fitting`, joined by "and".
void append_settings(ErrorValue& fitting, const std::vector<Setting>& settings) {
  for (std::size_t k = 0; k < settings.size(); ++k) fitting.append(k == 0 ? "" : " and ", settings[k]);
}

/// Adds to `fitting` the border that suits a function which drops equally many elements at both ends of each tile. `first`
/// begins the proposal. Returns whether such a border exists.
bool propose_border(ErrorValue& fitting, const Tiling& tiling, const Dims& results, std::string_view first) {
  TilingSpec spec = tiling.spec();
  const bool is_scaled = std::any_of(spec.scale.begin(), spec.scale.end(), [](Ratio one) { return one.num != one.den; });
  const bool has_offset = std::any_of(spec.offset.begin(), spec.offset.end(), [](std::int64_t one) { return one != 0; });
  if (is_scaled || has_offset || !(tiling.result() == spec.tile)) return false;
  spec.offset = {};
  spec.result = results;
  Dims overlap;
  for (int i = 0; i < results.size(); ++i) {
    const std::int64_t lost = spec.tile[i] - results[i];
    if (lost < 0 || lost % 2 != 0) return false;
    spec.offset.push_back(lost / 2);
    overlap.push_back(std::max(lost, spec.tile[i] - tiling.stride()[i]));
  }
  const bool has_gaps = !can_be_made(spec);
  if (has_gaps) {
    spec.overlap = overlap;
    spec.overlap_fraction.clear();
    spec.stride = {};
  }
  if (!can_be_made(spec)) return false;
  fitting.append(first, " results lack a border of tiles, make the tiling with ");
  if (has_gaps) fitting.append(setting("overlap", overlap), " and ");
  fitting.append(setting("offset", spec.offset), " and ", setting("result", spec.result));
  bool is_whole = true;  // tiles read so far beyond the array that results cover the output
  for (int i = 0; i < results.size(); ++i)
    is_whole = is_whole && std::min(tiling.margin()[i], tiling.margin_end()[i]) >= spec.offset[i];
  if (is_whole) return true;
  spec.margin = spec.offset;
  spec.margin_end = {};
  const Dims fill{0};
  fitting.append(", and merge with ", Setting("fill", fill[0]), " for the border of the whole");
  if (!can_be_made(spec)) return true;
  fitting.append(", or with ");
  if (has_gaps) fitting.append(setting("overlap", overlap), " and ");
  fitting.append(setting("offset", spec.offset), " and ", setting("result", spec.result), " and ",
                 setting("margin", spec.offset));
  return true;
}

/// Adds to `fitting` the margin that suits tiles which also hold elements of each neighbour, equally many on each side,
/// but none beyond the array. `first` begins the proposal. Returns whether such a margin exists.
bool propose_margin(ErrorValue& fitting, const Tiling& tiling, std::int64_t index, const Dims& results,
                    std::string_view first) {
  const int tiled = results.size();
  const Dims none = Dims::filled(tiled, 0), &tile = tiling.spec().tile;
  if (!(tiling.result() == tile && tiling.margin() == none && tiling.margin_end() == none)) return false;
  std::int64_t most = 0, lost = 0, least_tile = tile[0];
  for (int i = 0; i < tiled; ++i) {
    most = std::max(most, results[i] - tile[i]);
    lost = std::max(lost, tile[i] - results[i]);
    least_tile = std::min(least_tile, tile[i]);
  }
  // A larger tile lies between two neighbours, or at an end of the array. A smaller one lies at an end, if the tiling's tile
  // has the elements of both neighbours already.
  for (const std::int64_t margin : {most / 2, most, most == 0 ? lost : 0}) {
    if (margin < 1 || margin > least_tile / 4) continue;
    TilingSpec spec = tiling.spec();
    Dims overlap;
    bool is_shared = true;
    for (int i = 0; i < tiled; ++i) {
      if (most > 0) spec.tile[i] += 2 * margin;
      // Some programs call what a tile has of one neighbour an overlap: without it, such tiles lie side by side.
      const bool is_side_by_side = most > 0 && tile[i] - tiling.stride()[i] <= 2 * margin;
      overlap.push_back(is_side_by_side ? 2 * margin : spec.tile[i] - tiling.stride()[i]);
      is_shared = is_shared && overlap[i] >= 2 * margin;
    }
    spec.overlap = overlap;
    spec.overlap_fraction.clear();
    spec.stride = {};
    spec.margin = Dims::filled(tiled, margin);
    spec.tail = Tail::partial;
    if (!is_shared || !can_be_made(spec)) continue;
    const Tiling other(spec);
    bool is_equal = index < other.size();
    for (int i = 0; is_equal && i < tiled; ++i)
      is_equal = other[index].spans[static_cast<std::size_t>(i)].result == results[i];
    if (!is_equal) continue;
    fitting.append(first, " tiles also hold ", margin, margin == 1 ? " element" : " elements",
                   " of each neighbour, make the tiling with ");
    append_settings(fitting, {Setting("tile", spec.tile), setting("overlap", overlap), Setting("margin", margin),
                              Setting("tail", std::string(word_of(spec.tail)))});
    fitting.append("; Boxes take tiles at any places");
    return true;
  }
  return false;
}

/// A rule for results along one axis: a tile of n elements gives n * scale - lost elements, the first of them at `offset`.
struct AxisRule {
  Ratio scale{};
  std::int64_t offset = 0;
  bool joins = false;  ///< k (n - 1) + 1 elements for n: every element but the first one becomes k elements
};

/// Returns the rule by which a tile of n elements most likely gives r elements; none if no simple rule does.
std::optional<AxisRule> rule_of(std::int64_t n, std::int64_t r) {
  if (r < 1 || std::max(n, r) > std::int64_t{1} << 31) return std::nullopt;
  const std::int64_t up = ceil_div(r, n), down = std::max<std::int64_t>(n / r, 1);
  if (r % n == 0) return AxisRule{{up, 1}};
  if (n % r == 0) return AxisRule{{1, down}};
  if (r > n && n > 1 && (r - 1) % (n - 1) == 0) return AxisRule{{(r - 1) / (n - 1), 1}, 0, true};
  if (r < n && r > 1 && (n - 1) % (r - 1) == 0 && (n - 1) / (r - 1) > 1) return AxisRule{{1, (n - 1) / (r - 1)}, 0, true};
  const std::int64_t lost = r > n ? n * up - r : n - r * down;
  if (lost % (2 * (r > n ? 1 : down)) != 0 || 2 * lost > n) return std::nullopt;
  return AxisRule{r > n ? Ratio{up, 1} : Ratio{1, down}, r > n ? lost / 2 : lost / 2 / down};
}

/// Adds to `fitting` the settings that suit a function whose results have other extents than its tiles, by a rule for each axis.
void propose_rules(ErrorValue& fitting, const Tiling& tiling, const Dims& results) {
  TilingSpec spec = tiling.spec();
  Dims overlap, output;
  bool joins = false, has_border = false, needs_result = false, is_whole = true;
  spec.scale.clear();
  spec.offset = {};
  for (int i = 0; i < results.size(); ++i) {
    const auto rule = rule_of(spec.tile[i], results[i]);
    if (!rule || spec.shape[static_cast<int>(tiling.axes()[i])] > std::int64_t{1} << 31) return;  // so that products fit
    const auto [num, den] = rule->scale;
    spec.scale.push_back(rule->scale);
    spec.offset.push_back(rule->offset);
    const std::int64_t extent = spec.shape[static_cast<int>(tiling.axes()[i])];
    const bool grows = rule->joins && num > 1 && extent > 0;
    output.push_back(grows ? num * (extent - 1) + 1 : ceil_div(extent * num, den));
    joins |= grows;
    has_border |= rule->offset > 0;
    needs_result |= rule->offset > 0 || rule->joins;
    is_whole = is_whole && std::min(tiling.margin()[i], tiling.margin_end()[i]) * num >= rule->offset * den;
    overlap.push_back(spec.tile[i] - std::min(tiling.stride()[i], results[i] * den / num) / den * den);
  }
  spec.result = results;
  spec.output = joins ? output : Dims{};
  const bool has_gaps = !can_be_made(spec);
  if (has_gaps) {
    spec.overlap = overlap;
    spec.overlap_fraction.clear();
    spec.stride = {};
  }
  if (!can_be_made(spec)) return;
  std::vector<Setting> settings;
  if (has_gaps) settings.push_back(setting("overlap", overlap));
  settings.push_back(scale_setting(spec.scale));
  if (has_border) settings.push_back(setting("offset", spec.offset));
  if (needs_result) settings.push_back(setting("result", results));
  if (joins) settings.push_back(setting("output", output));
  fitting.append(": results of this extent need a tiling with ");
  append_settings(fitting, settings);
  const Dims fill{0};
  if (has_border && !is_whole)
    fitting.append(", and merge with ", Setting("fill", fill[0]), " for the border of the whole");
}

/// Makes each tile of a spec with a scale begin where an element of the output begins. Returns the settings that change, or
/// none if they would make no tiling. `stride`: of the spec.
std::vector<Setting> align_tiles(TilingSpec& spec, const Dims& stride) {
  const Dims& given = spec.align.values();
  if (std::any_of(given.begin(), given.end(), [](std::int64_t align) { return align != 1; })) return {};
  TilingSpec other = spec;
  Dims align, overlap;
  for (int i = 0; i < stride.size(); ++i) {
    const std::int64_t den = spec.scale[spec.scale.size() == 1 ? 0 : static_cast<std::size_t>(i)].den;
    if (den < 1 || den > spec.tile[i]) return {};
    align.push_back(den);
    overlap.push_back(spec.tile[i] - std::max<std::int64_t>(stride[i] / den, 1) * den);
  }
  other.align = align;
  std::vector<Setting> settings{setting("align", align)};
  if (!can_be_made(other)) {
    other.overlap = overlap;
    other.overlap_fraction.clear();
    other.stride = {};
    settings.push_back(setting("overlap", overlap));
  }
  if (!can_be_made(other)) return {};
  spec = other;
  return settings;
}

/// Adds to `fitting` the scale that suits a function whose results are k or 1/k times as large as its tiles. Returns whether
/// such a scale exists.
bool propose_scale(ErrorValue& fitting, const Tiling& tiling, std::int64_t index, const Dims& given) {
  const auto scale = tiling.scale_of(index, given);
  if (!scale || (scale->num != 1 && scale->den != 1)) return false;
  TilingSpec spec = tiling.spec();
  spec.scale = {*scale};
  std::vector<Setting> settings{scale_setting(spec.scale)};
  if (!can_be_made(spec)) {
    const std::vector<Setting> aligned = align_tiles(spec, tiling.stride());
    settings.insert(settings.end(), aligned.begin(), aligned.end());
  }
  if (!can_be_made(spec)) return false;
  const auto is = [&](std::int64_t num, std::int64_t den) { return *scale == Ratio{num, den}; };
  const std::string ratio = text(scale->num) + (scale->den == 1 ? "" : "/" + text(scale->den));
  const std::string size = is(1, 1) ? "" : is(2, 1) ? "twice " : is(1, 2) ? "half " : ratio + " times ";
  fitting.append(": results are ", size, "as large as tiles, so make the tiling with ");
  append_settings(fitting, settings);
  fitting.append(" if that holds for tiles of every size");
  return true;
}

}  // namespace

void refuse_shape(const Tiling& tiling, std::string_view op, std::string_view argument, std::int64_t index,
                  const Dims& given, const Dims& expected) {
  ErrorValue fitting(expected);
  Dims extents;
  for (const TileSpan& span : tiling[index].spans) extents.push_back(span.extent);
  const bool is_whole = extents == tiling.spec().tile;
  const bool has_scale = propose_scale(fitting, tiling, index, given);
  Dims results, others = given;
  if (given.size() == expected.size())
    for (const std::int64_t axis : tiling.axes_in(given.size())) {
      results.push_back(given[axis]);
      others[axis] = expected[axis];
    }
  if (!results.empty() && others == expected) {
    bool is_explained = has_scale;
    const auto next = [&] { return is_explained ? ", or if" : ": if"; };
    if (is_whole && !(results == tiling.spec().tile)) is_explained |= propose_border(fitting, tiling, results, next());
    bool is_larger = false;  // tiles of the tiling itself never are
    for (int i = 0; i < results.size(); ++i) is_larger = is_larger || results[i] > tiling.spec().tile[i];
    if (!has_scale && is_larger) is_explained |= propose_margin(fitting, tiling, index, results, next());
    if (is_whole && !is_explained) propose_rules(fitting, tiling, results);
  }
  fail(ErrorCode::shape, op, argument, "must have the shape of the tile's result", given, std::move(fitting));
}

void refuse_stride(const TilingSpec& spec, std::int64_t axis, std::int64_t tile, std::int64_t stride, std::int64_t align) {
  const std::int64_t below = stride - stride % align, above = below + align;
  const std::string where = " along axis " + text(axis);
  const std::string either = below > 0 ? text(below) + " or " + text(above) : text(above);
  if (!spec.stride.empty())
    fail(ErrorCode::value, op_tiling, "stride", "must be a multiple of align", text(stride) + where, either);
  std::string fitting;
  if (tile >= above) fitting = text(tile - above) + (below > 0 ? " or " : ", or ");
  if (below > 0) fitting += text(tile - below) + ", or ";
  const std::string tiles = (below > 0 ? text(tile - stride + below) + " or " : "") + text(tile - stride + above);
  fail(ErrorCode::value, op_tiling, "overlap", "must be the tile less a multiple of align", text(tile - stride) + where,
       fitting + "a tile of " + tiles);
}

void refuse_scale(const TilingSpec& spec, const Dims& stride, std::string_view what, std::int64_t value, Ratio scale) {
  ErrorValue fitting("a multiple of ", scale.den);
  TilingSpec other = spec;
  const std::vector<Setting> settings = align_tiles(other, stride);
  if (!settings.empty()) fitting.append(", as with ");
  append_settings(fitting, settings);
  fail(ErrorCode::value, op_tiling, "scale", std::string(what) + " must be whole numbers of output elements",
       text(value) + " * " + text(scale.num) + " / " + text(scale.den), std::move(fitting));
}

void refuse_long_tile(const TilingSpec& spec, const Dims& axes, int i, std::int64_t reach) {
  const std::int64_t axis = axes[i], extent = spec.shape[axis];
  const int rank = spec.shape.size();
  // By default the last axes of an array are tiled; a short last axis most likely holds channels or bands.
  TilingSpec before = spec;
  for (int k = 0; k < spec.tile.size(); ++k) before.axes.push_back(axes[k] - 1);
  const bool maybe_last = spec.axes.empty() && axis == rank - 1 && spec.tile.size() < rank && can_be_made(before);
  if (maybe_last && extent <= 4)
    fail(ErrorCode::value, op_tiling, "tile", "axis " + text(axis) + " has " + text(extent) + " elements: channels last?",
         spec.tile, ErrorValue(Setting("axes", before.axes)));
  ErrorValue fitting("at most ", reach, " along axis ", axis);
  if (maybe_last) fitting.append(", ", Setting("axes", before.axes), " if the bands come last");
  std::vector<Setting> tails;
  for (const Tail tail : {Tail::shift_or_pad, Tail::pad, Tail::partial}) {
    TilingSpec other = spec;
    other.tail = tail;
    if (can_be_made(other)) tails.emplace_back("tail", std::string(word_of(tail)));
  }
  for (std::size_t k = 0; k < tails.size(); ++k)
    fitting.append(k == 0 ? ", or " : k + 1 == tails.size() ? " or " : ", ", tails[k]);
  fail(ErrorCode::value, op_tiling, "tile", "must not be larger than the array if the last tile is shifted", spec.tile,
       std::move(fitting));
}

}  // namespace patchfold::tiling
