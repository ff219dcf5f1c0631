// SPDX-License-Identifier: Apache-2.0
#include "formats/metadata.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "formats/file.hpp"

namespace patchfold::formats {
namespace {

constexpr std::uint32_t pixel_scale_tag = 33550;
constexpr std::uint32_t tiepoint_tag = 33922;
constexpr std::uint32_t transformation_tag = 34264;
constexpr std::uint32_t key_directory_tag = 34735;
constexpr std::uint32_t gdal_metadata_tag = 42112;
constexpr std::uint32_t gdal_nodata_tag = 42113;
/// The most bytes of data in a JPEG marker.
constexpr std::size_t most_in_marker = 65533;
constexpr std::size_t most_icc_in_jpeg = 255 * (most_in_marker - 14);

/// Returns whether a resolution, already in the unit of a format, fits that format's integers.
bool fits_integers(const Resolution& resolution, double most) {
  return std::max(resolution.x, resolution.y) < most;
}

bool is_text_of(FileFormat format, const std::string& keyword) {
  switch (format) {
    case FileFormat::png: return true;
    case FileFormat::jpeg: return keyword == "Comment";
    case FileFormat::tiff: return keyword == "Description" || keyword == "Author" || keyword == "Copyright";
    default: return false;
  }
}

const char* name_of(FileFormat format) {
  switch (format) {
    case FileFormat::png: return "PNG";
    case FileFormat::jpeg: return "JPEG";
    case FileFormat::tiff: return "TIFF";
    default: return ".npy";
  }
}

/// Changes the numbers of a field by a call of change(numbers).
template <class F>
void change_numbers(GeoField& field, F&& change) {
  std::vector<double> numbers(field.values.size() / sizeof(double));
  std::memcpy(numbers.data(), field.values.data(), numbers.size() * sizeof(double));
  change(numbers);
  std::memcpy(field.values.data(), numbers.data(), numbers.size() * sizeof(double));
}

/// Returns the coordinate of the middle of the first pixel: 0 if the fields count from pixel middles (PixelIsPoint), else 0.5.
double middle_of_first(const std::vector<GeoField>& geo) {
  constexpr std::uint16_t raster_type_key = 1025, is_point = 2;
  for (const GeoField& field : geo) {
    if (field.tag != key_directory_tag) continue;
    std::vector<std::uint16_t> numbers(field.values.size() / sizeof(std::uint16_t));
    std::memcpy(numbers.data(), field.values.data(), numbers.size() * sizeof(std::uint16_t));
    for (std::size_t key = 4; key + 4 <= numbers.size(); key += 4)
      if (numbers[key] == raster_type_key && numbers[key + 1] == 0) return numbers[key + 3] == is_point ? 0 : 0.5;
  }
  return 0.5;
}

/// Changes the fields for a new picture, whose place (i, j) was at (i / scale_x + x, j / scale_y + y) in the old picture. Places
/// are measured from the corner of the first pixel.
void move_geo(std::vector<GeoField>& geo, double scale_y, double scale_x, double y, double x) {
  const double corner = middle_of_first(geo) - 0.5;  // the coordinate of that corner, in both pictures
  for (GeoField& field : geo) {
    if (field.tag == tiepoint_tag)
      change_numbers(field, [&](std::vector<double>& n) {
        for (std::size_t i = 0; i + 6 <= n.size(); i += 6) {
          n[i] = (n[i] - corner - x) * scale_x + corner;
          n[i + 1] = (n[i + 1] - corner - y) * scale_y + corner;
        }
      });
    if (field.tag == pixel_scale_tag)
      change_numbers(field, [&](std::vector<double>& n) {
        if (n.size() < 2) return;
        n[0] /= scale_x;
        n[1] /= scale_y;
      });
    if (field.tag == transformation_tag)
      change_numbers(field, [&](std::vector<double>& n) {
        for (std::size_t row = 0; row + 4 <= n.size(); row += 4) {
          n[row + 3] += n[row] * (x + corner - corner / scale_x) + n[row + 1] * (y + corner - corner / scale_y);
          n[row] /= scale_x;
          n[row + 1] /= scale_y;
        }
      });
  }
}

/// Returns GDAL's metadata (XML) without statistics. Unless `with_bands`, items of single bands are left out too, and `lost`
/// becomes true if there is one.
std::string gdal_items(const std::string& xml, bool with_bands, bool& lost) {
  constexpr std::string_view end_of_item = "</Item>";
  std::string kept;
  std::size_t at = 0;
  while (true) {
    const std::size_t begin = xml.find("<Item", at);
    const std::size_t end = begin == std::string::npos ? begin : xml.find(end_of_item, begin);
    if (end == std::string::npos) return kept + xml.substr(at);
    const std::string start_tag = xml.substr(begin, xml.find('>', begin) - begin);
    const bool is_statistic = start_tag.find("\"STATISTICS_") != std::string::npos;
    const bool is_left_out = !is_statistic && !with_bands && start_tag.find(" sample=") != std::string::npos;
    lost = lost || is_left_out;
    const std::size_t next = end + end_of_item.size();
    kept += xml.substr(at, (is_statistic || is_left_out ? begin : next) - at);
    at = next;
  }
}

/// Returns whether a description lists sizes and pages of its file, as OME-XML, ImageJ and tifffile write it.
bool lists_sizes(const std::string& description) {
  constexpr std::string_view beginnings[] = {"<?xml", "<OME", "ImageJ=", "{\"shape\":"};
  return std::any_of(std::begin(beginnings), std::end(beginnings),
                     [&](std::string_view each) { return description.starts_with(each); });
}

}  // namespace

std::vector<std::string> take_what_does_not_hold(Metadata& metadata, bool has_numbers, bool is_same) {
  std::vector<std::string> losses;
  const std::string numbers = " for another element type or number of bands";
  bool lost_bands = false;
  for (GeoField& field : metadata.geo)
    if (field.tag == gdal_metadata_tag) field.values = gdal_items(field.values, has_numbers, lost_bands);
  if (lost_bands) losses.push_back("the scales, names and other fields of bands were left out: they are" + numbers);
  const auto is_nodata = [&](const GeoField& field) { return field.tag == gdal_nodata_tag; };
  if (!has_numbers && std::erase_if(metadata.geo, is_nodata) > 0)
    losses.push_back("the no-data value was left out: it is" + numbers);
  const auto is_of_layout = [](const auto& text) { return text.first == "Description" && lists_sizes(text.second); };
  if (!is_same && std::erase_if(metadata.texts, is_of_layout) > 0)
    losses.emplace_back("the description was left out: it lists the sizes and pages of the picture's file");
  return losses;
}

bool fits_icc(std::string_view icc, std::int64_t channels) noexcept {
  if (icc.size() < 128 || channels > 4) return false;
  return icc.substr(16, 4) == (channels >= 3 ? "RGB " : "GRAY");
}

std::optional<Resolution> sensible(const Resolution& resolution) noexcept {
  const auto is_usable = [](double number) { return std::isfinite(number) && number > 0; };
  if (!is_usable(resolution.x) || !is_usable(resolution.y)) return std::nullopt;
  if (resolution.unit == Resolution::Unit::none && resolution.x == resolution.y) return std::nullopt;
  return resolution;
}

Resolution resolution_in(const Resolution& resolution, Resolution::Unit unit) noexcept {
  const auto metres = [](Resolution::Unit each) {
    return each == Resolution::Unit::inch ? 0.0254 : each == Resolution::Unit::centimetre ? 0.01 : 1.0;
  };
  if (resolution.unit == Resolution::Unit::none || resolution.unit == unit) return resolution;
  const double factor = metres(unit) / metres(resolution.unit);
  return {resolution.x * factor, resolution.y * factor, unit};
}

std::vector<std::string> take_what_is_lost(Metadata& metadata, FileFormat format, std::int64_t channels) {
  std::vector<std::string> losses;
  const std::string files = std::string(name_of(format)) + " files";
  enum Number { one, several };
  const auto lose = [&](const std::string& what, Number number) {
    const bool is_one = number == one;
    losses.push_back(what + (is_one ? " was" : " were") + " left out: " + files + " do not hold " + (is_one ? "it" : "them"));
  };
  const auto drop = [&](auto& member, const char* what, Number number) {
    lose(what, number);
    member = {};
  };
  if (format == FileFormat::npy) {
    if (metadata.orientation != 1) lose("the picture's orientation " + std::to_string(metadata.orientation), one);
    metadata = {};
    return losses;
  }
  if (!metadata.icc.empty() && !fits_icc(metadata.icc, channels)) {
    losses.push_back("the ICC profile was left out: it is not for " + std::to_string(channels) +
                     (channels == 1 ? " channel" : " channels"));
    metadata.icc.clear();
  }
  if (!metadata.geo.empty() && format != FileFormat::tiff) drop(metadata.geo, "the GeoTIFF tags", several);
  const bool is_srgb =
      std::any_of(metadata.colours.begin(), metadata.colours.end(), [](const auto& chunk) { return chunk.first == "sRGB"; });
  if (format != FileFormat::png) {
    if (!metadata.colours.empty() && !is_srgb && metadata.icc.empty()) lose("the gamma and the primary colours", several);
    metadata.colours.clear();
  }
  const bool is_jpeg = format == FileFormat::jpeg;
  if (!metadata.exif.empty() && (format == FileFormat::tiff || (is_jpeg && metadata.exif.size() > most_in_marker - 6)))
    drop(metadata.exif, "the camera data (EXIF)", several);
  if (is_jpeg && metadata.xmp.size() > most_in_marker - 29) drop(metadata.xmp, "the XMP packet", one);
  if (is_jpeg && metadata.icc.size() > most_icc_in_jpeg) drop(metadata.icc, "so large an ICC profile", one);
  if (metadata.resolution && format != FileFormat::tiff &&
      !fits_integers(is_jpeg && metadata.resolution->unit == Resolution::Unit::metre
                         ? resolution_in(*metadata.resolution, Resolution::Unit::inch)
                     : is_jpeg ? *metadata.resolution
                               : resolution_in(*metadata.resolution, Resolution::Unit::metre),
                     is_jpeg ? 65535.5 : 2147483647.5))
    drop(metadata.resolution, "so high a resolution", one);
  std::string names;
  const auto count = std::erase_if(metadata.texts, [&](const auto& text) {
    if (is_text_of(format, text.first)) return false;
    names += (names.empty() ? "" : ", ") + text.first;
    return true;
  });
  if (count > 0) lose((count == 1 ? "the text " : "the texts ") + names, count == 1 ? one : several);
  return losses;
}

Metadata metadata_of_part(const Metadata& metadata, std::int64_t y, std::int64_t x) {
  Metadata part{.icc = metadata.icc, .resolution = metadata.resolution, .geo = metadata.geo, .colours = metadata.colours};
  move_geo(part.geo, 1, 1, static_cast<double>(y), static_cast<double>(x));
  return part;
}

Metadata metadata_of_scaled(const Metadata& metadata, double scale_y, double scale_x) {
  Metadata scaled = metadata;
  if (scaled.resolution && scaled.resolution->unit != Resolution::Unit::none) {
    scaled.resolution->x *= scale_x;
    scaled.resolution->y *= scale_y;
  }
  move_geo(scaled.geo, scale_y, scale_x, 0, 0);
  return scaled;
}

std::string utf8_of(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t length = first < 0x80                    ? 1
                               : first >= 0xF0 && first < 0xF5 ? 4
                               : first >= 0xE0                 ? 3
                               : first >= 0xC2                 ? 2
                                                               : 0;
    bool is_sound = length > 0 && first < 0xF5 && i + length <= text.size();
    for (std::size_t k = 1; is_sound && k < length; ++k) is_sound = (static_cast<unsigned char>(text[i + k]) & 0xC0) == 0x80;
    if (!is_sound) return utf8_of_latin1(text);
    i += length;
  }
  return std::string(text);
}

}  // namespace patchfold::formats
