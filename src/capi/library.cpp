// SPDX-License-Identifier: Apache-2.0
// Functions that return facts about the library (version, element types, operators, instruction sets), and pf_text_destroy.
#include <string>
#include <vector>

#include "capi/convert.hpp"
#include "capi/guard.hpp"
#include "patchfold/plan.hpp"
#include "patchfold/table.hpp"
#include "tensor/lasting.hpp"

namespace patchfold::capi {
namespace {

static_assert(static_cast<int>(ArgumentKind::integer) == PF_ARGUMENT_INTEGER &&
              static_cast<int>(ArgumentKind::integers) == PF_ARGUMENT_INTEGERS &&
              static_cast<int>(ArgumentKind::axes) == PF_ARGUMENT_AXES &&
              static_cast<int>(ArgumentKind::pairs) == PF_ARGUMENT_PAIRS &&
              static_cast<int>(ArgumentKind::padding) == PF_ARGUMENT_PADDING &&
              static_cast<int>(ArgumentKind::number) == PF_ARGUMENT_NUMBER &&
              static_cast<int>(ArgumentKind::boolean) == PF_ARGUMENT_BOOLEAN &&
              static_cast<int>(ArgumentKind::choice) == PF_ARGUMENT_CHOICE);
static_assert(static_cast<int>(IndexTypes::int64) == PF_INDEX_INT64 &&
              static_cast<int>(IndexTypes::int32_or_int64) == PF_INDEX_INT32_OR_INT64 &&
              static_cast<int>(IndexTypes::same_int32_or_int64) == PF_INDEX_SAME_INT32_OR_INT64 &&
              static_cast<int>(IndexTypes::integral) == PF_INDEX_INTEGRAL &&
              static_cast<int>(IndexTypes::same_integral) == PF_INDEX_SAME_INTEGRAL);

/// The texts of an argument as C strings, ended by NUL.
struct ArgumentTexts {
  std::string name, doc, default_text;
  std::vector<std::string> choices;
  std::vector<const char*> pointers;
};
struct OperatorTexts {
  std::string name, doc, definition, data_input;
  std::vector<ArgumentTexts> arguments;
};

OperatorTexts texts_of(const OperatorSpec& spec) {
  OperatorTexts texts{
      std::string(spec.name), std::string(spec.doc), std::string(spec.definition), std::string(spec.data_input), {}};
  texts.arguments.reserve(spec.arguments.size());
  for (const auto& argument : spec.arguments) {
    auto& made = texts.arguments.emplace_back();
    made.name = argument.name;
    made.doc = argument.doc;
    made.default_text = argument.default_text;
    made.choices.assign(argument.choices.begin(), argument.choices.end());
    for (const auto& choice : made.choices) made.pointers.push_back(choice.c_str());
  }
  return texts;
}

const std::vector<OperatorTexts>& table() {
  return lasting([] {
    std::vector<OperatorTexts> made;
    made.reserve(operators().size());
    for (const auto& spec : operators()) made.push_back(texts_of(spec));
    return made;
  });
}

const std::vector<std::string>& instruction_set_names() {
  return lasting([] { return instruction_sets(); });
}

/// Returns an entry of a list; nullptr for an index out of range.
template <class T>
const T* entry(const std::vector<T>& list, std::int32_t index) noexcept {
  return index >= 0 && static_cast<std::size_t>(index) < list.size() ? &list[static_cast<std::size_t>(index)] : nullptr;
}

/// Returns the result of f, or `otherwise` if memory runs out.
template <class T, class F>
T or_else(T otherwise, F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    return otherwise;
  }
}

std::int32_t count_of(const auto& list) {
  return static_cast<std::int32_t>(list.size());
}

std::size_t checked_index(std::int32_t index, const auto& list, std::string_view op, std::string_view argument) {
  if (index < 0 || index >= count_of(list))
    fail(ErrorCode::value, op, argument, "must be at least 0 and less than the number of entries", index,
         ErrorValue("less than ", count_of(list)));
  return static_cast<std::size_t>(index);
}

pf_operator operator_info(std::int32_t index) {
  const std::size_t row = checked_index(index, operators(), "pf_operator_info", "index");
  const OperatorSpec& spec = operators()[row];
  const OperatorTexts& texts = table()[row];
  pf_operator info{};
  info.index_types = static_cast<pf_index_types>(spec.index_types);
  info.name = texts.name.c_str();
  info.doc = texts.doc.c_str();
  info.definition = texts.definition.c_str();
  info.data_input = texts.data_input.empty() ? nullptr : texts.data_input.c_str();
  for (const auto& argument : spec.arguments) info.n_shape_inputs += argument.is_input;
  info.n_arguments = count_of(spec.arguments);
  return info;
}

pf_argument argument_info(std::int32_t index, std::int32_t argument) {
  const std::size_t row = checked_index(index, operators(), "pf_argument_info", "index");
  const std::size_t place = checked_index(argument, operators()[row].arguments, operators()[row].name, "argument");
  const ArgumentSpec& spec = operators()[row].arguments[place];
  const ArgumentTexts& texts = table()[row].arguments[place];
  pf_argument info{};
  info.kind = static_cast<pf_argument_kind>(spec.kind);
  info.name = texts.name.c_str();
  info.doc = texts.doc.c_str();
  info.default_text = texts.default_text.c_str();
  info.choices = texts.pointers.data();
  info.n_choices = count_of(texts.pointers);
  info.is_input = spec.is_input;
  info.required = spec.required;
  return info;
}

}  // namespace
}  // namespace patchfold::capi

