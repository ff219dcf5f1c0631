// SPDX-License-Identifier: Apache-2.0
// Tests the tables of operators and words that generators of bindings read. Tests that every number of the interface has the
// right name; abi.txt lists the numbers and the layouts of structs.
#include "patchfold/table.hpp"

#include <algorithm>
#include <iterator>

#include "capi.hpp"
#include "patchfold/error.hpp"
#include "patchfold/tiling.hpp"

namespace patchfold::test {
namespace {

TEST(Table, ListsEveryOperatorWithItsArguments) {
  const auto all = operators();
  ASSERT_EQ(static_cast<std::size_t>(pf_operator_count()), all.size());
  for (std::int32_t i = 0; i < pf_operator_count(); ++i) {
    const auto& spec = all[static_cast<std::size_t>(i)];
    EXPECT_EQ(pf_operator_name(i), spec.name);
    std::int32_t index = -1;
    EXPECT_OK(pf_find_operator(pf_operator_name(i), &index));
    EXPECT_EQ(index, i);

    pf_operator info = {sizeof(pf_operator), -1, nullptr, nullptr, nullptr, nullptr, -1, -1};
    ASSERT_OK(pf_operator_info(i, &info));
    EXPECT_EQ(info.size, sizeof(pf_operator));
    EXPECT_EQ(info.index_types, static_cast<pf_index_types>(spec.index_types));
    EXPECT_EQ(info.name, spec.name);
    EXPECT_EQ(info.doc, spec.doc);
    EXPECT_EQ(info.definition, spec.definition);
    EXPECT_EQ(info.data_input == nullptr ? "" : info.data_input, spec.data_input);
    EXPECT_EQ(info.data_input == nullptr, spec.data_input.empty());
    ASSERT_EQ(static_cast<std::size_t>(info.n_arguments), spec.arguments.size());

    for (std::int32_t j = 0; j < info.n_arguments; ++j) {
      const auto& expected = spec.arguments[static_cast<std::size_t>(j)];
      pf_argument argument = {sizeof(pf_argument), -1, nullptr, nullptr, nullptr, nullptr, -1, -1, -1, -1};
      ASSERT_OK(pf_argument_info(i, j, &argument));
      EXPECT_EQ(argument.kind, static_cast<pf_argument_kind>(expected.kind));
      EXPECT_EQ(argument.name, expected.name);
      EXPECT_EQ(argument.doc, expected.doc);
      EXPECT_EQ(argument.default_text, expected.default_text);
      EXPECT_EQ(argument.is_input, expected.is_input ? 1 : 0);
      EXPECT_EQ(argument.required, expected.required ? 1 : 0);
      EXPECT_EQ(argument.reserved, 0);
      EXPECT_EQ(argument.is_input == 1, j < info.n_shape_inputs) << spec.name << ": shape inputs come first";
      ASSERT_EQ(static_cast<std::size_t>(argument.n_choices), expected.choices.size());
      EXPECT_EQ(argument.n_choices > 0, argument.kind == PF_ARGUMENT_CHOICE);
      for (std::int32_t k = 0; k < argument.n_choices; ++k) {
        EXPECT_EQ(argument.choices[k], expected.choices[static_cast<std::size_t>(k)]);
      }
    }
  }
}

TEST(Table, FindsOperatorsWithoutTheirVersion) {
  std::int32_t index = -1;
  ASSERT_OK(pf_find_operator("onnx.Col2Im", &index));
  EXPECT_STREQ(pf_operator_name(index), "onnx.Col2Im-18");
  EXPECT_EQ(pf_find_operator("onnx.Col2In", &index), PF_ERROR_UNKNOWN_OPERATOR);
  EXPECT_NE(std::string(pf_last_error()).find("onnx.Col2Im"), std::string::npos) << pf_last_error();
  EXPECT_STREQ(pf_operator_name(index), "onnx.Col2Im-18");
}

TEST(Table, EveryWordThatTheHeaderNamesIsRead) {
  const std::int64_t image[] = {1, 1, 6, 6};
  const pf_tensor input = {nullptr, image, nullptr, 4, PF_DTYPE_FLOAT32, 0};
  for (const auto& [argument, word] :
       {std::pair("padding", "valid"), std::pair("padding", "same"), std::pair("padding", "same_upper"),
        std::pair("padding", "same_lower"), std::pair("padding_mode", "replicate"), std::pair("padding_mode", "CONSTANT"),
        std::pair("order", "c kh kw"), std::pair("order", "p1 p2 c")}) {
    const pf_attribute attributes[] = {pf_text("kernel_size", "3"), pf_text(argument, word)};
    std::int64_t shape[PF_MAX_RANK];
    std::int32_t rank = PF_MAX_RANK;
    EXPECT_OK(pf_output_shape("unfold", attributes, 2, &input, 1, shape, &rank)) << word;
    EXPECT_EQ(shape[2], std::string(word).starts_with("same") ? 36 : 16) << word;
  }
}

TEST(Table, RefusesIndicesOutOfRange) {
  pf_operator info = {sizeof(pf_operator), 0, nullptr, nullptr, nullptr, nullptr, 0, 0};
  pf_argument argument = {sizeof(pf_argument), 0, nullptr, nullptr, nullptr, nullptr, 0, 0, 0, 0};
  const std::string count = std::to_string(pf_operator_count());
  for (const std::int32_t index : {INT32_MIN, -1, pf_operator_count(), INT32_MAX}) {
    EXPECT_EQ(pf_operator_name(index), nullptr);
    EXPECT_EQ(outcome(pf_operator_info(index, &info)),
              "value: pf_operator_info: index: must be at least 0 and less than the number of entries; given " +
                  std::to_string(index) + ", expected less than " + count);
    EXPECT_EQ(pf_argument_info(index, 0, &argument), PF_ERROR_VALUE);
    EXPECT_EQ(pf_argument_info(0, index == INT32_MAX ? index : -1, &argument), PF_ERROR_VALUE);
  }
  EXPECT_EQ(info.name, nullptr);
  EXPECT_EQ(argument.name, nullptr);
}

TEST(Table, StructsMayBeLargerThanThisVersionKnowsButNotSmaller) {
  struct Later {
    pf_operator known;
    std::int64_t unknown;
  } later{};
  later.known.size = sizeof(Later);
  later.unknown = -1;
  ASSERT_OK(pf_operator_info(0, &later.known));
  EXPECT_EQ(later.known.name, operators()[0].name);
  EXPECT_EQ(later.known.size, sizeof(Later));
  EXPECT_EQ(later.unknown, 0);

  pf_operator earlier{};
  for (const std::uint32_t size : {0u, 4u, static_cast<std::uint32_t>(sizeof(pf_operator)) - 1}) {
    earlier.size = size;
    EXPECT_EQ(outcome(pf_operator_info(0, &earlier)),
              "value: pf_operator_info: info: size must be the size of the struct; given " + std::to_string(size) +
                  ", expected " + std::to_string(sizeof(pf_operator)));
    EXPECT_EQ(earlier.name, nullptr);
  }
  pf_argument argument{};
  EXPECT_EQ(pf_argument_info(0, 0, &argument), PF_ERROR_VALUE);
  EXPECT_EQ(outcome(pf_operator_info(0, nullptr)), "missing: pf_operator_info: info: must not be NULL");
  EXPECT_EQ(outcome(pf_argument_info(0, 0, nullptr)), "missing: pf_argument_info: info: must not be NULL");
}

TEST(Table, DefaultsAreWhatLeavingTheArgumentOutMeans) {
  for (const auto& spec : operators()) {
    for (const auto& argument : spec.arguments) {
      if (argument.default_text.empty()) continue;
      EXPECT_NO_THROW(parse_value(spec, argument, argument.default_text)) << spec.name << " " << argument.name;
    }
  }
}

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
      {PF_PADDING_CONSTANT, 0, "constant"},   {PF_PADDING_EDGE, 1, "edge"}, {PF_PADDING_REFLECT, 2, "reflect"},
      {PF_PADDING_SYMMETRIC, 3, "symmetric"}, {PF_PADDING_WRAP, 4, "wrap"},
  };
  EXPECT_EQ(std::size(rows), std::size(words<PaddingMode>));
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
