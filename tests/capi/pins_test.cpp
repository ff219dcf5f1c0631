// SPDX-License-Identifier: Apache-2.0
// Names that belong to the numbers of the interface; abi.txt has the numbers and the layouts of structs.
#include <algorithm>
#include <iterator>

#include "capi.hpp"
#include "patchfold/error.hpp"
#include "patchfold/tiling.hpp"

namespace patchfold::test {
namespace {

static_assert(PF_MAX_RANK == 32);

TEST(Status, HasTheNameAndTheSentenceOfItsErrorCode) {
  for (const auto& entry : error_catalogue()) {
    const auto status = static_cast<pf_status>(entry.code) + 1;
    ASSERT_NE(pf_status_name(status), nullptr);
    EXPECT_EQ(pf_status_name(status), entry.name);
    EXPECT_EQ(pf_status_doc(status), entry.when);
  }
  EXPECT_EQ(error_catalogue().size(), static_cast<std::size_t>(PF_ERROR_USAGE));
  EXPECT_STREQ(pf_status_name(PF_OK), "ok");
  EXPECT_STREQ(pf_status_name(PF_ERROR_INTERNAL), "internal");
  for (const pf_status none : {INT32_MIN, -2, PF_ERROR_USAGE + 1, INT32_MAX}) {
    EXPECT_EQ(pf_status_name(none), nullptr);
    EXPECT_EQ(pf_status_doc(none), nullptr);
  }
}

TEST(DType, KeepsItsNumberAndName) {
  const struct {
    pf_dtype dtype;
    int number;
    const char* name;
  } rows[] = {
      {PF_DTYPE_BOOLEAN, 0, "bool"},
      {PF_DTYPE_INT8, 1, "int8"},
      {PF_DTYPE_INT16, 2, "int16"},
      {PF_DTYPE_INT32, 3, "int32"},
      {PF_DTYPE_INT64, 4, "int64"},
      {PF_DTYPE_UINT8, 5, "uint8"},
      {PF_DTYPE_UINT16, 6, "uint16"},
      {PF_DTYPE_UINT32, 7, "uint32"},
      {PF_DTYPE_UINT64, 8, "uint64"},
      {PF_DTYPE_FLOAT16, 9, "float16"},
      {PF_DTYPE_BFLOAT16, 10, "bfloat16"},
      {PF_DTYPE_FLOAT32, 11, "float32"},
      {PF_DTYPE_FLOAT64, 12, "float64"},
      {PF_DTYPE_COMPLEX64, 13, "complex64"},
      {PF_DTYPE_COMPLEX128, 14, "complex128"},
      {PF_DTYPE_FLOAT8_E4M3FN, 15, "float8_e4m3fn"},
      {PF_DTYPE_FLOAT8_E4M3FNUZ, 16, "float8_e4m3fnuz"},
      {PF_DTYPE_FLOAT8_E5M2, 17, "float8_e5m2"},
      {PF_DTYPE_FLOAT8_E5M2FNUZ, 18, "float8_e5m2fnuz"},
      {PF_DTYPE_OPAQUE, 19, "opaque"},
  };
  EXPECT_EQ(std::size(rows), dtypes().size());
  for (const auto& row : rows) {
    EXPECT_EQ(row.dtype, row.number) << row.name;
    EXPECT_STREQ(pf_dtype_name(row.dtype), row.name);
  }
}

TEST(PaddingMode, KeepsItsNumberAndName) {
  const struct {
    pf_padding_mode mode;
    int number;
    const char* word;
  } rows[] = {
      {PF_PADDING_CONSTANT, 0, "constant"},
      {PF_PADDING_EDGE, 1, "edge"},
      {PF_PADDING_REFLECT, 2, "reflect"},
      {PF_PADDING_SYMMETRIC, 3, "symmetric"},
  };
  EXPECT_EQ(std::ssize(rows), std::ranges::count_if(words<PaddingMode>, pads_tiles, &Word<PaddingMode>::value));
  for (const auto& row : rows) {
    EXPECT_EQ(row.mode, row.number) << row.word;
    EXPECT_EQ(word_of(static_cast<PaddingMode>(row.mode)), row.word);
  }
}

TEST(DType, HasTheNameAndSizeOfTheLibrary) {
  for (const auto dtype : dtypes()) {
    const auto number = static_cast<pf_dtype>(dtype);
    EXPECT_EQ(pf_dtype_name(number), name_of(dtype));
    EXPECT_EQ(pf_dtype_size(number), size_of(dtype));
    EXPECT_EQ(pf_dtype_is_summable(number), is_summable(dtype) ? 1 : 0);
    pf_dtype again = -1;
    EXPECT_OK(pf_dtype_from_name(pf_dtype_name(number), &again));
    EXPECT_EQ(again, number);
    EXPECT_OK(pf_dtype_from_name(std::string(short_name_of(dtype)).c_str(), &again));
    EXPECT_EQ(again, number);
  }
  for (const pf_dtype none : {INT32_MIN, -1, static_cast<pf_dtype>(dtypes().size()), INT32_MAX}) {
    EXPECT_EQ(pf_dtype_name(none), nullptr);
    EXPECT_EQ(pf_dtype_size(none), 0u);
    EXPECT_EQ(pf_dtype_is_summable(none), 0);
  }
}

TEST(Version, IsThatOfTheHeader) {
  EXPECT_EQ(pf_version(), PF_VERSION);
  EXPECT_STREQ(pf_version_string(), PF_VERSION_STRING);
  EXPECT_EQ(pf_version_string(), std::to_string(PF_VERSION_MAJOR) + "." + std::to_string(PF_VERSION_MINOR) + "." +
                                     std::to_string(PF_VERSION_PATCH));
}

}  // namespace
}  // namespace patchfold::test
