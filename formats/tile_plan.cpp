// SPDX-License-Identifier: Apache-2.0
// A plan is parsed twice: once for all members except the tiles, and once for the tiles. Each tile is checked and then dropped, so
// that of a million tiles only names and checksums are in memory.
#include "formats/tile_plan.hpp"

#include <algorithm>

#include "formats/file.hpp"
#include "formats/json_value.hpp"
#include "formats/output_file.hpp"
#include "patchfold/table.hpp"
#include "src/base/fail.hpp"

namespace patchfold::formats {
namespace {

using Json = JsonValue;

constexpr const char* format_name = "patchfold tiles";
constexpr int newest_version = 1;
constexpr int most_depth = 16;

/// Reads the members of a plan; errors name the wrong member.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : path_(path) {}

  Subject subject() const noexcept { return {"plan", path_}; }
  [[noreturn]] void fail(const std::string& member, const std::string& rule, const std::string& given = {},
                         const std::string& expected = {}) const {
    subject().fail(ErrorCode::file_format, "member " + member + " " + rule, given, expected);
  }
  [[noreturn]] void fail_value(const std::string& member, const std::string& rule, const Json& value) const {
    fail(member, rule, excerpt(to_string(value)));
  }

  const Json& member(const Json& object, const std::string& parent, const char* name) const {
    const std::string path = parent.empty() ? name : parent + "." + name;
    if (const auto* members = object.as<Json::Object>())
      if (const auto found = members->find(name); found != members->end()) return found->second;
    fail(path, "is missing");
  }
  const Json& object(const Json& parent, const char* name) const {
    const Json& value = member(parent, "", name);
    if (value.as<Json::Object>() == nullptr) fail_value(name, "must be an object", value);
    return value;
  }
  const std::string& string(const Json& parent, const std::string& name, const char* key) const {
    const Json& value = member(parent, name, key);
    if (const auto* text = value.as<std::string>()) return *text;
    fail_value(name + "." + key, "must be a string", value);
  }
  /// Returns the value that a word stands for. A word whose value `allows` refuses is an error, as an unknown word is.
  template <class E>
  E choice(const Json& parent, const std::string& name, const char* key, bool (*allows)(E) noexcept = nullptr) const {
    const auto value = patchfold::value_of<E>(string(parent, name, key));
    if (value && (allows == nullptr || allows(*value))) return *value;
    fail_value(name + "." + key, "must be " + listed_words<E>(allows), member(parent, name, key));
  }
  std::int64_t integer(const Json& value, const std::string& name) const {
    if (const auto* number = value.as<std::int64_t>()) return *number;
    fail_value(name, "must hold integers", value);
  }
  Dims dims(const Json& parent, const std::string& name, const char* key) const {
    const std::string path = name + "." + key;
    const Json& given = member(parent, name, key);
    const auto* list = given.as<Json::Array>();
    if (list == nullptr || list->size() > max_rank) fail_value(path, "must be a list of integers", given);
    Dims values;
    for (const Json& value : *list) values.push_back(integer(value, path));
    return values;
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs(const Json& parent, const std::string& name,
                                                           const char* key) const {
    const std::string path = name + "." + key;
    const Json& given = member(parent, name, key);
    const auto* list = given.as<Json::Array>();
    if (list == nullptr || list->size() > max_rank) fail_value(path, "must be a list of pairs", given);
    std::vector<std::pair<std::int64_t, std::int64_t>> values;
    for (const Json& value : *list) {
      const auto* pair = value.as<Json::Array>();
      if (pair == nullptr || pair->size() != 2) fail_value(path, "must be a list of pairs", given);
      values.emplace_back(integer((*pair)[0], path), integer((*pair)[1], path));
    }
    return values;
  }

 private:
  const std::filesystem::path& path_;
};

/// Returns the plan without its tiles; calls at_tile for each tile.
template <class F>
Json parse(const FileBytes& file, const Reader& reader, F&& at_tile) {
  const std::string_view text(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
  const auto keeps = [&](const std::string& key, const Json& value) {
    if (key != "tiles") return true;
    if (value.as<Json::Object>() == nullptr) reader.fail("tiles", "must be a list of objects");
    at_tile(value);
    return false;
  };
  try {
    Json json = parse_json(text, most_depth, keeps);
    if (json.as<Json::Object>() == nullptr) reader.subject().fail(ErrorCode::file_format, "must be a JSON object");
    return json;
  } catch (const JsonError& error) {
    switch (error.kind) {
      case JsonError::Kind::depth: reader.subject().fail(ErrorCode::file_format, "must not be nested so deeply");
      case JsonError::Kind::number:
        reader.subject().fail(ErrorCode::file_format, "must be JSON with numbers of at most 64 bits");
      default:
        reader.subject().fail(ErrorCode::file_format, "must be JSON",
                              "something else at byte " + std::to_string(error.byte));
    }
  }
}

Scalar value_of(const Json& value, const Reader& reader, const char* member = "tiling.value") {
  if (const auto* number = value.as<std::uint64_t>()) return *number;
  if (const auto* number = value.as<std::int64_t>()) return *number;
  if (const auto* text = value.as<std::string>()) try {
      return std::get<Scalar>(parse_value({}, {.name = "value", .kind = ArgumentKind::number}, *text));
    } catch (const Error&) {
    }
  reader.fail_value(member, "must be a number", value);
}

TilingSpec spec_of(const Json& tiling, const Reader& reader) {
  constexpr const char* name = "tiling";
  TilingSpec spec;
  spec.shape = reader.dims(tiling, name, "shape");
  spec.axes = reader.dims(tiling, name, "axes");
  spec.tile = reader.dims(tiling, name, "tile");
  spec.stride = reader.dims(tiling, name, "stride");
  spec.offset = reader.dims(tiling, name, "offset");
  spec.result = reader.dims(tiling, name, "result");
  spec.tail = reader.choice<Tail>(tiling, name, "tail");
  spec.padding_mode = reader.choice<PaddingMode>(tiling, name, "padding_mode");
  spec.value = value_of(reader.member(tiling, name, "value"), reader);
  if (tiling.as<Json::Object>()->contains("align")) spec.align = reader.dims(tiling, name, "align");
  for (const auto& [num, den] : reader.pairs(tiling, name, "scale")) spec.scale.push_back({num, den});
  spec.output = reader.dims(tiling, name, "output");
  if (tiling.as<Json::Object>()->contains("margin")) {
    Dims before, behind;
    for (const auto& [first, second] : reader.pairs(tiling, name, "margin")) {
      before.push_back(first);
      behind.push_back(second);
    }
    if (before.size() != spec.tile.size()) reader.fail("tiling.margin", "must have an entry for each extent of the tile");
    spec.margin = before;
    spec.margin_end = behind;
  }
  const std::pair<const char*, int> lengths[] = {
      {"axes", spec.axes.size()},     {"stride", spec.stride.values().size()},
      {"offset", spec.offset.size()}, {"result", spec.result.size()},
      {"output", spec.output.size()}, {"scale", static_cast<int>(spec.scale.size())}};
  for (const auto& [key, length] : lengths)
    if (length != spec.tile.size())
      reader.fail(std::string("tiling.") + key, "must have an entry for each extent of the tile");
  return spec;
}

Tiling tiling_of(const Json& json, const Reader& reader) {
  const Json& given = reader.object(json, "tiling");
  try {
    Tiling tiling(spec_of(given, reader));
    if (tiling.size() == 0) reader.fail("tiling", "must have tiles");
    const Json own = parse_json(tiling.to_json(false), most_depth);
    for (const auto& [key, value] : *own.as<Json::Object>())
      if (const Json& found = reader.member(given, "tiling", key.c_str()); key != "value" && !(found == value))
        reader.fail_value("tiling." + key, "must follow from the others: " + to_string(value), found);
    return tiling;
  } catch (const Error& error) {
    if (error.op() == "plan") throw;
    reader.fail("tiling", "must be a tiling: " + std::string(error.what()));
  }
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.size() <= 255 &&
         std::none_of(name.begin(), name.end(), [](char c) { return c == '/' || c == '\\' || c == '\0'; });
}

/// The name of one list of spans of a tile in a plan, and the function that computes each span from the tiling.
struct SpanList {
  const char* name;
  Span (*span)(const TileSpan&);
};
constexpr SpanList span_lists[] = {
    {"read", [](const TileSpan& s) { return s.read; }},
    {"pad", [](const TileSpan& s) { return s.padding(); }},
    {"write", [](const TileSpan& s) { return s.write; }},
    {"keep", [](const TileSpan& s) { return s.keep; }},
};

void read_tile(const Json& json, TilePlan& plan, const Reader& reader) {
  const auto index = static_cast<std::int64_t>(plan.files.size());
  const std::string name = "tiles[" + std::to_string(index) + "]";
  if (index == plan.tiling.size())
    reader.fail("tiles", "must not list more tiles than the tiling has", "", std::to_string(index));
  if (reader.integer(reader.member(json, name, "index"), name + ".index") != index)
    reader.fail_value(name + ".index", "must be " + std::to_string(index), reader.member(json, name, "index"));
  const bool has_file = !plan.empty || reader.member(json, name, "file").as<std::monostate>() == nullptr;
  const std::string file = has_file ? reader.string(json, name, "file") : "";
  if (has_file && !is_plain_name(file))
    reader.fail_value(name + ".file", "must be the plain name of a file in the folder", reader.member(json, name, "file"));
  const std::int64_t crc = reader.integer(reader.member(json, name, "crc32"), name + ".crc32");
  if (crc < 0 || crc > std::int64_t{UINT32_MAX})
    reader.fail_value(name + ".crc32", "must be a number of 32 bits", reader.member(json, name, "crc32"));
  const Tile tile = plan.tiling[index];
  for (const auto& [key, span_of] : span_lists) {
    Json::Array spans;
    for (const TileSpan& span : tile.spans) {
      const Span pair = span_of(span);
      spans.emplace_back(Json::Array{Json(pair.begin), Json(pair.end)});
    }
    const Json expected(std::move(spans));
    const Json& given = reader.member(json, name, key);
    if (!(given == expected))
      reader.fail_value(name + "." + key, "must be as the tiling has it, " + to_string(expected), given);
  }
  plan.files.push_back(file);
  plan.crcs.push_back(static_cast<std::uint32_t>(crc));
}

std::string tile_line(const TilePlan& plan, std::int64_t index) {
  const auto at = static_cast<std::size_t>(index);
  const Tile tile = plan.tiling[index];
  std::string line =
      "  {\"index\": " + std::to_string(index) + ", \"file\": " + (plan.files[at].empty() ? "null" : quoted(plan.files[at]));
  for (const auto& [key, span_of] : span_lists) {
    line += std::string(", \"") + key + "\": [";
    for (std::size_t i = 0; i < tile.spans.size(); ++i) {
      const Span span = span_of(tile.spans[i]);
      line += (i ? ", [" : "[") + std::to_string(span.begin) + ", " + std::to_string(span.end) + "]";
    }
    line += "]";
  }
  return line + ", \"crc32\": " + std::to_string(plan.crcs[at]) + "}";
}

}  // namespace

std::string type_text(const ElementType& type) {
  return type.dtype == DType::opaque ? type.descr : std::string(name_of(type.dtype));
}

TilePlan read_tile_plan(const std::filesystem::path& path) {
  const Reader reader(path);
  const FileBytes file = open_file(reader.subject());
  std::int64_t count = 0;
  const Json json = parse(file, reader, [&](const Json&) { ++count; });
  const Json& format = reader.member(json, "", "format");
  if (!(format == Json(std::string(format_name)))) reader.fail_value("format", "must be \"patchfold tiles\"", format);
  if (const auto version = reader.integer(reader.member(json, "", "version"), "version"); version != newest_version)
    reader.subject().fail(ErrorCode::file_unsupported, "is of a version that is not read", std::to_string(version),
                          std::to_string(newest_version));
  TilePlan plan{.tiling = tiling_of(json, reader)};
  const Json& source = reader.object(json, "source");
  plan.source = reader.string(source, "source", "file");
  plan.type = reader.string(source, "source", "type");
  if (const Json& page = reader.member(source, "source", "page"); page.as<std::monostate>() == nullptr) {
    const auto number = reader.integer(page, "source.page");
    if (number < 0 || number > INT32_MAX) reader.fail_value("source.page", "must be a page", page);
    plan.page = static_cast<int>(number);
  }
  if (const auto found = source.as<Json::Object>()->find("metadata"); found != source.as<Json::Object>()->end()) try {
      plan.metadata = metadata_of(found->second);
    } catch (const std::string& member) {
      reader.fail("source.metadata" + (member == "metadata" ? std::string() : "." + member), "must be as split wrote it");
    }
  if (const auto found = json.as<Json::Object>()->find("empty"); found != json.as<Json::Object>()->end())
    plan.empty = value_of(found->second, reader, "empty");
  if (reader.member(json, "", "tiles").as<Json::Array>() == nullptr) reader.fail("tiles", "must be a list of objects");
  if (count != plan.tiling.size())
    reader.fail("tiles", "must list every tile", std::to_string(count), std::to_string(plan.tiling.size()));
  parse(file, reader, [&](const Json& tile) { read_tile(tile, plan, reader); });
  if (static_cast<std::int64_t>(plan.files.size()) != count) reader.fail("tiles", "must list every tile");
  auto names = plan.files;
  std::erase(names, "");
  std::sort(names.begin(), names.end());
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
    reader.fail("tiles", "must not name a file twice", excerpt(*twice));
  return plan;
}

void write_tile_plan(const std::filesystem::path& path, const TilePlan& plan) {
  OutputFile file(path, "plan");
  std::string text = "{\"format\": " + quoted(format_name) + ", \"version\": " + std::to_string(newest_version) +
                     ",\n \"source\": {\"file\": " + quoted(plan.source) +
                     ", \"page\": " + (plan.page ? std::to_string(*plan.page) : "null") +
                     ", \"type\": " + quoted(plan.type) +
                     (plan.metadata == Metadata{} ? "" : ", \"metadata\": " + to_string(json_of(plan.metadata))) +
                     "},\n \"tiling\": " + plan.tiling.to_json(false) +
                     (plan.empty ? ",\n \"empty\": " + quoted(to_string(*plan.empty)) : "") + ",\n \"tiles\": [\n";
  for (std::int64_t index = 0; index < plan.tiling.size(); ++index) {
    text += tile_line(plan, index) + (index + 1 < plan.tiling.size() ? ",\n" : "\n");
    if (text.size() < 1 << 16) continue;
    file.write(text.data(), text.size());
    text.clear();
  }
  text += " ]}\n";
  file.write(text.data(), text.size());
  file.commit();
}

std::optional<std::string> difference(const TilePlan& a, const TilePlan& b) {
  const auto known = [](const std::string& name) { return *parse_json(quoted(name), 1).as<std::string>(); };
  if (known(a.source) != known(b.source)) return "source.file";
  if (a.page != b.page) return "source.page";
  if (a.type != b.type) return "source.type";
  const Json one = parse_json(a.tiling.to_json(false), most_depth);
  const Json other = parse_json(b.tiling.to_json(false), most_depth);
  const auto member = [](const Json& tiling, const char* key) {
    const auto found = tiling.as<Json::Object>()->find(key);
    return found == tiling.as<Json::Object>()->end() ? Json() : found->second;
  };
  for (const char* key :
       {"shape", "axes", "tile", "stride", "tail", "padding_mode", "scale", "offset", "result", "align", "margin", "output"})
    if (!(member(other, key) == member(one, key))) return std::string("tiling.") + key;
  if (to_string(a.tiling.spec().value) != to_string(b.tiling.spec().value)) return "tiling.value";
  if (a.empty.has_value() != b.empty.has_value() || (a.empty && to_string(*a.empty) != to_string(*b.empty))) return "empty";
  const auto same = [](const std::string& one, const std::string& other) {
    return one == other || one.empty() || other.empty();  // a plan is compared before it is known which tiles are empty
  };
  if (!std::ranges::equal(a.files, b.files, same)) return "tiles";
  return std::nullopt;
}

}  // namespace patchfold::formats
