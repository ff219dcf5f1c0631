// SPDX-License-Identifier: Apache-2.0
#include "formats/npy.hpp"

#include <bit>

#include "formats/npy_header.hpp"

namespace patchfold::formats {
namespace {

/// Takes the bytes for elements of another type. NumPy has none for these types, so files hold them as raw bytes or
/// integers.
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
  const std::string order = std::endian::native == std::endian::little ? "'<" : "'>";
  switch (dtype) {
    case DType::boolean: return {dtype, 1, "'|b1'"};
    case DType::int8: return {dtype, 1, "'|i1'"};
    case DType::int16: return {dtype, 2, order + "i2'"};
    case DType::int32: return {dtype, 4, order + "i4'"};
    case DType::int64: return {dtype, 8, order + "i8'"};
    case DType::uint8: return {dtype, 1, "'|u1'"};
    case DType::uint16: return {dtype, 2, order + "u2'"};
    case DType::uint32: return {dtype, 4, order + "u4'"};
    case DType::uint64: return {dtype, 8, order + "u8'"};
    case DType::float16: return {dtype, 2, order + "f2'"};
    case DType::bfloat16: return {dtype, 2, "'|V2'"};
    case DType::float32: return {dtype, 4, order + "f4'"};
    case DType::float64: return {dtype, 8, order + "f8'"};
    case DType::complex64: return {dtype, 8, order + "c8'"};
    case DType::complex128: return {dtype, 16, order + "c16'"};
    case DType::float8_e4m3fn:
    case DType::float8_e4m3fnuz:
    case DType::float8_e5m2:
    case DType::float8_e5m2fnuz: return {dtype, 1, "'|V1'"};
    case DType::opaque: break;
  }
  return {DType::opaque, 0, "'|V0'"};
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