using namespace patchfold::capi;  // NOLINT: the functions below are the interface itself

int32_t pf_version(void) {
  return PF_VERSION;
}
const char* pf_version_string(void) {
  return PF_VERSION_STRING;
}

const char* pf_dtype_name(pf_dtype dtype) {
  const auto known = dtype_of(dtype);
  return known ? patchfold::name_of(*known).data() : nullptr;  // ends with NUL, since names are literals
}

pf_status pf_dtype_from_name(const char* name, pf_dtype* dtype) {
  return guarded([&] {
    required(dtype, "pf_dtype_from_name", "dtype");
    const auto found = patchfold::dtype_of(required(name, "pf_dtype_from_name", "name"));
    if (!found)
      patchfold::fail(patchfold::ErrorCode::value, "pf_dtype_from_name", "name", "there is no such element type", name);
    *dtype = static_cast<pf_dtype>(*found);
  });
}

uint32_t pf_dtype_size(pf_dtype dtype) {
  const auto known = dtype_of(dtype);
  return known ? static_cast<uint32_t>(patchfold::size_of(*known)) : 0;
}

int32_t pf_dtype_is_summable(pf_dtype dtype) {
  const auto known = dtype_of(dtype);
  return known && patchfold::is_summable(*known);
}

int32_t pf_operator_count(void) {
  return or_else<int32_t>(0, [] { return count_of(table()); });
}

const char* pf_operator_name(int32_t index) {
  return or_else<const char*>(nullptr, [&] {
    const auto* row = entry(table(), index);
    return row == nullptr ? nullptr : row->name.c_str();
  });
}

pf_status pf_find_operator(const char* op, int32_t* index) {
  return guarded([&] {
    required(index, "pf_find_operator", "index");
    *index = static_cast<int32_t>(&patchfold::find_operator(required(op, "pf_find_operator", "op")) -
                                  patchfold::operators().data());
  });
}

pf_status pf_operator_info(int32_t index, pf_operator* info) {
  return guarded([&] { save(operator_info(index), info, sizeof(pf_operator), "pf_operator_info", "info"); });
}

pf_status pf_argument_info(int32_t index, int32_t argument, pf_argument* info) {
  return guarded([&] { save(argument_info(index, argument), info, sizeof(pf_argument), "pf_argument_info", "info"); });
}

int32_t pf_instruction_set_count(void) {
  return or_else<int32_t>(0, [] { return count_of(instruction_set_names()); });
}

const char* pf_instruction_set_name(int32_t index) {
  return or_else<const char*>(nullptr, [&] {
    const auto* name = entry(instruction_set_names(), index);
    return name == nullptr ? nullptr : name->c_str();
  });
}

pf_status pf_use_instruction_set(const char* name) {
  return guarded([&] { patchfold::use_instruction_set(name == nullptr ? "" : name); });
}

void pf_text_destroy(char* text) {
  delete[] text;
}
