// SPDX-License-Identifier: Apache-2.0
#include "fuzz/rows.hpp"

#include <algorithm>
#include <cstring>

#include "formats/rows.hpp"
#include "fuzz/target.hpp"

namespace patchfold::fuzz {

std::vector<std::byte> elements_of(const ConstTensorView& tensor) {
  const auto count = static_cast<std::size_t>(element_count(tensor.shape));
  std::vector<std::byte> elements(count * tensor.element_size);
  std::byte* next = elements.data();
  Dims index = Dims::filled(tensor.shape.size(), 0);
  for (std::size_t i = 0; i < count; ++i, next += tensor.element_size) {
    std::int64_t offset = 0;
    for (int axis = 0; axis < index.size(); ++axis) offset += index[axis] * tensor.strides[axis];
    std::memcpy(next, static_cast<const std::byte*>(tensor.data) + offset, tensor.element_size);
    for (int axis = index.size() - 1; axis >= 0 && ++index[axis] == tensor.shape[axis]; --axis) index[axis] = 0;
  }
  return elements;
}

void check_rows(const std::filesystem::path& path, std::optional<int> page, std::int64_t rows_at_a_time,
                const formats::LoadedTensor& whole) {
  const auto reader = formats::open_rows(path, page);
  expect(reader->shape() == whole.view.shape && reader->type().size == whole.view.element_size,
         "rows and the whole differ in shape or type");
  const std::vector<std::byte> expected = elements_of(whole.view);
  std::vector<std::byte> rows(expected.size());
  const std::int64_t count = reader->shape()[0];
  for (std::int64_t row = 0; row < count; row = reader->next())
    reader->read(std::min(rows_at_a_time, count - row), rows.data() + row * reader->row_bytes());
  expect(rows == expected, "rows and the whole differ");
}

}  // namespace patchfold::fuzz
