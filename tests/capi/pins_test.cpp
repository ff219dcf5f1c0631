// SPDX-License-Identifier: Apache-2.0
// Tests that numbers and layouts that compiled programs depend on are unchanged.
#include <algorithm>
#include <cstddef>
#include <iterator>

#include "capi.hpp"
#include "patchfold/error.hpp"
#include "patchfold/tiling.hpp"

namespace patchfold::test {
namespace {

static_assert(PF_OK == 0 && PF_ERROR_INTERNAL == -1 && PF_ERROR_RANK == 1 && PF_ERROR_LENGTH == 2 && PF_ERROR_TYPE == 3 &&
              PF_ERROR_VALUE == 4 && PF_ERROR_DIVISIBLE == 5 && PF_ERROR_POSITION_COUNT == 6 && PF_ERROR_SHAPE == 7 &&
              PF_ERROR_DTYPE == 8 && PF_ERROR_OVERFLOW == 9 && PF_ERROR_LIMIT == 10 && PF_ERROR_STRIDES == 11 &&
              PF_ERROR_OVERLAP == 12 && PF_ERROR_NULL_DATA == 13 && PF_ERROR_MISSING == 14 &&
              PF_ERROR_UNKNOWN_ARGUMENT == 15 && PF_ERROR_UNKNOWN_OPERATOR == 16 && PF_ERROR_OUT_OF_MEMORY == 17 &&
              PF_ERROR_EXECUTOR == 18 && PF_ERROR_FILE_OPEN == 19 && PF_ERROR_FILE_WRITE == 20 &&
              PF_ERROR_FILE_FORMAT == 21 && PF_ERROR_FILE_UNSUPPORTED == 22 && PF_ERROR_USAGE == 23);
static_assert(PF_VALUE_INTEGER == 0 && PF_VALUE_UNSIGNED == 1 && PF_VALUE_NUMBER == 2 && PF_VALUE_COMPLEX == 3 &&
              PF_VALUE_INTEGERS == 4 && PF_VALUE_PAIRS == 5 && PF_VALUE_TEXT == 6);
static_assert(PF_ARGUMENT_INTEGER == 0 && PF_ARGUMENT_INTEGERS == 1 && PF_ARGUMENT_AXES == 2 && PF_ARGUMENT_PAIRS == 3 &&
              PF_ARGUMENT_PADDING == 4 && PF_ARGUMENT_NUMBER == 5 && PF_ARGUMENT_BOOLEAN == 6 && PF_ARGUMENT_CHOICE == 7);
static_assert(PF_INDEX_INT64 == 0 && PF_INDEX_INT32_OR_INT64 == 1 && PF_INDEX_SAME_INT32_OR_INT64 == 2 &&
              PF_INDEX_INTEGRAL == 3 && PF_INDEX_SAME_INTEGRAL == 4);
static_assert(PF_PART_OPERATOR == 0 && PF_PART_ARGUMENT == 1 && PF_PART_RULE == 2 && PF_PART_GIVEN == 3 &&
              PF_PART_EXPECTED == 4 && PF_PART_HINT == 5);
static_assert(PF_MAX_RANK == 32);

// Layouts on machines with pointers of 64 bits. Structs that may grow have no gap at their end, since a new field in a gap would
// not change the size.
static_assert(sizeof(void*) != 8 || (sizeof(pf_tensor) == 40 && offsetof(pf_tensor, shape) == 8 &&
                                     offsetof(pf_tensor, stride_bytes) == 16 && offsetof(pf_tensor, rank) == 24 &&
                                     offsetof(pf_tensor, dtype) == 28 && offsetof(pf_tensor, element_size) == 32));
static_assert(sizeof(void*) != 8 || (sizeof(pf_attribute) == 64 && offsetof(pf_attribute, size) == 0 &&
                                     offsetof(pf_attribute, kind) == 4 && offsetof(pf_attribute, name) == 8 &&
                                     offsetof(pf_attribute, integer) == 16 && offsetof(pf_attribute, number) == 24 &&
                                     offsetof(pf_attribute, imaginary) == 32 && offsetof(pf_attribute, count) == 40 &&
                                     offsetof(pf_attribute, integers) == 48 && offsetof(pf_attribute, text) == 56));
static_assert(sizeof(void*) != 8 || (sizeof(pf_executor) == 24 && offsetof(pf_executor, threads) == 4 &&
                                     offsetof(pf_executor, context) == 8 && offsetof(pf_executor, run) == 16));
static_assert(sizeof(void*) != 8 ||
              (sizeof(pf_operator) == 48 && offsetof(pf_operator, index_types) == 4 && offsetof(pf_operator, name) == 8 &&
               offsetof(pf_operator, doc) == 16 && offsetof(pf_operator, definition) == 24 &&
               offsetof(pf_operator, data_input) == 32 && offsetof(pf_operator, n_shape_inputs) == 40 &&
               offsetof(pf_operator, n_arguments) == 44));
static_assert(sizeof(void*) != 8 || (sizeof(pf_argument) == 56 && offsetof(pf_argument, kind) == 4 &&
                                     offsetof(pf_argument, name) == 8 && offsetof(pf_argument, doc) == 16 &&
                                     offsetof(pf_argument, default_text) == 24 && offsetof(pf_argument, choices) == 32 &&
                                     offsetof(pf_argument, n_choices) == 40 && offsetof(pf_argument, is_input) == 44 &&
                                     offsetof(pf_argument, required) == 48 && offsetof(pf_argument, reserved) == 52));

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
