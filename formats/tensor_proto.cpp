// SPDX-License-Identifier: Apache-2.0
#include "formats/tensor_proto.hpp"

#include <bit>
#include <cstring>

namespace patchfold::formats {
namespace {

static_assert(std::endian::native == std::endian::little, "raw_data is little-endian and used as it is");

struct Values {
  std::shared_ptr<const void> owner{};
  const void* data = nullptr;
  std::int64_t bytes = 0;
};

[[noreturn]] void wrong_size(std::string given, std::string expected, const Subject& subject) {
  subject.fail(ErrorCode::file_format, "must hold as many values as its shape says", std::move(given), std::move(expected));
}

/// Bits of a float16, or an integer, or a part of a complex number: what one entry of a typed field stands for.
template <class T, class Field>
Values convert(const Field& field, std::int64_t bytes, const Subject& subject) {
  const std::int64_t expected = bytes / static_cast<std::int64_t>(sizeof(T));
  if (field.size() != expected) wrong_size(std::to_string(field.size()), std::to_string(expected), subject);
  auto memory = allocate(bytes, subject);
  std::byte* dst = memory.get();
  for (const auto entry : field) {
    const T value = static_cast<T>(entry);
    if constexpr (std::is_integral_v<T>)
      if (static_cast<std::remove_const_t<decltype(entry)>>(value) != entry)
        subject.fail(ErrorCode::file_format, "must hold values that its type can hold", std::to_string(entry));
    std::memcpy(dst, &value, sizeof(T));
    dst += sizeof(T);
  }
  return {memory, memory.get(), bytes};
}

/// The values that stand in the field that belongs to the type.
Values typed_values(const ::onnx::TensorProto& proto, DType dtype, std::int64_t bytes, const Subject& subject) {
  switch (dtype) {
    case DType::float32:
    case DType::complex64: return convert<float>(proto.float_data(), bytes, subject);
    case DType::float64:
    case DType::complex128: return convert<double>(proto.double_data(), bytes, subject);
    case DType::int64: return convert<std::int64_t>(proto.int64_data(), bytes, subject);
    case DType::uint64: return convert<std::uint64_t>(proto.uint64_data(), bytes, subject);
    case DType::uint32: return convert<std::uint32_t>(proto.uint64_data(), bytes, subject);
    case DType::int32: return convert<std::int32_t>(proto.int32_data(), bytes, subject);
    case DType::int16: return convert<std::int16_t>(proto.int32_data(), bytes, subject);
    case DType::int8: return convert<std::int8_t>(proto.int32_data(), bytes, subject);
    case DType::boolean: return convert<bool>(proto.int32_data(), bytes, subject);
    case DType::uint16:
    case DType::float16:
    case DType::bfloat16: return convert<std::uint16_t>(proto.int32_data(), bytes, subject);
    default: return convert<std::uint8_t>(proto.int32_data(), bytes, subject);
  }
}

Values raw_values(::onnx::TensorProto& proto, std::int64_t bytes, const Subject& subject) {
  const auto given = static_cast<std::int64_t>(proto.raw_data().size());
  if (given != bytes)
    wrong_size(bytes_text(static_cast<std::uint64_t>(given)), bytes_text(static_cast<std::uint64_t>(bytes)), subject);
  const auto owner = std::make_shared<const std::string>(std::move(*proto.mutable_raw_data()));
  return {owner, owner->data(), bytes};
}

}  // namespace

std::optional<DType> dtype_of_onnx(int data_type) noexcept {
  // The last four have no names in the schema before ONNX 1.14.
  constexpr DType dtypes[] = {
      DType::opaque,          DType::float32,       DType::uint8,           DType::int8,
      DType::uint16,          DType::int16,         DType::int32,           DType::int64,
      DType::opaque,          DType::boolean,       DType::float16,         DType::float64,
      DType::uint32,          DType::uint64,        DType::complex64,       DType::complex128,
      DType::bfloat16,        DType::float8_e4m3fn, DType::float8_e4m3fnuz, DType::float8_e5m2,
      DType::float8_e5m2fnuz,
  };
  if (data_type < 0 || data_type >= static_cast<int>(std::size(dtypes)) || dtypes[data_type] == DType::opaque)
    return std::nullopt;
  return dtypes[data_type];
}

LoadedTensor take_tensor(::onnx::TensorProto& proto, const Subject& subject) {
  if (proto.data_type() == ::onnx::TensorProto::UNDEFINED)
    subject.fail(ErrorCode::file_format, "must be a tensor with an element type");
  const auto dtype = dtype_of_onnx(proto.data_type());
  if (!dtype)
    subject.fail(ErrorCode::file_unsupported, "has an element type that is not read",
                 proto.data_type() == ::onnx::TensorProto::STRING ? "string" : std::to_string(proto.data_type()));
  if (proto.data_location() == ::onnx::TensorProto::EXTERNAL || proto.external_data_size() > 0 || proto.has_segment())
    subject.fail(ErrorCode::file_unsupported, "keeps its values in other files, which are not read");
  if (proto.dims_size() > max_rank)
    subject.fail(ErrorCode::file_unsupported, "has too many axes", std::to_string(proto.dims_size()),
                 "at most " + std::to_string(max_rank));
  const Dims shape{std::span(proto.dims().data(), static_cast<std::size_t>(proto.dims_size()))};
  const auto bytes = byte_count(shape, size_of(*dtype));
  if (!bytes) subject.fail(ErrorCode::file_format, "has a shape without a size of 63 bits", to_string(shape));

  Values values = proto.has_raw_data() ? raw_values(proto, *bytes, subject) : typed_values(proto, *dtype, *bytes, subject);
  return {{values.data, shape, dense_strides(shape, size_of(*dtype)), *dtype, size_of(*dtype)},
          element_type(*dtype),
          std::move(values.owner)};
}

}  // namespace patchfold::formats
