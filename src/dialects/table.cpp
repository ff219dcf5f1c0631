// SPDX-License-Identifier: Apache-2.0
// The operator table put together, and the checks that all its rows share.
#include "patchfold/table.hpp"

#include <algorithm>
#include <numeric>

#include "dialects/rows.hpp"
#include "dialects/text.hpp"
#include "tensor/fail.hpp"
#include "tensor/lasting.hpp"

namespace patchfold {

// Each dialect's file defines one of these.
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

std::string_view phrase(IndexTypes types) {
  switch (types) {
    case IndexTypes::int64: return "int64";
    case IndexTypes::int32_or_int64: return "int32 or int64";
    case IndexTypes::same_int32_or_int64: return "int32 or int64, the same for all shape inputs";
    case IndexTypes::integral: return "an integer type";
    case IndexTypes::same_integral: return "an integer type, the same for all shape inputs";
  }
  return "";
}

/// Edits that turn one word into the other (Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row[b.size()];
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
};

const Table& table() {
  return lasting([] {
    Table all;
    for (const auto make :
         {dialect, openvino::dialect, onnx::dialect, tensorflow::dialect, torch::dialect, keras::dialect}) {
      Dialect made = make();
      all.dialects.push_back(made.spec);
      for (OperatorSpec& spec : made.rows) {
        spec.dialect = made.spec.name;
        all.rows.push_back(std::move(spec));
      }
    }
    return all;
  });
}

/// The options of a neutral operator that differ from its defaults: " layout=channels_last order=kernel".
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
  for (const ArgumentSpec& spec : op.arguments) known += (known.empty() ? "" : ", ") + std::string(spec.name);
  fail(ErrorCode::unknown_argument, op.name, name, "is not an argument of this operator", {}, known);
}

void check_names(const OperatorSpec& op, std::span<const Argument> arguments) {
  for (auto argument = arguments.begin(); argument != arguments.end(); ++argument) {
    const ArgumentSpec& spec = known_argument(op, argument->name);
    const auto same = [&](const Argument& other) { return find_argument(op, other.name) == &spec; };
    if (std::find_if(arguments.begin(), argument, same) != argument)
      fail(ErrorCode::unknown_argument, op.name, argument->name, "must be given only once");
  }
  for (const ArgumentSpec& spec : op.arguments) {
    const auto same = [&](const Argument& argument) { return find_argument(op, argument.name) == &spec; };
    if (spec.required && std::ranges::none_of(arguments, same))
      fail(ErrorCode::missing, op.name, spec.name, "must be given", {}, phrase(spec.kind));
  }
}

ProblemText example_of(const OperatorSpec& spec) {
  return parse_problem_of(spec, spec.example);
}

void complete(OperatorSpec& spec, const ops::Names& names, const ops::Neutral& neutral, const Dims& data) {
  const Geometry geometry = ops::lower(neutral, data, names).geometry;
  spec.sums = geometry.sums;
  if (geometry.has_data) spec.data_input = names.data;
  spec.neutral = std::visit([](const auto& op) { return std::string(op.name) + options_of(op); }, neutral);
}

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
           phrase(op.index_types));
    if (!first) first = tensor->dtype;
    if (spec->kind == ArgumentKind::pairs) {
      if (tensor->shape.size() != 2 || tensor->shape[1] != 2)
        fail_rank(op.name, argument.name, "must be a tensor of pairs", tensor->shape, "shape [M, 2]");
    } else if (tensor->shape.size() != 1) {
      fail_rank(op.name, argument.name, "must be a tensor with one axis", tensor->shape, "rank 1");
    }
  }
}

}  // namespace dialects

std::span<const DialectSpec> all_dialects() {
  return dialects::table().dialects;
}

std::span<const OperatorSpec> operators() {
  return dialects::table().rows;
}

const OperatorSpec& find_operator(std::string_view name) {
  const std::span<const OperatorSpec> table = operators();
  const OperatorSpec* newest = nullptr;
  const OperatorSpec* nearest = nullptr;
  std::size_t least = 0;
  for (const OperatorSpec& spec : table) {
    if (spec.name == name) return spec;
    const std::string_view plain = dialects::without_version(spec.name);
    if (plain == name && (newest == nullptr || dialects::version_of(spec.name) > dialects::version_of(newest->name)))
      newest = &spec;
    // A name without its dialect is close too.
    const std::size_t dot = spec.name.find('.');
    const std::string_view bare = dot == std::string_view::npos ? spec.name : spec.name.substr(dot + 1);
    for (const std::string_view candidate : {spec.name, plain, bare, dialects::without_version(bare)}) {
      const std::size_t edits = dialects::distance(candidate, name.substr(0, 64));
      if (nearest == nullptr || edits < least) {
        nearest = &spec;
        least = edits;
      }
    }
  }
  if (newest != nullptr) return *newest;
  fail(ErrorCode::unknown_operator, "", "operator", "there is no operator of this name", name,
       std::string(nearest->name) + " or another of the table");
}

}  // namespace patchfold
