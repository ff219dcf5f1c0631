// SPDX-License-Identifier: Apache-2.0
#include "formats/tensor_proto.hpp"

#include <complex>

#include "tests/formats/node_test_files.hpp"

namespace patchfold::formats {
namespace {

using namespace test;
using Proto = ::onnx::TensorProto;

const std::filesystem::path path = "x.pb";

LoadedTensor take(Proto proto) {
  return take_tensor(proto, {"onnx", path});
}

void expect_refused(const Proto& proto, ErrorCode code, std::string_view fragment) {
  expect_error([&] { take(proto); }, code, "onnx", path, fragment);
}

/// A tensor of `count` elements whose values are still to be added.
Proto typed(int data_type, std::int64_t count) {
  Proto proto;
  proto.set_data_type(data_type);
  proto.add_dims(count);
  return proto;
}

Proto with_int32(int data_type, const std::vector<std::int32_t>& values) {
  Proto proto = typed(data_type, static_cast<std::int64_t>(values.size()));
  for (const auto value : values) proto.add_int32_data(value);
  return proto;
}

constexpr DType no_dtype = DType::opaque;

/// TensorProto.DataType by number: the schema at hand may be older than the last ones.
constexpr DType all_types[] = {no_dtype,
                               DType::float32,
                               DType::uint8,
                               DType::int8,
                               DType::uint16,
                               DType::int16,
                               DType::int32,
                               DType::int64,
                               no_dtype,
                               DType::boolean,
                               DType::float16,
                               DType::float64,
                               DType::uint32,
                               DType::uint64,
                               DType::complex64,
                               DType::complex128,
                               DType::bfloat16,
                               DType::float8_e4m3fn,
                               DType::float8_e4m3fnuz,
                               DType::float8_e5m2,
                               DType::float8_e5m2fnuz};

TEST(TensorProto, RawDataOfEveryType) {
  const std::string data = "abcdefghijklmnopqrstuvwxyzABCDEF";
  for (int type = 0; type < 21; ++type) {
    if (all_types[type] == no_dtype) continue;
    const auto tensor = take(tensor_proto(type, {2, 1}, data.substr(0, 2 * size_of(all_types[type]))));
    EXPECT_EQ(tensor.view.dtype, all_types[type]);
    EXPECT_EQ(tensor.view.shape, (Dims{2, 1}));
    EXPECT_EQ(tensor.type.descr, element_type(all_types[type]).descr);
    EXPECT_EQ(elements_of(tensor.view), data.substr(0, 2 * size_of(all_types[type])));
  }
}

TEST(TensorProto, TypesThatAreNotRead) {
  expect_refused(tensor_proto(0, {1}, "abcd"), ErrorCode::file_format, "must be a tensor with an element type");
  expect_refused(tensor_proto(8, {1}, ""), ErrorCode::file_unsupported,
                 "has an element type that is not read; given string");
  for (const int type : {21, 22, 23, 24, 25, 1000, -1})
    expect_refused(tensor_proto(type, {1}, "a"), ErrorCode::file_unsupported,
                   "has an element type that is not read; given " + std::to_string(type));
}

TEST(TensorProto, FloatingPointFields) {
  Proto single = typed(Proto::FLOAT, 2);
  single.add_float_data(1.5F);
  single.add_float_data(-2);
  EXPECT_EQ(elements_of(take(single).view), bytes_of(std::vector<float>{1.5F, -2}));
  Proto pair = typed(Proto::COMPLEX64, 1);
  pair.add_float_data(1.5F);
  pair.add_float_data(-2);
  EXPECT_EQ(elements_of(take(pair).view), bytes_of(std::complex<float>(1.5F, -2)));
  Proto twice = typed(Proto::DOUBLE, 1);
  twice.add_double_data(0.1);
  EXPECT_EQ(elements_of(take(twice).view), bytes_of(0.1));
  Proto wide = typed(Proto::COMPLEX128, 1);
  wide.add_double_data(0.1);
  wide.add_double_data(0.2);
  EXPECT_EQ(elements_of(take(wide).view), bytes_of(std::complex<double>(0.1, 0.2)));
}

TEST(TensorProto, IntegerFields) {
  EXPECT_EQ(elements_of(take(with_int32(Proto::INT32, {-5, 7})).view), bytes_of(std::vector<std::int32_t>{-5, 7}));
  EXPECT_EQ(elements_of(take(with_int32(Proto::INT16, {-5, 32767})).view), bytes_of(std::vector<std::int16_t>{-5, 32767}));
  EXPECT_EQ(elements_of(take(with_int32(Proto::INT8, {-128, 127})).view), bytes_of(std::vector<std::int8_t>{-128, 127}));
  EXPECT_EQ(elements_of(take(with_int32(Proto::UINT16, {0, 65535})).view), bytes_of(std::vector<std::uint16_t>{0, 65535}));
  EXPECT_EQ(elements_of(take(with_int32(Proto::UINT8, {0, 255})).view), bytes_of(std::vector<std::uint8_t>{0, 255}));
  EXPECT_EQ(elements_of(take(with_int32(Proto::BOOL, {0, 1})).view), bytes_of(std::vector<std::uint8_t>{0, 1}));
  for (const int bits16 : {10, 16})
    EXPECT_EQ(elements_of(take(with_int32(bits16, {0x3C00, 0xFBFF})).view),
              bytes_of(std::vector<std::uint16_t>{0x3C00, 0xFBFF}));
  for (const int bits8 : {17, 18, 19, 20})
    EXPECT_EQ(elements_of(take(with_int32(bits8, {0x38, 0xFF})).view), bytes_of(std::vector<std::uint8_t>{0x38, 0xFF}));
  Proto wide = typed(Proto::INT64, 1);
  wide.add_int64_data(-5);
  EXPECT_EQ(elements_of(take(wide).view), bytes_of<std::int64_t>(-5));
  Proto large = typed(Proto::UINT64, 1);
  large.add_uint64_data(~std::uint64_t{0});
  EXPECT_EQ(elements_of(take(large).view), bytes_of(~std::uint64_t{0}));
  Proto word = typed(Proto::UINT32, 1);
  word.add_uint64_data(0xFFFFFFFF);
  EXPECT_EQ(elements_of(take(word).view), bytes_of<std::uint32_t>(0xFFFFFFFF));
}

TEST(TensorProto, ValuesThatTheTypeCannotHold) {
  const std::string_view rule = "must hold values that its type can hold; given ";
  expect_refused(with_int32(Proto::INT8, {128}), ErrorCode::file_format, rule);
  expect_refused(with_int32(Proto::UINT8, {-1}), ErrorCode::file_format, rule);
  expect_refused(with_int32(Proto::BOOL, {2}), ErrorCode::file_format, rule);
  expect_refused(with_int32(Proto::FLOAT16, {65536}), ErrorCode::file_format, rule);
  expect_refused(with_int32(17, {256}), ErrorCode::file_format, rule);
  Proto word = typed(Proto::UINT32, 1);
  word.add_uint64_data(0x100000000);
  expect_refused(word, ErrorCode::file_format, rule);
}

TEST(TensorProto, NoAxesAndNoElements) {
  EXPECT_EQ(elements_of(take(tensor_proto(Proto::FLOAT, {}, "abcd")).view), "abcd");
  EXPECT_EQ(take(typed(Proto::FLOAT, 0)).view.shape, Dims{0});
  EXPECT_EQ(take(tensor_proto(Proto::FLOAT, {3, 0}, "")).view.shape, (Dims{3, 0}));
}

TEST(TensorProto, ShapesThatDoNotFitTheValues) {
  const std::string_view rule = "must hold as many values as its shape says; given ";
  expect_refused(tensor_proto(Proto::FLOAT, {2}, "abcd"), ErrorCode::file_format, "given 4 bytes, expected 8 bytes");
  expect_refused(tensor_proto(Proto::FLOAT, {1}, "abcde"), ErrorCode::file_format, rule);
  expect_refused(tensor_proto(Proto::FLOAT, {std::int64_t{1} << 60}, "abcd"), ErrorCode::file_format, rule);
  expect_refused(typed(Proto::FLOAT, 1), ErrorCode::file_format, "given 0, expected 1");
  expect_refused(with_int32(Proto::FLOAT, {1}), ErrorCode::file_format, rule);
  Proto half_pair = typed(Proto::COMPLEX64, 1);
  half_pair.add_float_data(1);
  expect_refused(half_pair, ErrorCode::file_format, "given 1, expected 2");
  const std::string_view no_size = "has a shape without a size of 63 bits";
  expect_refused(tensor_proto(Proto::FLOAT, {-1}, "abcd"), ErrorCode::file_format, no_size);
  expect_refused(tensor_proto(Proto::FLOAT, {std::int64_t{1} << 62}, ""), ErrorCode::file_format, no_size);
  expect_refused(tensor_proto(Proto::FLOAT, {std::int64_t{1} << 32, std::int64_t{1} << 32}, ""), ErrorCode::file_format,
                 no_size);
  expect_refused(tensor_proto(Proto::UINT8, std::vector<std::int64_t>(33, 1), "a"), ErrorCode::file_unsupported,
                 "has too many axes; given 33, expected at most 32");
}

TEST(TensorProto, ValuesInOtherFiles) {
  const std::string_view rule = "keeps its values in other files, which are not read";
  Proto external = tensor_proto(Proto::FLOAT, {1}, "abcd");
  external.set_data_location(Proto::EXTERNAL);
  expect_refused(external, ErrorCode::file_unsupported, rule);
  Proto located = typed(Proto::FLOAT, 1);
  auto& entry = *located.add_external_data();
  entry.set_key("location");
  entry.set_value("/etc/passwd");
  expect_refused(located, ErrorCode::file_unsupported, rule);
  Proto segment = tensor_proto(Proto::FLOAT, {1}, "abcd");
  segment.mutable_segment()->set_begin(0);
  expect_refused(segment, ErrorCode::file_unsupported, rule);
}

}  // namespace
}  // namespace patchfold::formats
