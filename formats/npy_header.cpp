// SPDX-License-Identifier: Apache-2.0
#include "formats/npy_header.hpp"

#include <algorithm>
#include <optional>

namespace patchfold::formats {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view magic = "\x93NUMPY"sv;
constexpr std::size_t longest_header = longest_npy_header - 12;

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// Returns whether `text` has the form of UTF-8. Code points are not checked, since the text is only copied.
bool is_utf8(std::string_view text) {
  std::size_t following = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) == 0x80) {
      if (following-- == 0) return false;
    } else {
      if (following != 0) return false;
      if (byte >= 0xF8) return false;
      following = byte < 0x80 ? 0 : byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
    }
  }
  return following == 0;
}

/// Returns UTF-8 as Latin-1; nothing if a character does not exist in Latin-1.
std::optional<std::string> latin1_of_utf8(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      result += text[i];
    } else if ((byte == 0xC2 || byte == 0xC3) && i + 1 < text.size()) {
      result += static_cast<char>(((byte & 0x03) << 6) | (static_cast<unsigned char>(text[++i]) & 0x3F));
    } else {
      return std::nullopt;
    }
  }
  return result;
}

[[noreturn]] void cut_short(const Subject& subject, std::size_t given, std::size_t expected) {
  subject.fail(ErrorCode::file_format, "is cut short", bytes_text(given), "at least " + bytes_text(expected));
}

Dims parse_shape(const Literal& shape, const Subject& subject) {
  const auto is_extent = [](const Literal& item) { return item.kind == Literal::Kind::integer && item.number >= 0; };
  if (shape.kind != Literal::Kind::tuple || !std::all_of(shape.items.begin(), shape.items.end(), is_extent))
    subject.fail(ErrorCode::file_format, "must have a 'shape' that is a tuple of numbers from 0");
  if (shape.items.size() > static_cast<std::size_t>(max_rank))
    subject.fail(ErrorCode::file_unsupported, "has too many axes", std::to_string(shape.items.size()),
                 "at most " + std::to_string(max_rank));
  Dims dims;
  for (const auto& item : shape.items) dims.push_back(item.number);
  return dims;
}

NpyHeader parse_dictionary(const Literal& dictionary, const Subject& subject) {
  const std::string_view names[] = {"descr", "fortran_order", "shape"};
  const Literal* values[3] = {};
  bool sound = dictionary.kind == Literal::Kind::dictionary && dictionary.items.size() == 6;
  for (std::size_t i = 0; sound && i < 6; i += 2) {
    const auto& key = dictionary.items[i];
    const auto* name = std::find(std::begin(names), std::end(names), key.kind == Literal::Kind::text ? key.text() : ""sv);
    sound = name != std::end(names) && values[name - names] == nullptr;
    if (sound) values[name - names] = &dictionary.items[i + 1];
  }
  if (!sound)
    subject.fail(ErrorCode::file_format,
                 "must have a header with the entries 'descr', 'fortran_order' and 'shape', each once");
  if (values[1]->kind != Literal::Kind::boolean)
    subject.fail(ErrorCode::file_format, "must have a 'fortran_order' that is True or False");
  return {npy_type(*values[0], subject), values[1]->number != 0, parse_shape(*values[2], subject), 0};
}

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> file, std::int64_t file_size, const Subject& subject) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const auto byte_at = [&](std::size_t i) { return static_cast<std::size_t>(std::to_integer<unsigned>(file[i])); };
  if (text.starts_with("PK\x03\x04"sv))
    subject.fail(ErrorCode::file_unsupported,
                 "is an archive (.npz), which is not read: unpack it and give the .npy file in it");
  const auto first = text.substr(0, magic.size());
  if (first != magic.substr(0, first.size()))
    subject.fail(ErrorCode::file_format, "must start like a .npy file", excerpt(first));
  if (text.size() < magic.size() + 4) cut_short(subject, text.size(), magic.size() + 4);
  const auto major = byte_at(6);
  if (major < 1 || major > 3 || byte_at(7) != 0)
    subject.fail(ErrorCode::file_unsupported, "must be of version 1.0, 2.0 or 3.0",
                 std::to_string(major) + "." + std::to_string(byte_at(7)));

  std::size_t begin = 10;
  std::size_t length = byte_at(8) | byte_at(9) << 8;
  if (major > 1) {
    begin = 12;
    if (text.size() < begin) cut_short(subject, text.size(), begin);
    length |= byte_at(10) << 16 | byte_at(11) << 24;
  }
  const auto whole = static_cast<std::size_t>(file_size);
  if (length > whole - begin) cut_short(subject, whole, begin + length);
  if (length > longest_header)
    subject.fail(ErrorCode::file_unsupported, "has too long a header", bytes_text(length),
                 "at most " + bytes_text(longest_header));

  const auto raw = text.substr(begin, length);
  if (major == 3 && !is_utf8(raw)) subject.fail(ErrorCode::file_format, "must have a header in UTF-8");
  const std::string decoded = major == 3 ? std::string(raw) : utf8_of_latin1(raw);
  NpyHeader header;
  try {
    header = parse_dictionary(parse_literal(decoded), subject);
  } catch (const LiteralError& error) {
    const auto rest =
        error.position < decoded.size() ? excerpt(std::string_view(decoded).substr(error.position)) : "the end";
    subject.fail(ErrorCode::file_format, "must have a Python dictionary as its header",
                 rest + " at character " + std::to_string(error.position), std::string(error.expected));
  }
  header.bytes = begin + length;
  if (header.type.size == 0) subject.fail(ErrorCode::file_unsupported, "has elements of zero bytes", header.type.descr);
  return header;
}

std::int64_t checked_npy_end(const NpyHeader& header, std::int64_t file_size, const Subject& subject) {
  const auto bytes = byte_count(header.shape, header.type.size);
  if (!bytes)
    subject.fail(ErrorCode::file_format, "has a shape whose size does not fit into 63 bits", to_string(header.shape));
  // The file may go on after the data, since several arrays may be saved into one file.
  const auto given = file_size - static_cast<std::int64_t>(header.bytes);
  if (*bytes > given)
    subject.fail(ErrorCode::file_format, "is cut short", bytes_text(static_cast<std::uint64_t>(given)) + " of data",
                 bytes_text(static_cast<std::uint64_t>(*bytes)));
  return static_cast<std::int64_t>(header.bytes) + *bytes;
}

std::string npy_header(const Dims& shape, const ElementType& type) {
  std::string text = "{'descr': " + type.descr + ", 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
  // As NumPy does, leaves room for the first extent to grow to 21 digits, so that a file can be appended to.
  if (!shape.empty()) text.append(21 - std::min<std::size_t>(21, std::to_string(shape[0]).size()), ' ');
  int version = 1;
  if (!is_ascii(text)) {
    if (auto latin1 = latin1_of_utf8(text))
      text = std::move(*latin1);
    else
      version = 3;
  }
  const auto padding = [&](std::size_t prefix) { return 64 - (prefix + text.size() + 1) % 64; };
  std::size_t prefix = version == 1 ? 10 : 12;
  if (version == 1 && text.size() + 1 + padding(prefix) > 0xFFFF) {
    version = 2;
    prefix = 12;
  }
  text.append(padding(prefix), ' ');
  text += '\n';
  std::string header(magic);
  header += static_cast<char>(version);
  header += '\0';
  for (std::size_t i = 0; i < prefix - 8; ++i) header += static_cast<char>(text.size() >> (8 * i) & 0xFF);
  return header + text;
}

}  // namespace patchfold::formats
