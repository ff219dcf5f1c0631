// SPDX-License-Identifier: Apache-2.0
// The metadata of a picture: everything in its file except the pixels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/json_value.hpp"

namespace patchfold::formats {

enum class FileFormat { npy, png, jpeg, tiff };

/// Pixels for each unit of length, along the width and along the height.
struct Resolution {
  enum class Unit { none, inch, centimetre, metre };
  double x = 0;
  double y = 0;
  Unit unit = Unit::none;  ///< none: only the ratio of x and y counts
  friend bool operator==(const Resolution&, const Resolution&) = default;
};

/// A field of a GeoTIFF file: its values side by side, in the byte order of this machine.
struct GeoField {
  std::uint32_t tag = 0;
  std::string values{};
  friend bool operator==(const GeoField&, const GeoField&) = default;
};

/// The metadata of a picture. Pixels are read as stored: the orientation is not applied to them, so it is part of the metadata.
struct Metadata {
  std::string icc{};  ///< an ICC profile
  std::optional<Resolution> resolution{};
  int orientation = 1;                                       ///< 1 to 8, as EXIF and TIFF number it; 1: as stored
  std::string exif{};                                        ///< camera data: EXIF's own TIFF structure, without a thumbnail
  std::string xmp{};                                         ///< an XMP packet
  std::vector<std::pair<std::string, std::string>> texts{};  ///< UTF-8, each under a keyword of PNG such as "Description"
  std::vector<GeoField> geo{};
  std::vector<std::pair<std::string, std::string>> colours{};  ///< PNG's chunks gAMA, cHRM and sRGB
  friend bool operator==(const Metadata&, const Metadata&) = default;
};

/// Removes all metadata that a file with this format and number of channels cannot hold. Returns a line for each removed kind: "its
/// GeoTIFF tags (PNG files hold none)".
std::vector<std::string> take_what_is_lost(Metadata& metadata, FileFormat format, std::int64_t channels);

/// Removes all metadata of a picture that does not hold for a picture that was made from it. Returns a line for each removed kind.
/// Fields about numbers (no-data value, scales, band names, ..) hold if `has_numbers`: element type and number of channels are
/// the old ones. A description that lists sizes and pages (OME-XML, ImageJ, tifffile) holds if `is_same`: rows and columns are
/// the old ones too, and the old file has no other pages. GDAL's statistics never hold.
std::vector<std::string> take_what_does_not_hold(Metadata& metadata, bool has_numbers, bool is_same);

/// Returns the metadata of the part of a picture that begins at (y, x): only the data needed to show the part and to know its
/// place. Camera data, texts and the orientation belong to the whole picture.
Metadata metadata_of_part(const Metadata& metadata, std::int64_t y, std::int64_t x);
/// Returns the metadata of a picture that is enlarged by these factors.
Metadata metadata_of_scaled(const Metadata& metadata, double scale_y, double scale_x);

/// Returns the metadata as the member "metadata" of plan.json, with bytes in base64.
JsonValue json_of(const Metadata& metadata);
/// Reads the metadata from a member of plan.json. Throws the name of a wrong member, as std::string.
Metadata metadata_of(const JsonValue& json);

/// The kind of values in a GeoTIFF or GDAL field that is copied to results: numbers of float64 or uint16, or text.
enum class GeoType { number, short_number, text };
constexpr std::size_t size_of(GeoType type) noexcept {
  return type == GeoType::number ? 8 : type == GeoType::short_number ? 2 : 1;
}
struct GeoTag {
  std::uint32_t tag;
  GeoType type;
  const char* name;
};
inline constexpr GeoTag geo_tags[] = {
    {33550, GeoType::number, "ModelPixelScaleTag"},
    {33922, GeoType::number, "ModelTiepointTag"},
    {34264, GeoType::number, "ModelTransformationTag"},
    {34735, GeoType::short_number, "GeoKeyDirectoryTag"},
    {34736, GeoType::number, "GeoDoubleParamsTag"},
    {34737, GeoType::text, "GeoAsciiParamsTag"},
    {42112, GeoType::text, "GDAL_METADATA"},
    {42113, GeoType::text, "GDAL_NODATA"},
};

/// Returns the orientation in an EXIF structure; 1 for a structure without orientation or a damaged structure.
int exif_orientation(std::string_view exif) noexcept;
/// Returns an EXIF structure with the given orientation and without its thumbnail, which would show the old picture. An empty or
/// damaged structure becomes the smallest structure that holds an orientation.
std::string exif_with(std::string exif, int orientation);

/// Returns whether an ICC profile is for pixels with this number of channels: grey or RGB, with or without alpha.
bool fits_icc(std::string_view icc, std::int64_t channels) noexcept;
/// Returns the resolution; nothing if its numbers are not sensible.
std::optional<Resolution> sensible(const Resolution& resolution) noexcept;
/// Returns the chunks of a PNG file that hold the metadata, in their order.
std::vector<std::pair<std::string, std::string>> png_chunks(const Metadata& metadata);
/// Returns the resolution in pixels per metre, inch or centimetre; Unit::none is not converted.
Resolution resolution_in(const Resolution& resolution, Resolution::Unit unit) noexcept;
/// Returns the text as UTF-8; bytes that are not UTF-8 are read as Latin-1.
std::string utf8_of(std::string_view text);

}  // namespace patchfold::formats
