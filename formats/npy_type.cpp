// SPDX-License-Identifier: Apache-2.0
#include "formats/npy_type.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>

#include "src/base/checked.hpp"

namespace patchfold::formats {
namespace {

/// The largest element size that NumPy allows.
constexpr std::int64_t max_element_size = std::numeric_limits<std::int32_t>::max();

struct NumericType {
  DType dtype;
  std::size_t swap_unit;
};

std::optional<NumericType> find_numeric(std::string_view name) {
  if (name == "f16" || name == "c32") return NumericType{DType::opaque, 16};  // long doubles, which are only moved
  for (const DTypeInfo& info : dtype_table)
    if (info.numpy_kind != 'V' && npy_name(info) == name)
      return NumericType{info.dtype, info.kind == ElementKind::complex ? info.size / 2u : info.size};
  return std::nullopt;
}

std::size_t checked_size(Checked bytes, std::string_view descr, const Subject& subject) {
  if (!bytes.value() || *bytes.value() > max_element_size)
    subject.fail(ErrorCode::file_unsupported, "has elements of more than 2147483647 bytes", excerpt(descr));
  return static_cast<std::size_t>(*bytes.value());
}

/// Returns whether the text is a unit, as it stands after M8 or m8: "[ns]", "[25s]", or nothing.
bool is_time_unit(std::string_view text) {
  if (text.empty()) return true;
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') return false;
  const auto inside = text.substr(1, text.size() - 2);
  return std::all_of(inside.begin(), inside.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/';
  });
}

NpyType plain_type(std::string_view descr, const Subject& subject) {
  std::string_view name = descr;
  char order = '=';
  if (!name.empty() && std::string_view("<>|=").find(name.front()) != std::string_view::npos) {
    order = name.front();
    name.remove_prefix(1);
  }
  const bool foreign = (order == '<' || order == '>') && order != native_order;
  const auto unknown = [&] {
    subject.fail(ErrorCode::file_unsupported, "has an element type that is not known", excerpt(descr));
  };
  if (name.empty()) subject.fail(ErrorCode::file_format, "must name an element type in its 'descr'", excerpt(descr));
  const char kind = name.front();
  if (kind == 'O')
    subject.fail(ErrorCode::file_unsupported, "holds Python objects, which cannot be moved as bytes", excerpt(descr));

  std::int64_t number = 0;
  const char* last = name.data() + name.size();
  const auto [end, error] = std::from_chars(name.data() + 1, last, number);
  const std::string_view rest(end, static_cast<std::size_t>(last - end));
  if (error == std::errc::result_out_of_range) checked_size(Checked(std::nullopt), descr, subject);
  if (number < 0) unknown();

  NpyType type;
  type.kind = kind;
  if (const auto numeric = find_numeric(name)) {
    type.size = static_cast<std::size_t>(number);
    type.swap_unit = numeric->swap_unit;
  } else if ((kind == 'S' || kind == 'a' || kind == 'V' || kind == 'U') && rest.empty()) {
    if (kind == 'a') type.kind = 'S';
    type.swap_unit = kind == 'U' ? 4 : 1;
    type.size = checked_size(Checked(number) * Checked(static_cast<std::int64_t>(type.swap_unit)), descr, subject);
  } else if ((kind == 'M' || kind == 'm') && number == 8 && is_time_unit(rest)) {
    type.size = type.swap_unit = 8;
  } else {
    unknown();
  }
  const char shown_order = type.swap_unit == 1 ? '|' : native_order;
  type.descr.append(1, '\'').append(1, shown_order).append(1, type.kind).append(name.substr(1)).append(1, '\'');
  if (!foreign) type.swap_unit = 1;
  return type;
}

/// Returns the name of a record's field, which is written as 'name' or ('title', 'name').
std::optional<std::string> field_name(const Literal& name) {
  if (name.kind == Literal::Kind::text) return std::string(name.source);
  if (name.kind != Literal::Kind::tuple || name.items.size() != 2) return std::nullopt;
  for (const auto& item : name.items)
    if (item.kind != Literal::Kind::text) return std::nullopt;
  std::string pair(1, '(');
  pair.append(name.items[0].source).append(", ").append(name.items[1].source).push_back(')');
  return pair;
}

/// Returns the number of elements in a field's sub-array; `text` gets the sub-array's shape as Python writes it.
Checked sub_array(const Literal& shape, std::string& text, const Subject& subject) {
  const std::span<const Literal> extents =
      shape.kind == Literal::Kind::tuple ? std::span(shape.items) : std::span(&shape, 1);
  Checked count = 1;
  text.assign(1, '(');
  for (const auto& extent : extents) {
    if (extent.kind != Literal::Kind::integer || extent.number < 0)
      subject.fail(ErrorCode::file_format, "must give the shape of a field as a tuple of numbers");
    count = count * Checked(extent.number);
    if (text.size() > 1) text += ", ";
    text += std::to_string(extent.number);
  }
  text += extents.size() == 1 ? ",)" : ")";
  return count;
}

NpyType record_type(const Literal& list, const Subject& subject) {
  NpyType record;
  record.kind = 'R';
  record.descr = '[';
  Checked size = 0;
  for (const auto& item : list.items) {
    std::optional<std::string> name;
    if (item.kind == Literal::Kind::tuple && (item.items.size() == 2 || item.items.size() == 3))
      name = field_name(item.items[0]);
    if (!name)
      subject.fail(ErrorCode::file_format, "must describe each field of a record as (name, type) or (name, type, shape)");
    NpyType field = npy_type(item.items[1], subject);
    Checked repeat = 1;
    std::string shape;
    if (item.items.size() == 3) repeat = sub_array(item.items[2], shape, subject);
    if (!record.fields.empty()) record.descr += ", ";
    record.descr.append("(").append(*name).append(", ").append(field.descr);
    if (!shape.empty()) record.descr.append(", ").append(shape);
    record.descr += ')';
    size = size + repeat * Checked(static_cast<std::int64_t>(field.size));
    checked_size(repeat, field.descr, subject);
    checked_size(size, field.descr, subject);
    field.repeat = static_cast<std::size_t>(*repeat.value());
    record.fields.push_back(std::move(field));
  }
  record.size = static_cast<std::size_t>(*size.value());
  record.descr += ']';
  return record;
}

template <class T>
void swap_copy(const std::byte* src, std::byte* dst, std::size_t units) {
  for (std::size_t i = 0; i < units; ++i) {
    T unit;
    std::memcpy(&unit, src + i * sizeof(T), sizeof(T));
    if constexpr (sizeof(T) == 2) unit = __builtin_bswap16(unit);
    if constexpr (sizeof(T) == 4) unit = __builtin_bswap32(unit);
    if constexpr (sizeof(T) == 8) unit = __builtin_bswap64(unit);
    std::memcpy(dst + i * sizeof(T), &unit, sizeof(T));
  }
}

}  // namespace

