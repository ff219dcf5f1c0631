// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "formats/metadata.hpp"

namespace patchfold::formats {
namespace {

using Json = JsonValue;

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr const char* unit_names[] = {"none", "inch", "centimetre", "metre"};

std::string base64_of(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? digits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string bytes_of(const std::string& text, const char* member) {
  std::string bytes;
  if (text.size() % 4 != 0) throw std::string(member);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::uint32_t group = 0;
    std::size_t count = 3;
    for (std::size_t k = 0; k < 4; ++k) {
      const bool is_end = text[i + k] == '=' && i + 4 == text.size() && k >= 2;
      const auto digit = is_end ? 0 : digits.find(text[i + k]);
      if (digit == std::string_view::npos) throw std::string(member);
      if (is_end) count = std::min(count, k - 1);
      group = group << 6 | static_cast<std::uint32_t>(digit);
    }
    for (std::size_t k = 0; k < count; ++k) bytes += static_cast<char>(group >> (16 - 8 * k) & 255);
  }
  return bytes;
}

template <class T>
const T& value_of(const Json& json, const char* member) {
  if (const T* value = json.as<T>()) return *value;
  throw std::string(member);
}

double number_of(const Json& json, const char* member) {
  if (const auto* number = json.as<std::int64_t>()) return static_cast<double>(*number);
  return value_of<double>(json, member);
}

}  // namespace

JsonValue json_of(const Metadata& metadata) {
  Json::Object object;
  const auto add_bytes = [&](const char* name, const std::string& bytes) {
    if (!bytes.empty()) object.insert_or_assign(name, Json(base64_of(bytes)));
  };
  add_bytes("icc", metadata.icc);
  add_bytes("exif", metadata.exif);
  add_bytes("xmp", metadata.xmp);
  if (metadata.orientation != 1) object.insert_or_assign("orientation", Json(std::int64_t{metadata.orientation}));
  if (const auto& resolution = metadata.resolution)
    object.insert_or_assign("resolution",
                            Json(Json::Array{Json(resolution->x), Json(resolution->y),
                                             Json(std::string(unit_names[static_cast<int>(resolution->unit)]))}));
  Json::Array texts;
  for (const auto& [keyword, text] : metadata.texts) texts.emplace_back(Json::Array{Json(keyword), Json(text)});
  if (!texts.empty()) object.insert_or_assign("texts", Json(std::move(texts)));
  Json::Array geo;
  for (const GeoField& field : metadata.geo)
    geo.emplace_back(Json::Array{Json(std::int64_t{field.tag}), Json(base64_of(field.values))});
  if (!geo.empty()) object.insert_or_assign("geo", Json(std::move(geo)));
  Json::Array colours;
  for (const auto& [name, data] : metadata.colours) colours.emplace_back(Json::Array{Json(name), Json(base64_of(data))});
  if (!colours.empty()) object.insert_or_assign("colours", Json(std::move(colours)));
  return Json(std::move(object));
}

Metadata metadata_of(const JsonValue& json) {
  const auto& object = value_of<Json::Object>(json, "metadata");
  const auto member = [&](const char* name) -> const Json* {
    const auto found = object.find(name);
    return found == object.end() ? nullptr : &found->second;
  };
  const auto for_each_pair = [&](const char* name, auto&& f) {
    if (const Json* value = member(name))
      for (const Json& entry : value_of<Json::Array>(*value, name)) {
        const auto& pair = value_of<Json::Array>(entry, name);
        if (pair.size() != 2) throw std::string(name);
        f(pair[0], pair[1]);
      }
  };
  Metadata metadata;
  for (const auto& [name, bytes] : {std::pair{"icc", &metadata.icc}, {"exif", &metadata.exif}, {"xmp", &metadata.xmp}})
    if (const Json* value = member(name)) *bytes = bytes_of(value_of<std::string>(*value, name), name);
  if (const Json* value = member("orientation")) {
    const auto number = value_of<std::int64_t>(*value, "orientation");
    if (number < 1 || number > 8) throw std::string("orientation");
    metadata.orientation = static_cast<int>(number);
  }
  if (const Json* value = member("resolution")) {
    const auto& list = value_of<Json::Array>(*value, "resolution");
    if (list.size() != 3) throw std::string("resolution");
    const auto& name = value_of<std::string>(list[2], "resolution");
    const auto* unit = std::find(std::begin(unit_names), std::end(unit_names), name);
    if (unit == std::end(unit_names)) throw std::string("resolution");
    metadata.resolution = sensible({number_of(list[0], "resolution"), number_of(list[1], "resolution"),
                                    static_cast<Resolution::Unit>(unit - std::begin(unit_names))});
    if (!metadata.resolution) throw std::string("resolution");
  }
  for_each_pair("texts", [&](const Json& keyword, const Json& text) {
    metadata.texts.emplace_back(value_of<std::string>(keyword, "texts"), value_of<std::string>(text, "texts"));
  });
  for_each_pair("geo", [&](const Json& first, const Json& second) {
    const auto tag = value_of<std::int64_t>(first, "geo");
    std::string values = bytes_of(value_of<std::string>(second, "geo"), "geo");
    const auto* known =
        std::find_if(std::begin(geo_tags), std::end(geo_tags), [&](const GeoTag& each) { return each.tag == tag; });
    if (known == std::end(geo_tags) || values.empty() || values.size() % size_of(known->type) != 0 ||
        (known->type == GeoType::text && values.back() != '\0'))
      throw std::string("geo");
    metadata.geo.push_back({known->tag, std::move(values)});
  });
  for_each_pair("colours", [&](const Json& first, const Json& second) {
    const auto& name = value_of<std::string>(first, "colours");
    std::string data = bytes_of(value_of<std::string>(second, "colours"), "colours");
    if (!((name == "gAMA" && data.size() == 4) || (name == "cHRM" && data.size() == 32) ||
          (name == "sRGB" && data.size() == 1)))
      throw std::string("colours");
    metadata.colours.emplace_back(name, std::move(data));
  });
  return metadata;
}

}  // namespace patchfold::formats
