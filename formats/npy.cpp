// SPDX-License-Identifier: Apache-2.0
#include "formats/npy.hpp"

#include <utility>

#include "formats/npy_header.hpp"

namespace patchfold::formats {
namespace {

/// Returns the true type of elements that a file holds as raw bytes or integers, because NumPy lacks their type.
ElementType reinterpreted(const NpyType& type, DType wanted, const Subject& subject) {
  ElementType given = element_type(type);
  if (wanted == DType::opaque) return {DType::opaque, given.size, given.descr};
  const bool is_raw = type.kind == 'V' || type.kind == 'i' || type.kind == 'u';
  if (given.dtype != wanted && (!is_raw || given.size != size_of(wanted)))
    subject.fail(ErrorCode::file_unsupported, "must hold raw bytes or integers of the same size to be read as another type",
                 given.descr, std::string(name_of(wanted)) + " (" + bytes_text(size_of(wanted)) + ")");
  return element_type(wanted);
}

}  // namespace

ElementType element_type(DType dtype) {
  const DTypeInfo& info = info_of(dtype);
  const char order = info.size == 1 || info.numpy_kind == 'V' ? '|' : native_order;
  std::string descr("'");
  descr.append(1, order).append(npy_name(info)).append(1, '\'');
  return {info.dtype, info.size, std::move(descr)};
}

LoadedTensor read_npy(const std::filesystem::path& path, std::optional<DType> reinterpret_as) {
  const Subject subject{"npy", path};
  FileBytes file = open_file(subject);
  const NpyHeader header = parse_npy_header(file.bytes, subject);
  const auto end = checked_npy_end(header, static_cast<std::int64_t>(file.bytes.size()), subject);
  const auto data = file.bytes.first(static_cast<std::size_t>(end)).subspan(header.bytes);

  LoadedTensor tensor;
  tensor.type = reinterpret_as ? reinterpreted(header.type, *reinterpret_as, subject) : element_type(header.type);
  tensor.view = {data.data(), header.shape, dense_strides(header.shape, header.type.size, header.fortran_order),
                 tensor.type.dtype, header.type.size};
  tensor.owner = std::move(file.owner);
  if (is_foreign(header.type)) {
    auto memory = allocate(static_cast<std::int64_t>(data.size()), subject);
    copy_native(header.type, data.data(), memory.get(), data.size() / header.type.size);
    tensor.view.data = memory.get();
    tensor.owner = std::move(memory);
  }
  return tensor;
}

}  // namespace patchfold::formats