std::string npy_name(const DTypeInfo& info) {
  return info.numpy_kind + std::to_string(info.size);
}

NpyType npy_type(const Literal& descr, const Subject& subject) {
  if (descr.kind == Literal::Kind::text) return plain_type(descr.text(), subject);
  if (descr.kind == Literal::Kind::list) return record_type(descr, subject);
  subject.fail(ErrorCode::file_format, "must have a 'descr' that is a string or a list of fields");
}

ElementType element_type(const NpyType& type) {
  DType dtype = DType::opaque;
  if (type.kind != 'R')
    if (const auto numeric = find_numeric(std::string_view(type.descr).substr(2, type.descr.size() - 3)))
      dtype = numeric->dtype;
  return {dtype, type.size, type.descr};
}

bool is_foreign(const NpyType& type) {
  return type.swap_unit > 1 || std::any_of(type.fields.begin(), type.fields.end(), is_foreign);
}

void copy_native(const NpyType& type, const std::byte* src, std::byte* dst, std::size_t count) {
  const std::size_t bytes = type.size * count;
  if (bytes == 0) return;
  if (is_foreign(type) && type.kind == 'R') {
    for (std::size_t i = 0; i < count; ++i) {
      for (const auto& field : type.fields) {
        copy_native(field, src, dst, field.repeat);
        src += field.size * field.repeat;
        dst += field.size * field.repeat;
      }
    }
    return;
  }
  switch (type.swap_unit) {
    case 2: return swap_copy<std::uint16_t>(src, dst, bytes / 2);
    case 4: return swap_copy<std::uint32_t>(src, dst, bytes / 4);
    case 8: return swap_copy<std::uint64_t>(src, dst, bytes / 8);
    case 16:
      for (std::size_t i = 0; i < bytes; i += 16) std::reverse_copy(src + i, src + i + 16, dst + i);
      return;
    default: std::memcpy(dst, src, bytes);
  }
}

}  // namespace patchfold::formats
