// SPDX-License-Identifier: Apache-2.0
// Metadata as markers of JPEG files: JFIF's resolution, EXIF and XMP in APP1, ICC profiles in APP2 (ICC.1, annex B.4),
// comments.
#include "formats/jpeg_metadata.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace patchfold::formats {
namespace {

using namespace std::string_view_literals;

constexpr int app1 = 0xE1;
constexpr int app2 = 0xE2;
constexpr int comment = 0xFE;
constexpr std::string_view exif_head = "Exif\0\0"sv;
constexpr std::string_view xmp_head = "http://ns.adobe.com/xap/1.0/\0"sv;
constexpr std::string_view icc_head = "ICC_PROFILE\0"sv;
constexpr std::size_t most_in_marker = 65533;
constexpr std::size_t most_icc = most_in_marker - icc_head.size() - 2;

/// Collects the numbered parts of an ICC profile. The profile is complete if each number occurs exactly once.
class IccParts {
 public:
  void add(std::string_view data) {
    if (data.size() < 2) return;
    const auto number = static_cast<unsigned char>(data[0]);
    const auto count = static_cast<unsigned char>(data[1]);
    is_sound_ = is_sound_ && number >= 1 && number <= count && (count_ == 0 || count == count_) && parts_[number].empty();
    count_ = count;
    if (is_sound_) parts_[number] = data.substr(2);
  }
  std::string whole() const {
    std::string icc;
    for (std::size_t number = 1; is_sound_ && number <= count_; ++number) {
      if (parts_[number].empty()) return {};
      icc += parts_[number];
    }
    return icc;
  }

 private:
  std::array<std::string_view, 256> parts_{};
  std::size_t count_ = 0;
  bool is_sound_ = true;
};

}  // namespace

Metadata jpeg_metadata(const jpeg_decompress_struct& codec) {
  Metadata metadata;
  IccParts icc;
  for (const auto* marker = codec.marker_list; marker != nullptr; marker = marker->next) {
    const std::string_view data(reinterpret_cast<const char*>(marker->data), marker->data_length);
    if (marker->marker == app1 && data.starts_with(exif_head) && metadata.exif.empty()) {
      const std::string_view exif = data.substr(exif_head.size());
      metadata.orientation = exif_orientation(exif);
      metadata.exif = exif_with(std::string(exif), metadata.orientation);
    } else if (marker->marker == app1 && data.starts_with(xmp_head)) {
      metadata.xmp = data.substr(xmp_head.size());
    } else if (marker->marker == app2 && data.starts_with(icc_head)) {
      icc.add(data.substr(icc_head.size()));
    } else if (marker->marker == comment) {
      metadata.texts.emplace_back("Comment", utf8_of(data));
    }
  }
  metadata.icc = icc.whole();
  if (codec.saw_JFIF_marker) {
    constexpr Resolution::Unit units[] = {Resolution::Unit::none, Resolution::Unit::inch, Resolution::Unit::centimetre};
    if (codec.density_unit <= 2)
      metadata.resolution =
          sensible({static_cast<double>(codec.X_density), static_cast<double>(codec.Y_density), units[codec.density_unit]});
  }
  return metadata;
}

void set_jpeg_resolution(jpeg_compress_struct& codec, const Metadata& metadata) {
  if (!metadata.resolution) return;
  Resolution resolution = *metadata.resolution;
  if (resolution.unit == Resolution::Unit::metre) resolution = resolution_in(resolution, Resolution::Unit::inch);
  codec.density_unit = static_cast<UINT8>(resolution.unit == Resolution::Unit::inch         ? 1
                                          : resolution.unit == Resolution::Unit::centimetre ? 2
                                                                                            : 0);
  codec.X_density = static_cast<UINT16>(std::lround(resolution.x));
  codec.Y_density = static_cast<UINT16>(std::lround(resolution.y));
}

std::vector<std::pair<int, std::string>> jpeg_markers(const Metadata& metadata) {
  std::vector<std::pair<int, std::string>> markers;
  const auto add = [&](int marker, std::string_view head, std::string_view data) {
    markers.emplace_back(marker, std::string(head).append(data));
  };
  if (!metadata.exif.empty() || metadata.orientation != 1)
    add(app1, exif_head, exif_with(metadata.exif, metadata.orientation));
  if (!metadata.xmp.empty()) add(app1, xmp_head, metadata.xmp);
  const std::size_t count = (metadata.icc.size() + most_icc - 1) / most_icc;
  for (std::size_t i = 0; i < count; ++i) {
    std::string numbers{static_cast<char>(i + 1), static_cast<char>(count)};
    add(app2, icc_head, numbers.append(metadata.icc, i * most_icc, most_icc));
  }
  for (const auto& [keyword, text] : metadata.texts)
    for (std::size_t at = 0; at < text.size(); at += most_in_marker)
      add(comment, {}, std::string_view(text).substr(at, most_in_marker));
  return markers;
}

}  // namespace patchfold::formats
