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

/// The number of pixels in a unit of length, along the width and along the height.
struct Resolution {
  enum class Unit { none, inch, centimetre, metre };
  double x = 0;
  double y = 0;
  Unit unit = Unit::none;  ///< none: x and y have no unit, only their ratio counts
  friend bool operator==(const Resolution&, const Resolution&) = default;
};

/// A field of a GeoTIFF file: its values side by side, in the byte order of this machine.
struct GeoField {
  std::uint32_t tag = 0;
  std::string values{};
  friend bool operator==(const GeoField&, const GeoField&) = default;
};

/// The metadata of a picture. Pixels are read as the file stores them; the orientation, which is not applied, is part of the
/// metadata.
struct Metadata {
  std::string icc{};  ///< an ICC profile
  std::optional<Resolution> resolution{};
  int orientation = 1;                                       ///< 1 to 8, as EXIF and TIFF number it; 1: show the pixels as stored
  std::string exif{};                                        ///< EXIF's own TIFF structure (camera data), without a thumbnail
  std::string xmp{};                                         ///< an XMP packet
  std::vector<std::pair<std::string, std::string>> texts{};  ///< UTF-8, each under a keyword of PNG such as "Description"
  std::vector<GeoField> geo{};
  std::vector<std::pair<std::string, std::string>> colours{};  ///< PNG's chunks gAMA, cHRM and sRGB
  friend bool operator==(const Metadata&, const Metadata&) = default;
};

/// Removes all metadata that a file with this format and number of channels cannot hold. Returns a line for each removed kind: "its
/// GeoTIFF tags (PNG files hold none)".
std::vector<std::string> take_what_is_lost(Metadata& metadata, FileFormat format, std::int64_t channels);

/// Removes all metadata of a picture that does not hold for a picture made from it. Returns a line for each removed kind.
/// `has_numbers`: both pictures have the same element type and number of channels, so fields about numbers hold (no-data
/// value, scales, band names, ..). `is_same`: rows, columns and the number of pages are the same too, so a description that
/// lists them holds (OME-XML, ImageJ, tifffile). GDAL's statistics never hold.
std::vector<std::string> take_what_does_not_hold(Metadata& metadata, bool has_numbers, bool is_same);

/// Returns the metadata for the part of a picture that begins at (y, x): only what is needed to show the part and to know its
/// place. Camera data, texts and the orientation belong to the whole picture.
Metadata metadata_of_part(const Metadata& metadata, std::int64_t y, std::int64_t x);
/// Returns the metadata for a picture that is enlarged by these factors.
Metadata metadata_of_scaled(const Metadata& metadata, double scale_y, double scale_x);

/// Returns the metadata in the form of the member "metadata" of plan.json, with bytes in base64.
JsonValue json_of(const Metadata& metadata);
/// Returns the metadata that a member of plan.json holds. Throws the name of a wrong member, as std::string.
Metadata metadata_of(const JsonValue& json);

/// The type of the values in those GeoTIFF and GDAL fields that patchfold copies: float64, uint16, or text.
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

/// Returns whether an ICC profile (for grey or for RGB) fits pixels with this number of channels, with or without alpha.
bool fits_icc(std::string_view icc, std::int64_t channels) noexcept;
/// Returns the resolution; nothing if its numbers are not finite and above 0, or if it says only that pixels are square.
std::optional<Resolution> sensible(const Resolution& resolution) noexcept;
/// Returns the chunks with the metadata, in the order in which a PNG file has them.
std::vector<std::pair<std::string, std::string>> png_chunks(const Metadata& metadata);
/// Returns the resolution in another unit: inch, centimetre or metre. A resolution without a unit is not converted.
Resolution resolution_in(const Resolution& resolution, Resolution::Unit unit) noexcept;
/// Returns the text as UTF-8; bytes that are not UTF-8 are read as Latin-1.
std::string utf8_of(std::string_view text);

}  // namespace patchfold::formats
