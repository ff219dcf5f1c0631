// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <vector>

#include "formats/tiff_file.hpp"

namespace patchfold::formats {
namespace {

struct TextTag {
  std::uint32_t tag;
  const char* keyword;
};
constexpr TextTag text_tags[] = {
    {TIFFTAG_IMAGEDESCRIPTION, "Description"}, {TIFFTAG_ARTIST, "Author"}, {TIFFTAG_COPYRIGHT, "Copyright"}};

TIFFDataType type_of(GeoType type) {
  return type == GeoType::number ? TIFF_DOUBLE : type == GeoType::short_number ? TIFF_SHORT : TIFF_ASCII;
}

/// Returns the bytes of a field whose length libtiff counts with 32 bits; nothing if the page lacks it.
std::string bytes_field(TIFF* tiff, std::uint32_t tag) {
  std::uint32_t count = 0;
  const void* data = nullptr;
  if (TIFFGetField(tiff, tag, &count, &data) != 1 || data == nullptr) return {};
  return {static_cast<const char*>(data), count};
}

/// Returns the values of a field in the form of GeoField; nothing if the page lacks it or has it in another type.
std::string geo_field(TIFF* tiff, const GeoTag& tag) {
  const TIFFField* field = TIFFFindField(tiff, tag.tag, TIFF_ANY);
  if (field == nullptr || TIFFFieldDataType(field) != type_of(tag.type)) return {};
  std::uint32_t count = 0;
  const void* data = nullptr;
  if (TIFFFieldPassCount(field) == 0) {
    if (tag.type != GeoType::text || TIFFGetField(tiff, tag.tag, &data) != 1 || data == nullptr) return {};
    count = static_cast<std::uint32_t>(std::strlen(static_cast<const char*>(data)) + 1);
  } else if (TIFFFieldReadCount(field) == TIFF_VARIABLE2) {
    if (TIFFGetField(tiff, tag.tag, &count, &data) != 1) return {};
  } else {
    std::uint16_t short_count = 0;
    if (TIFFGetField(tiff, tag.tag, &short_count, &data) != 1) return {};
    count = short_count;
  }
  if (data == nullptr || count == 0) return {};
  std::string values(static_cast<const char*>(data), count * size_of(tag.type));
  if (tag.type == GeoType::text && values.back() != '\0') values += '\0';
  return values;
}

/// Defines the GeoTIFF and GDAL fields, which libtiff does not know.
void define_geo_tags(TIFF* tiff) {
  std::vector<TIFFFieldInfo> infos;
  for (const GeoTag& tag : geo_tags)
    infos.push_back(
        {tag.tag, TIFF_VARIABLE2, TIFF_VARIABLE2, type_of(tag.type), FIELD_CUSTOM, 1, 1, const_cast<char*>(tag.name)});
  TIFFMergeFieldInfo(tiff, infos.data(), static_cast<std::uint32_t>(infos.size()));
}

}  // namespace

Metadata tiff_metadata(TIFF* tiff) {
  Metadata metadata;
  metadata.icc = bytes_field(tiff, TIFFTAG_ICCPROFILE);
  metadata.xmp = bytes_field(tiff, TIFFTAG_XMLPACKET);
  float x = 0;
  float y = 0;
  std::uint16_t unit = RESUNIT_INCH;
  if (TIFFGetField(tiff, TIFFTAG_XRESOLUTION, &x) == 1 && TIFFGetField(tiff, TIFFTAG_YRESOLUTION, &y) == 1) {
    TIFFGetFieldDefaulted(tiff, TIFFTAG_RESOLUTIONUNIT, &unit);
    metadata.resolution = sensible({x, y,
                                    unit == RESUNIT_INCH         ? Resolution::Unit::inch
                                    : unit == RESUNIT_CENTIMETER ? Resolution::Unit::centimetre
                                                                 : Resolution::Unit::none});
  }
  std::uint16_t orientation = 1;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &orientation);
  if (orientation >= 1 && orientation <= 8) metadata.orientation = orientation;
  for (const auto& [tag, keyword] : text_tags) {
    const char* text = nullptr;
    if (TIFFGetField(tiff, tag, &text) == 1 && text != nullptr && *text != '\0')
      metadata.texts.emplace_back(keyword, utf8_of(text));
  }
  for (const GeoTag& tag : geo_tags)
    if (std::string values = geo_field(tiff, tag); !values.empty()) metadata.geo.push_back({tag.tag, std::move(values)});
  return metadata;
}

bool set_tiff_metadata(TIFF* tiff, const Metadata& metadata) {
  bool done = TIFFSetField(tiff, TIFFTAG_ORIENTATION, metadata.orientation) != 0;
  const auto set_bytes = [&](std::uint32_t tag, const std::string& bytes) {
    if (!bytes.empty()) done = done && TIFFSetField(tiff, tag, static_cast<std::uint32_t>(bytes.size()), bytes.data()) != 0;
  };
  set_bytes(TIFFTAG_ICCPROFILE, metadata.icc);
  set_bytes(TIFFTAG_XMLPACKET, metadata.xmp);
  if (metadata.resolution) {
    Resolution resolution = *metadata.resolution;
    if (resolution.unit == Resolution::Unit::metre) resolution = resolution_in(resolution, Resolution::Unit::inch);
    const int unit = resolution.unit == Resolution::Unit::inch         ? RESUNIT_INCH
                     : resolution.unit == Resolution::Unit::centimetre ? RESUNIT_CENTIMETER
                                                                       : RESUNIT_NONE;
    done = done && TIFFSetField(tiff, TIFFTAG_XRESOLUTION, resolution.x) != 0 &&
           TIFFSetField(tiff, TIFFTAG_YRESOLUTION, resolution.y) != 0 &&
           TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, unit) != 0;
  }
  for (const auto& [keyword, text] : metadata.texts)
    for (const auto& [tag, name] : text_tags)
      if (keyword == name) done = done && TIFFSetField(tiff, tag, text.c_str()) != 0;
  if (metadata.geo.empty()) return done;
  define_geo_tags(tiff);
  for (const GeoField& field : metadata.geo)
    for (const GeoTag& tag : geo_tags)
      if (tag.tag == field.tag)
        done = done && TIFFSetField(tiff, field.tag, static_cast<std::uint32_t>(field.values.size() / size_of(tag.type)),
                                    field.values.data()) != 0;
  return done;
}

std::size_t metadata_bytes(const Metadata& metadata) noexcept {
  std::size_t bytes = metadata.icc.size() + metadata.xmp.size();
  for (const auto& [keyword, text] : metadata.texts) bytes += text.size();
  for (const GeoField& field : metadata.geo) bytes += field.values.size();
  return bytes;
}

}  // namespace patchfold::formats
