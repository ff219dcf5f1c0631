// SPDX-License-Identifier: Apache-2.0
#include "cli/named_tiles.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "cli/report.hpp"
#include "cli/text.hpp"
#include "cli/tile_files.hpp"
#include "formats/file.hpp"
#include "src/base/checked.hpp"

namespace patchfold::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view fields[] = {"index", "row", "column", "y", "x"};
enum Field : std::size_t { index, row, column, y, x };

/// The text that names of tiles consist of: literal texts with a field between each two.
struct Pattern {
  std::vector<std::string> literals{};  ///< one more than there are fields
  std::vector<std::size_t> kinds{};     ///< the place of each field in `fields`

  bool has(std::size_t field) const { return std::ranges::find(kinds, field) != kinds.end(); }
};

[[noreturn]] void refuse_pattern(const std::string& text) {
  fail_usage("merge", "--pattern", "must have {row} and {column}, {y} and {x}, or {index}, with texts between them", text,
             "tile_{row}_{column}.png");
}

Pattern pattern_of(const std::string& text) {
  Pattern pattern;
  std::size_t at = 0;
  for (std::size_t open = text.find('{'); open != std::string::npos; open = text.find('{', at)) {
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos) refuse_pattern(text);
    const auto* found = std::ranges::find(fields, std::string_view(text).substr(open + 1, close - open - 1));
    const auto kind = static_cast<std::size_t>(found - fields);
    if (found == std::end(fields) || pattern.has(kind) || (!pattern.kinds.empty() && open == at)) refuse_pattern(text);
    pattern.literals.push_back(text.substr(at, open - at));
    pattern.kinds.push_back(kind);
    at = close + 1;
  }
  pattern.literals.push_back(text.substr(at));
  const bool is_place =
      pattern.kinds.size() == 2 && ((pattern.has(row) && pattern.has(column)) || (pattern.has(y) && pattern.has(x)));
  if (!is_place && !(pattern.kinds.size() == 1 && pattern.has(index))) refuse_pattern(text);
  return pattern;
}

/// A file whose name fits the pattern.
struct Named {
  std::string file{};
  std::array<std::int64_t, std::size(fields)> numbers{};  ///< the number of each field that the pattern has
  std::array<std::int64_t, 2> extents{};                  ///< height and width
};

/// Reads the numbers in a name. Returns whether the name fits the pattern.
bool read_numbers(const Pattern& pattern, std::string_view name, Named& tile) {
  for (std::size_t i = 0;; ++i) {
    if (!name.starts_with(pattern.literals[i])) return false;
    name.remove_prefix(pattern.literals[i].size());
    if (i == pattern.kinds.size()) return name.empty();
    std::int64_t& number = tile.numbers[pattern.kinds[i]];
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || number < 0) return false;
    name.remove_prefix(static_cast<std::size_t>(end - name.data()));
  }
}

/// Returns the name that the pattern gives to numbers.
std::string name_of(const Pattern& pattern, const std::array<std::int64_t, std::size(fields)>& numbers) {
  std::string name = pattern.literals[0];
  for (std::size_t i = 0; i < pattern.kinds.size(); ++i) name += text_of(numbers[pattern.kinds[i]], pattern.literals[i + 1]);
  return name;
}

/// The tiles of a folder, and what they have in common.
struct Folder {
  std::vector<Named> tiles{};
  Dims channels{};  ///< of a tile: one extent, or none
};

Folder read_folder(const MergeRequest& request, const Pattern& pattern) {
  Folder folder;
  for (const std::string& name : formats::names_in(request.folder, "merge")) {
    Named tile{name};
    if (!read_numbers(pattern, name, tile)) continue;
    const auto reader = formats::open_rows(fs::path(request.folder) / name);
    const Dims& shape = reader->shape();
    if (shape.size() < 2 || shape.size() > 3)
      throw Error({ErrorCode::shape, "merge", name, "must be H x W or H x W x C", extents_text(shape)});
    folder.channels = shape.slice(2, shape.size());
    tile.extents = {shape[0], shape[1]};
    folder.tiles.push_back(tile);
  }
  if (folder.tiles.empty())
    throw Error(
        {ErrorCode::file_open, "merge", request.folder, "holds no file whose name fits the pattern", request.pattern});
  std::ranges::sort(folder.tiles, {}, &Named::file);
  return folder;
}

