// SPDX-License-Identifier: Apache-2.0
// Makes the operator table from the rows of all dialects, and makes the checks that all rows share.
#include "patchfold/table.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/fail.hpp"
#include "base/nearest.hpp"
#include "base/other_words.hpp"
#include "dialects/rows.hpp"
#include "dialects/text.hpp"
#include "tensor/held.hpp"
#include "tensor/lasting.hpp"

namespace patchfold {

// Returns the dialect; each dialect's file defines one such function.
dialects::Dialect dialect();
namespace keras {
dialects::Dialect dialect();
}
namespace onnx {
dialects::Dialect dialect();
}
namespace openvino {
dialects::Dialect dialect();
}
namespace tensorflow {
dialects::Dialect dialect();
}
namespace torch {
dialects::Dialect dialect();
}

namespace dialects {
namespace {

bool is_integer(DType dtype) {
  return kind_of(dtype) == ElementKind::signed_integer || kind_of(dtype) == ElementKind::unsigned_integer;
}

bool allowed(IndexTypes types, DType dtype) {
  switch (types) {
    case IndexTypes::int64: return dtype == DType::int64;
    case IndexTypes::int32_or_int64:
    case IndexTypes::same_int32_or_int64: return dtype == DType::int32 || dtype == DType::int64;
    case IndexTypes::integral:
    case IndexTypes::same_integral: return is_integer(dtype);
  }
  return false;
}

std::string_view index_phrase(IndexTypes types) {
  switch (types) {
    case IndexTypes::int64: return "int64";
    case IndexTypes::int32_or_int64: return "int32 or int64";
    case IndexTypes::same_int32_or_int64: return "int32 or int64, the same for all shape inputs";
    case IndexTypes::integral: return "an integer type";
    case IndexTypes::same_integral: return "an integer type, the same for all shape inputs";
  }
  return "";
}

std::string_view without_version(std::string_view name) {
  return name.substr(0, name.rfind('-'));
}

std::int64_t version_of(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  return dash == std::string_view::npos ? 0 : parse_integer(name.substr(dash + 1)).value_or(0);
}

struct Table {
  std::vector<DialectSpec> dialects{};
  std::vector<OperatorSpec> rows{};
  std::vector<std::string_view> left_out{};  ///< names of operators that this build does not hold
};

const Table& table() {
  return lasting([] {
    Table all;
    for (const auto make :
         {dialect, openvino::dialect, onnx::dialect, tensorflow::dialect, torch::dialect, keras::dialect}) {
      Dialect made = make();
      const auto held = [](const OperatorSpec& spec) { return holds(spec.name); };
      if (std::ranges::any_of(made.rows, held)) all.dialects.push_back(made.spec);
      for (OperatorSpec& spec : made.rows) {
        if (!held(spec)) {
          all.left_out.push_back(spec.name);
          continue;
        }
        spec.dialect = made.spec.name;
        all.rows.push_back(std::move(spec));
      }
    }
    return all;
  });
}

/// Returns the options of a neutral operator that are not defaults: " layout=channels_last order=kernel".
template <class Op>
std::string options_of(const Op& op) {
  std::string text;
  const auto add = [&](std::string_view name, const auto& value, const auto& standard) {
    if (value != standard) text += " " + std::string(name) + "=" + std::string(word_of(value));
  };
  if constexpr (requires { op.mode; }) add("mode", op.mode, Op{}.mode);
  if constexpr (requires { op.layout; }) add("layout", op.layout, Op{}.layout);
  if constexpr (requires { op.order; }) add("order", op.order, Op{}.order);
  if constexpr (requires { op.positions; }) add("positions", op.positions, Op{}.positions);
  return text;
}

}  // namespace

const ArgumentSpec* find_argument(const OperatorSpec& op, std::string_view name) noexcept {
  for (const ArgumentSpec& spec : op.arguments)
    if (spec.name == name || (!name.empty() && spec.old_name == name)) return &spec;
  return nullptr;
}

const ArgumentSpec& known_argument(const OperatorSpec& op, std::string_view name) {
  if (const ArgumentSpec* spec = find_argument(op, name)) return *spec;
  std::string known;
  Nearest nearest(name);
  for (const ArgumentSpec& spec : op.arguments) {
    known += (known.empty() ? "" : ", ") + std::string(spec.name);
    nearest.offer(spec.name);
  }
  fail(ErrorCode::unknown_argument, op.name, name, "is not an argument of this operator", {}, known,
       nearest.found().empty() ? ErrorValue() : ErrorValue("did you mean ", nearest.found(), "?"));
}

namespace {

/// Throws Error(unknown_argument, missing) unless the arguments exist, are given once, and are complete.
void check_names(const OperatorSpec& op, std::span<const Argument> arguments) {
  for (auto argument = arguments.begin(); argument != arguments.end(); ++argument) {
    const ArgumentSpec& spec = known_argument(op, argument->name);
    const auto same = [&](const Argument& other) { return find_argument(op, other.name) == &spec; };
    if (std::find_if(arguments.begin(), argument, same) != argument)
      fail(ErrorCode::unknown_argument, op.name, argument->name, "must be given only once");
  }
  for (const ArgumentSpec& spec : op.arguments) {
    const auto same = [&](const Argument& argument) { return find_argument(op, argument.name) == &spec; };
    if (spec.required && std::ranges::none_of(arguments, same)) {
      std::string choices;
      for (const std::string_view word : spec.choices) choices += (choices.empty() ? "" : " or ") + std::string(word);
      fail(ErrorCode::missing, op.name, spec.name, "must be given", {},
           choices.empty() ? ErrorValue(phrase(spec.kind)) : ErrorValue(choices));
    }
  }
}

/// Throws Error(type, rank) unless tensors for shape inputs have types and ranks that the operator takes.
void check_index_tensors(const OperatorSpec& op, std::span<const Argument> arguments) {
  const bool same = op.index_types == IndexTypes::same_int32_or_int64 || op.index_types == IndexTypes::same_integral;
  std::optional<DType> first;
  for (const Argument& argument : arguments) {
    const auto* tensor = std::get_if<IndexTensor>(&argument.value);
    if (tensor == nullptr) continue;
    const ArgumentSpec* const spec = find_argument(op, argument.name);
    if (!spec->is_input)
      fail(ErrorCode::type, op.name, argument.name, "is an attribute, not an input", "a tensor", phrase(spec->kind));
    if (!allowed(op.index_types, tensor->dtype) || (same && first && *first != tensor->dtype))
      fail(ErrorCode::type, op.name, argument.name, "must have an index type that the operator takes", tensor->dtype,
           index_phrase(op.index_types));
    if (!first) first = tensor->dtype;
    if (spec->kind == ArgumentKind::pairs) {
      if (tensor->shape.size() != 2 || tensor->shape[1] != 2)
        fail_rank(op.name, argument.name, "must be a tensor of pairs", tensor->shape, "shape [M, 2]");
    } else if (tensor->shape.size() != 1) {
      fail_rank(op.name, argument.name, "must be a tensor with one axis", tensor->shape, "rank 1");
    }
  }
}

/// Throws Error(value) if the padding mode is a word that pads with 0, and the fill is another number.
void check_padding(const OperatorSpec& op, std::span<const Argument> arguments) {
  const auto mode = std::ranges::find(arguments, std::string_view("padding_mode"), &Argument::name);
  const auto fill = std::ranges::find(arguments, std::string_view("value"), &Argument::name);
  if (mode == arguments.end() || fill == arguments.end()) return;
  Scalar value;
  assign(value, fill->value, {op, *find_argument(op, fill->name)});
  check_fill(op.name, mode->name, std::get<std::string>(mode->value), fill->name, value);
}

}  // namespace

void Fields::set(void* op, std::span<const Argument> arguments) const {
  check_names(spec, arguments);
  check_index_tensors(spec, arguments);
  for (const Argument& argument : arguments)
    for (const AnyField& field : list)
      if (field.spec.name == argument.name || field.spec.old_name == argument.name)
        field.set(op, argument.value, {spec, field.spec});
  check_padding(spec, arguments);
}

std::shared_ptr<const Fields> begin_row(const RowText& text, std::vector<AnyField> list) {
  OperatorSpec spec;
  spec.name = text.names.op;
  spec.doc = text.doc;
  spec.definition = text.definition;
  spec.index_types = text.index_types;
  spec.example = text.example;
  for (const AnyField& field : list) spec.arguments.push_back(field.spec);
  return std::make_shared<const Fields>(Fields{std::move(spec), text.names, std::move(list)});
}

OperatorSpec complete_row(const Fields& fields, const ops::Neutral& neutral, const Dims& data) {
  OperatorSpec spec = fields.spec;
  const Geometry geometry = ops::lower(neutral, data, fields.names).geometry;
  spec.sums = geometry.sums;
  if (geometry.has_data) spec.data_input = fields.names.data;
  spec.output = fields.names.output;
  spec.neutral = std::visit([](const auto& op) { return std::string(op.name) + options_of(op); }, neutral);
  return spec;
}

ProblemText example_of(const OperatorSpec& spec) {
  return parse_problem_of(spec, spec.example);
}

ops::Names names_for(const ops::Names& own, const TensorNames& tensors) {
  ops::Names names = own;
  if (!tensors.data.empty()) names.data = tensors.data;
  if (!tensors.output.empty()) names.output = tensors.output;
  return names;
}

}  // namespace dialects

std::span<const DialectSpec> all_dialects() {
  return dialects::table().dialects;
}

std::span<const OperatorSpec> operators() {
  return dialects::table().rows;
}

namespace {

/// Returns the hint for a name that no operator has.
ErrorValue operator_hint(std::string_view name) {
  const auto names_of = [](std::string_view dialect) {
    std::string names;
    for (const OperatorSpec& spec : operators())
      if (spec.dialect == dialect) names += (names.empty() ? "" : ", ") + std::string(spec.name);
    return names;
  };
  for (const DialectSpec& dialect : all_dialects())
    if (dialect.name == name) return {"the ", name, " operators are ", names_of(name)};
  if (const OtherOperator other = operator_here(name); !other.here.empty()) {
    ErrorValue hint("it is called ", other.here, " here");
    if (!other.reduce.empty()) hint.append(", with ", Setting("reduce", std::string(other.reduce)));
    return hint;
  }
  Nearest nearest(name);
  std::string_view meant;
  std::string same;  // the operators that have this name in their dialects
  for (const OperatorSpec& spec : operators()) {
    // The name is compared with each operator's name as it is, without its version, without its dialect, and without both.
    const std::string_view plain = dialects::without_version(spec.name);
    const std::string_view bare = spec.name.substr(spec.name.find('.') + 1);
    for (const std::string_view candidate : {spec.name, plain, bare, dialects::without_version(bare)})
      if (nearest.offer(candidate)) meant = spec.name;
    if (dialects::without_version(bare) == name && find_operator(plain).name == spec.name)
      same += (same.empty() ? "" : " or ") + std::string(spec.name);
  }
  if (!same.empty()) return {"did you mean ", same, "?"};
  if (!meant.empty()) return {"did you mean ", meant, "?"};
  if (dialects::version_of(name) > 0) return operator_hint(dialects::without_version(name));
  return {"operators are ", names_of("neutral"), ", and those of the dialects, as torch.fold"};
}

}  // namespace

const OperatorSpec& find_operator(std::string_view name) {
  for (const OperatorSpec& spec : operators())
    if (spec.name == name) return spec;
  const OperatorSpec* newest = nullptr;
  for (const OperatorSpec& spec : operators())
    if (spec.name.starts_with(name) && dialects::without_version(spec.name) == name &&
        (newest == nullptr || dialects::version_of(spec.name) > dialects::version_of(newest->name)))
      newest = &spec;
  if (newest != nullptr) return *newest;
  for (const std::string_view left_out : dialects::table().left_out)
    if (left_out == name || dialects::without_version(left_out) == name) fail_left_out(left_out);
  fail(ErrorCode::unknown_operator, "", "operator", "there is no operator of this name", name, {}, operator_hint(name));
}

}  // namespace patchfold
