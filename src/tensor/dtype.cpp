// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "patchfold/tensor.hpp"

namespace patchfold {
namespace {

struct Row {
  std::string_view name;
  std::string_view short_name;
  std::size_t size;
  bool summable;
};

// In the order of the enumeration.
constexpr Row rows[] = {
    {"bool", "bool", 1, true},
    {"int8", "i8", 1, true},
    {"int16", "i16", 2, true},
    {"int32", "i32", 4, true},
    {"int64", "i64", 8, true},
    {"uint8", "u8", 1, true},
    {"uint16", "u16", 2, true},
    {"uint32", "u32", 4, true},
    {"uint64", "u64", 8, true},
    {"float16", "f16", 2, true},
    {"bfloat16", "bf16", 2, true},
    {"float32", "f32", 4, true},
    {"float64", "f64", 8, true},
    {"complex64", "c64", 8, true},
    {"complex128", "c128", 16, true},
    {"float8_e4m3fn", "f8e4m3fn", 1, false},
    {"float8_e4m3fnuz", "f8e4m3fnuz", 1, false},
    {"float8_e5m2", "f8e5m2", 1, false},
    {"float8_e5m2fnuz", "f8e5m2fnuz", 1, false},
    {"opaque", "opaque", 0, false},
};
constexpr auto all = [] {
  std::array<DType, std::size(rows)> list{};
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = static_cast<DType>(i);
  return list;
}();
static_assert(static_cast<std::size_t>(DType::opaque) + 1 == std::size(rows));

const Row& row_of(DType dtype) noexcept {
  return rows[std::min(static_cast<std::size_t>(dtype), std::size(rows) - 1)];
}

}  // namespace

std::span<const DType> dtypes() noexcept {
  return all;
}
std::size_t size_of(DType dtype) noexcept {
  return row_of(dtype).size;
}
std::string_view name_of(DType dtype) noexcept {
  return row_of(dtype).name;
}
std::string_view short_name_of(DType dtype) noexcept {
  return row_of(dtype).short_name;
}
bool is_summable(DType dtype) noexcept {
  return row_of(dtype).summable;
}

std::optional<DType> dtype_of(std::string_view name) noexcept {
  const auto* found = std::ranges::find_if(rows, [&](const Row& row) { return row.name == name || row.short_name == name; });
  if (found == std::end(rows)) return std::nullopt;
  return all[static_cast<std::size_t>(found - rows)];
}

}  // namespace patchfold