/// Returns the extent of the whole along an axis: where the tiles end. `origin_of` returns where a tile begins.
template <class F>
std::int64_t end_of(const Folder& folder, std::size_t axis, F origin_of) {
  std::int64_t end = 0;
  for (const Named& tile : folder.tiles) {
    const Checked origin = origin_of(tile);
    if (!origin.is_below())
      throw Error({ErrorCode::overflow, "merge", tile.file, "must begin before element 2^60"});
    end = std::max(end, std::max<std::int64_t>(*origin.value(), 0) + tile.extents[axis]);
  }
  return end;
}

/// Returns the options for tiles that also hold pixels of each neighbour, equally many on each side, but none beyond the
/// picture; empty if the folder's tiles are no such tiles.
std::string options_of_margin(const Folder& folder, const TilingSpec& given) {
  TilingSpec spec = given;
  std::int64_t margin = 0;
  Dims end = Dims::filled(2, 0);
  for (int i = 0; i < 2; ++i) {
    const auto axis = static_cast<std::size_t>(i);
    const auto extent = [&](const Named& tile) { return tile.extents[axis]; };
    spec.tile[i] = extent(*std::ranges::max_element(folder.tiles, {}, extent));
    for (const Named& tile : folder.tiles)
      if (tile.numbers[row + axis] == 0) margin = std::max(margin, spec.tile[i] - extent(tile));
  }
  if (margin < 1 || margin > std::min(spec.tile[0], spec.tile[1]) / 4) return {};
  const auto start = [&](const Named& tile, int i) {
    return std::max<std::int64_t>(0, tile.numbers[row + static_cast<std::size_t>(i)] * (spec.tile[i] - 2 * margin) - margin);
  };
  for (const Named& tile : folder.tiles)
    for (int i = 0; i < 2; ++i) end[i] = std::max(end[i], start(tile, i) + tile.extents[static_cast<std::size_t>(i)]);
  for (const Named& tile : folder.tiles)
    for (int i = 0; i < 2; ++i) {
      const std::int64_t stop = (tile.numbers[row + static_cast<std::size_t>(i)] + 1) * (spec.tile[i] - 2 * margin) + margin;
      if (tile.extents[static_cast<std::size_t>(i)] != std::min(stop, end[i]) - start(tile, i)) return {};
    }
  const std::string tile = spec.tile[0] == spec.tile[1] ? text_of(spec.tile[0]) : text_of(spec.tile[0], ",", spec.tile[1]);
  return text_of("--tile ", tile, " --overlap ", 2 * margin, " --margin ", margin, " --tail partial if tiles also hold ",
                 margin, margin == 1 ? " pixel" : " pixels", " of each neighbour, as in Deep Zoom");
}

}  // namespace

