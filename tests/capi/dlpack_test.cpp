// SPDX-License-Identifier: Apache-2.0
#include "patchfold/dlpack.h"

#include <limits>

#include "capi.hpp"

namespace patchfold::test {
namespace {

DLTensor tensor_of(void* data, std::vector<std::int64_t>& shape, std::int64_t* strides, DLDataType dtype) {
  DLTensor tensor{};
  tensor.data = data;
  tensor.device.device_type = kDLCPU;
  tensor.ndim = static_cast<int>(shape.size());
  tensor.dtype = dtype;
  tensor.shape = shape.data();
  tensor.strides = strides;
  return tensor;
}

DLDataType type(unsigned code, unsigned bits, unsigned lanes = 1) {
  return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits), static_cast<std::uint16_t>(lanes)};
}

TEST(DLPack, TypesHaveTheNumbersOfTheTable) {
  for (unsigned code = 0; code < 256; ++code) {
    for (unsigned bits = 0; bits < 256; ++bits) {
      pf_dtype expected = -1;
      for (const DTypeInfo& info : dtype_table)
        if (info.dlpack == static_cast<int>(code) && info.size * 8u == bits) expected = static_cast<pf_dtype>(info.dtype);
      EXPECT_EQ(pf_dtype_from_dlpack(type(code, bits)), expected) << code << " " << bits;
      EXPECT_EQ(pf_dtype_from_dlpack(type(code, bits, 2)), -1);
      EXPECT_EQ(pf_dtype_from_dlpack(type(code, bits, 0)), -1);
    }
  }
}

TEST(DLPack, StridesAndOffsetBecomeBytes) {
  std::vector<std::int64_t> shape = {2, 3};
  std::int64_t strides[] = {-3, 2}, storage[] = {0, 0};
  double data[12];
  DLTensor from = tensor_of(data, shape, strides, type(kDLFloat, 64));
  from.byte_offset = 24;
  pf_tensor to;
  ASSERT_EQ(pf_from_dlpack(&from, &to, storage), PF_OK);
  EXPECT_EQ(to.data, &data[3]);
  EXPECT_EQ(to.shape, shape.data());
  EXPECT_EQ(to.stride_bytes, storage);
  EXPECT_EQ(storage[0], -24);
  EXPECT_EQ(storage[1], 16);
  EXPECT_EQ(to.rank, 2);
  EXPECT_EQ(to.dtype, PF_DTYPE_FLOAT64);
  EXPECT_EQ(to.element_size, 8u);
}

TEST(DLPack, NoStridesMeanCompact) {
  std::vector<std::int64_t> shape = {2, 3};
  float data[6];
  const DLTensor from = tensor_of(data, shape, nullptr, type(kDLFloat, 32));
  pf_tensor to;
  ASSERT_EQ(pf_from_dlpack(&from, &to, nullptr), PF_OK);
  EXPECT_EQ(to.stride_bytes, nullptr);
  EXPECT_EQ(to.data, data);
}

TEST(DLPack, NoDataStaysNoData) {
  std::vector<std::int64_t> shape = {0};
  DLTensor from = tensor_of(nullptr, shape, nullptr, type(kDLInt, 8));
  from.byte_offset = 64;
  pf_tensor to;
  ASSERT_EQ(pf_from_dlpack(&from, &to, nullptr), PF_OK);
  EXPECT_EQ(to.data, nullptr);
}

TEST(DLPack, AScalarNeedsNeitherShapeNorStrides) {
  std::int64_t stride = 7;
  float data = 0;
  DLTensor from{};
  from.data = &data;
  from.device.device_type = kDLCPU;
  from.dtype = type(kDLFloat, 32);
  from.strides = &stride;
  pf_tensor to;
  ASSERT_EQ(pf_from_dlpack(&from, &to, nullptr), PF_OK);
  EXPECT_EQ(to.rank, 0);
  EXPECT_EQ(to.stride_bytes, nullptr);
}

TEST(DLPack, WhatCannotBeDescribedIsRefusedAndNothingIsWritten) {
  std::vector<std::int64_t> shape = {2, 3};
  std::int64_t strides[] = {3, 1}, storage[] = {5, 5};
  float data[6];
  const DLTensor good = tensor_of(data, shape, strides, type(kDLFloat, 32));
  pf_tensor to{};
  const auto refused = [&](auto change) {
    DLTensor from = good;
    change(from);
    return pf_from_dlpack(&from, &to, storage);
  };
  EXPECT_EQ(pf_from_dlpack(nullptr, &to, storage), PF_ERROR_MISSING);
  EXPECT_EQ(pf_from_dlpack(&good, nullptr, storage), PF_ERROR_MISSING);
  EXPECT_EQ(pf_from_dlpack(&good, &to, nullptr), PF_ERROR_MISSING);
  EXPECT_EQ(refused([](DLTensor& t) { t.shape = nullptr; }), PF_ERROR_MISSING);
  EXPECT_EQ(refused([](DLTensor& t) { t.device.device_type = kDLCUDA; }), PF_ERROR_VALUE);
  EXPECT_EQ(refused([](DLTensor& t) { t.ndim = -1; }), PF_ERROR_RANK);
  EXPECT_EQ(refused([](DLTensor& t) { t.ndim = PF_MAX_RANK + 1; }), PF_ERROR_RANK);
  EXPECT_EQ(refused([](DLTensor& t) { t.dtype.lanes = 4; }), PF_ERROR_DTYPE);
  EXPECT_EQ(refused([](DLTensor& t) { t.dtype.bits = 4; }), PF_ERROR_DTYPE);
  EXPECT_EQ(refused([](DLTensor& t) { t.dtype.code = kDLOpaqueHandle; }), PF_ERROR_DTYPE);
  for (const auto stride : {std::numeric_limits<std::int64_t>::max() / 4 + 1, std::numeric_limits<std::int64_t>::min()}) {
    strides[1] = stride;
    EXPECT_EQ(pf_from_dlpack(&good, &to, storage), PF_ERROR_OVERFLOW);
  }
  EXPECT_EQ(to.data, nullptr);
  EXPECT_EQ(storage[0], 5);
}

TEST(DLPack, ATransposedImageIsReadInItsOwnOrder) {
  // The tensor has the shape 2 x 4. Its memory holds the transposed matrix, 4 x 2, row by row.
  std::vector<std::int64_t> shape = {1, 1, 2, 4};
  std::int64_t strides[] = {8, 8, 1, 2}, storage[4];
  std::vector<std::int16_t> data = {0, 1, 10, 11, 20, 21, 30, 31};
  const DLTensor from = tensor_of(data.data(), shape, strides, type(kDLInt, 16));
  pf_tensor to;
  ASSERT_EQ(pf_from_dlpack(&from, &to, storage), PF_OK);
  const pf_attribute block = pf_integer("block", 2);
  Tensor<std::int16_t> deep({1, 4, 1, 2});
  const pf_tensor output = deep.view();
  ASSERT_OK(pf_run("space_to_depth", &block, 1, &to, 1, &output, nullptr));
  EXPECT_EQ(deep.values, (std::vector<std::int16_t>{0, 20, 10, 30, 1, 21, 11, 31}));
}

}  // namespace
}  // namespace patchfold::test
