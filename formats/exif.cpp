// SPDX-License-Identifier: Apache-2.0
// EXIF data is a small TIFF structure: a byte order, and lists of fields of 12 bytes each.
#include <algorithm>
#include <optional>

#include "formats/metadata.hpp"

namespace patchfold::formats {
namespace {

constexpr std::uint16_t orientation_tag = 0x0112;
constexpr std::uint16_t thumbnail_offset_tag = 0x0201;
constexpr std::uint16_t thumbnail_length_tag = 0x0202;
constexpr std::size_t field_bytes = 12;

/// Reads numbers from the bytes of an EXIF structure, which may be damaged: a number outside the bytes is 0.
class Exif {
 public:
  explicit Exif(std::string_view bytes) : bytes_(bytes), is_little_(bytes.starts_with("II")) {}

  bool is_sound() const noexcept {
    return (bytes_.starts_with("II") || bytes_.starts_with("MM")) && number(2, 2) == 42 && first_list() >= 8 &&
           first_list() + 2 <= bytes_.size();
  }
  std::uint64_t number(std::uint64_t at, int size) const noexcept {
    std::uint64_t value = 0;
    if (at > bytes_.size() || bytes_.size() - at < static_cast<std::size_t>(size)) return 0;
    for (int i = 0; i < size; ++i)
      value |= std::uint64_t{static_cast<unsigned char>(bytes_[at + static_cast<std::size_t>(i)])}
               << 8 * (is_little_ ? i : size - 1 - i);
    return value;
  }
  std::uint64_t first_list() const noexcept { return number(4, 4); }
  std::uint64_t entries(std::uint64_t list) const noexcept { return number(list, 2); }
  /// Returns the offset at which a list stores the offset of the next list.
  std::uint64_t next_list(std::uint64_t list) const noexcept { return list + 2 + entries(list) * field_bytes; }
  /// Returns the offset of a field's value.
  std::optional<std::uint64_t> value(std::uint64_t list, std::uint16_t tag) const noexcept {
    for (std::uint64_t i = 0; i < entries(list); ++i) {
      const std::uint64_t field = list + 2 + i * field_bytes;
      if (field + field_bytes > bytes_.size()) break;
      if (number(field, 2) == tag) return field + 8;
    }
    return std::nullopt;
  }
  bool is_little() const noexcept { return is_little_; }

 private:
  std::string_view bytes_;
  bool is_little_;
};

}  // namespace

int exif_orientation(std::string_view bytes) noexcept {
  const Exif exif(bytes);
  if (!exif.is_sound()) return 1;
  const auto at = exif.value(exif.first_list(), orientation_tag);
  const auto given = at ? exif.number(*at, 2) : 1;
  return given >= 1 && given <= 8 ? static_cast<int>(given) : 1;
}

std::string exif_with(std::string bytes, int orientation) {
  const Exif exif(bytes);
  const auto at = exif.is_sound() ? exif.value(exif.first_list(), orientation_tag) : std::nullopt;
  if (!exif.is_sound() || (!at && orientation != 1)) {
    // This structure is a byte order, the number 42, and the offset of a list with one field, a number of 16 bits; no list follows.
    std::string smallest("MM\0\x2A\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0\0\0\0\0\0\0\0", 26);
    smallest[19] = static_cast<char>(orientation);
    return smallest;
  }
  if (at) {
    bytes[*at + (exif.is_little() ? 0 : 1)] = static_cast<char>(orientation);
    bytes[*at + (exif.is_little() ? 1 : 0)] = 0;
  }
  const std::uint64_t next = exif.next_list(exif.first_list());
  if (next + 4 > bytes.size()) return bytes;
  const std::uint64_t thumbnails = exif.number(next, 4);
  if (thumbnails == 0) return bytes;
  const auto offset = exif.value(thumbnails, thumbnail_offset_tag);
  const auto length = exif.value(thumbnails, thumbnail_length_tag);
  if (offset && length) {
    const std::uint64_t begin = std::min<std::uint64_t>(exif.number(*offset, 4), bytes.size());
    const std::uint64_t count = std::min<std::uint64_t>(exif.number(*length, 4), bytes.size() - begin);
    if (begin + count == bytes.size())
      bytes.resize(begin);
    else
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(begin), count, '\0');
  }
  if (next + 4 <= bytes.size()) std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(next), 4, '\0');
  return bytes;
}

}  // namespace patchfold::formats