formats::TilePlan plan_of_names(const MergeRequest& request) {
  const Pattern pattern = pattern_of(request.pattern);
  if (pattern.has(index) && request.shape.empty())
    fail_usage("merge", "--shape", "is required if the pattern has {index}", "",
               "the height and width of the whole: 4000,6000");
  Folder folder = read_folder(request, pattern);
  TilingSpec spec = request.spec;
  const bool has_places = pattern.has(y);
  const std::array<std::size_t, 2> kinds =
      has_places ? std::array<std::size_t, 2>{y, x} : std::array<std::size_t, 2>{row, column};

  spec.tile = Dims::filled(2, 0);
  for (int i = 0; i < 2; ++i)
    for (const Named& tile : folder.tiles) spec.tile[i] = std::max(spec.tile[i], tile.extents[static_cast<std::size_t>(i)]);
  if (!request.tile.empty())
    spec.tile = request.tile.is_scalar() ? Dims::filled(2, request.tile.values()[0]) : request.tile.values();
  if (spec.tile.size() != 2)
    fail_usage("merge", "--tile", "must be one number, or two: height and width", to_string(spec.tile), "512, or 512,256");
  spec.axes = {0, 1};
  const bool has_distance = !spec.overlap.empty() || !spec.stride.empty() || !spec.overlap_fraction.empty();
  if (has_places && !has_distance) {
    Dims stride;
    for (const std::size_t kind : kinds) {
      std::set<std::int64_t> places;
      for (const Named& tile : folder.tiles) places.insert(tile.numbers[kind]);
      const std::int64_t next = places.size() > 1 ? *std::next(places.begin()) - *places.begin() : 0;
      stride.push_back(next > 0 ? next : spec.tile[stride.size()]);
    }
    spec.stride = stride;
  }
  // Tools number rows and columns from 0 or from 1.
  if (!has_places)
    for (const std::size_t kind :
         pattern.has(index) ? std::vector<std::size_t>{index} : std::vector<std::size_t>{row, column}) {
      const auto least =
          std::ranges::min(folder.tiles, {}, [&](const Named& tile) { return tile.numbers[kind]; }).numbers[kind];
      if (least == 1)
        for (Named& tile : folder.tiles) --tile.numbers[kind];
    }
  spec.shape = request.shape;
  if (spec.shape.empty()) {
    TilingSpec any = spec;  // its strides and margins do not depend on the shape
    any.shape = spec.tile;
    any.tail = Tail::drop;
    const Tiling known(any);
    for (int i = 0; i < 2; ++i)
      spec.shape.push_back(end_of(folder, static_cast<std::size_t>(i), [&](const Named& tile) {
        const Checked number = tile.numbers[kinds[static_cast<std::size_t>(i)]];
        return has_places ? number : number * known.stride()[i] - Checked(known.margin()[i]);
      }));
    // Tiles that end with the whole are shorter, or begin earlier than the others.
    bool is_shifted = false;
    for (const Named& tile : folder.tiles)
      for (int i = 0; i < 2; ++i)
        is_shifted |=
            has_places && (tile.numbers[kinds[static_cast<std::size_t>(i)]] + known.margin()[i]) % known.stride()[i] != 0;
    if (!request.has_tail) spec.tail = is_shifted ? Tail::shift : Tail::partial;
  } else if (spec.shape.size() != 2) {
    fail_usage("merge", "--shape", "must be the height and width of the whole", to_string(request.shape), "4000,6000");
  }
  for (const std::int64_t extent : folder.channels) spec.shape.push_back(extent);

  formats::TilePlan plan{.tiling = Tiling(spec)};
  const Tiling& tiling = plan.tiling;
  const auto count = static_cast<std::size_t>(tiling.size());
  if (tiling.size() > std::int64_t{1} << 24)
    throw Error({ErrorCode::value, "merge", "--tile", "must not give so many tiles", std::to_string(tiling.size()),
                 "at most " + std::to_string(1 << 24)});
  for (std::int64_t k = 0; k < tiling.size(); ++k) {
    const Tile tile = tiling[k];
    plan.files.push_back(
        name_of(pattern, {k, tile.position[0], tile.position[1], tile.spans[0].origin, tile.spans[1].origin}));
  }
  std::vector<bool> is_there(count);
  for (const Named& named : folder.tiles) {
    std::int64_t at = pattern.has(index) ? named.numbers[index] : 0;
    for (int i = 0; i < 2 && !pattern.has(index); ++i) {
      const std::int64_t number = named.numbers[kinds[static_cast<std::size_t>(i)]];
      std::int64_t k = has_places ? 0 : number;
      if (has_places)
        while (k < tiling.grid()[i] && tiling.span(i, k).origin < number) ++k;
      if (k >= tiling.grid()[i] || (has_places && tiling.span(i, k).origin != number))
        throw Error({ErrorCode::value, "merge", named.file, "must lie where a tile of the grid lies",
                     text_of(fields[kinds[static_cast<std::size_t>(i)]], " ", number),
                     text_of(tiling.grid()[i], " tiles of ", tiling.spec().tile[i], ", ", tiling.stride()[i], " apart, in ",
                             tiling.spec().shape[i], "; patchfold.Boxes in Python takes any places")});
      at = at * tiling.grid()[i] + k;
    }
    if (at >= tiling.size())
      throw Error({ErrorCode::value, "merge", named.file, "must be the number of a tile", std::to_string(at),
                   "less than " + std::to_string(tiling.size())});
    const auto place = static_cast<std::size_t>(at);
    if (is_there[place])
      throw Error({ErrorCode::value, "merge", named.file, "must not lie where another tile lies", plan.files[place]});
    is_there[place] = true;
    plan.files[place] = named.file;
    const Tile tile = tiling[at];
    const Dims size{tile.spans[0].extent, tile.spans[1].extent};
    if (size[0] != named.extents[0] || size[1] != named.extents[1])
      throw Error({ErrorCode::shape, "merge", named.file, "must have the size that its place in the grid has",
                   extents_text({named.extents[0], named.extents[1]}), extents_text(size),
                   has_places || pattern.has(index) ? std::string() : options_of_margin(folder, spec)});
  }
  plan.crcs.resize(count);
  const auto first = static_cast<std::size_t>(std::ranges::find(is_there, true) - is_there.begin());
  const Tile place = tiling[static_cast<std::int64_t>(first)];
  const auto reader = formats::open_rows(fs::path(request.folder) / plan.files[first]);
  plan.type = formats::type_text(reader->type());
  plan.metadata = formats::metadata_of_part(reader->metadata(), -place.spans[0].origin, -place.spans[1].origin);
  return plan;
}

}  // namespace patchfold::cli
