// SPDX-License-Identifier: Apache-2.0
// How a row of the operator table is declared: one field for each argument, which names a member of the operator's struct.
// Kind, default and the way from a value to the member follow from the member's type.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "patchfold/table.hpp"
#include "tensor/fail.hpp"

namespace patchfold::dialects {

/// Where a value goes wrong, for the error.
struct Target {
  const OperatorSpec& op;
  const ArgumentSpec& argument;
};

void assign(std::int64_t& member, const ArgumentValue& value, const Target& target);
void assign(bool& member, const ArgumentValue& value, const Target& target);
void assign(Dims& member, const ArgumentValue& value, const Target& target);
void assign(Axes& member, const ArgumentValue& value, const Target& target);
void assign(PadsList& member, const ArgumentValue& value, const Target& target);
void assign(Padding& member, const ArgumentValue& value, const Target& target);
void assign(Scalar& member, const ArgumentValue& value, const Target& target);
/// The word, if it is one of the argument's choices; throws Error(type, value).
std::string_view choose(const ArgumentValue& value, const Target& target);

template <Worded E>
void assign(E& member, const ArgumentValue& value, const Target& target) {
  member = *value_of<E>(choose(value, target));
}
template <Worded E>
void assign(std::optional<E>& member, const ArgumentValue& value, const Target& target) {
  member = value_of<E>(choose(value, target));
}

/// A default as text that parse_value() reads.
std::string default_text(std::int64_t value);
std::string default_text(bool value);
std::string default_text(const Dims& value);
std::string default_text(const Axes& value);
std::string default_text(const PadsList& value);
std::string default_text(const Padding& value);
std::string default_text(const Scalar& value);
template <Worded E>
std::string default_text(E value) {
  return std::string(word_of(value));
}
template <class E>
std::string default_text(const std::optional<E>&) {
  return "";
}

template <class M>
struct KindOf {
  static constexpr ArgumentKind kind = ArgumentKind::choice;
  static std::span<const std::string_view> choices() { return all_words<M>(); }
};
template <class E>
struct KindOf<std::optional<E>> : KindOf<E> {};
template <ArgumentKind k>
struct PlainKind {
  static constexpr ArgumentKind kind = k;
  static std::span<const std::string_view> choices() { return {}; }
};
template <>
struct KindOf<std::int64_t> : PlainKind<ArgumentKind::integer> {};
template <>
struct KindOf<bool> : PlainKind<ArgumentKind::boolean> {};
template <>
struct KindOf<Dims> : PlainKind<ArgumentKind::integers> {};
template <>
struct KindOf<Axes> : PlainKind<ArgumentKind::axes> {};
template <>
struct KindOf<PadsList> : PlainKind<ArgumentKind::pairs> {};
template <>
struct KindOf<Padding> : PlainKind<ArgumentKind::padding> {};
template <>
struct KindOf<Scalar> : PlainKind<ArgumentKind::number> {};

enum class Need : std::uint8_t { optional, required };

template <class Op>
struct Field {
  ArgumentSpec spec;
  void (*set)(Op&, const ArgumentValue&, const Target&);
};

template <auto member>
struct MemberTraits;
template <class Op, class M, M Op::*pointer>
struct MemberTraits<pointer> {
  using Owner = Op;
  using Value = M;
};

/// An attribute: `attribute<&Unfold::stride>("stride", Need::optional, "step between patches, at least 1")`.
template <auto member>
auto attribute(std::string_view name, Need need, std::string_view doc) {
  using Op = typename MemberTraits<member>::Owner;
  using Value = typename MemberTraits<member>::Value;
  Field<Op> field;
  field.spec.name = name;
  field.spec.kind = KindOf<Value>::kind;
  field.spec.required = need == Need::required;
  field.spec.choices = KindOf<Value>::choices();
  field.spec.doc = doc;
  if (need == Need::optional) field.spec.default_text = default_text(Op{}.*member);
  field.set = [](Op& op, const ArgumentValue& value, const Target& target) { assign(op.*member, value, target); };
  return field;
}

/// An input of the operator that holds integers.
template <auto member>
auto shape_input(std::string_view name, std::string_view doc) {
  auto field = attribute<member>(name, Need::required, doc);
  field.spec.is_input = true;
  return field;
}

/// Throws Error(unknown_argument, missing) unless the names are arguments of the operator, given once, and complete.
void check_names(const OperatorSpec& op, std::span<const Argument> arguments);
/// Throws Error(type, rank) unless tensors given for shape inputs have types and ranks that the operator takes.
void check_index_tensors(const OperatorSpec& op, std::span<const Argument> arguments);

/// Runs f; an Error that names the struct's own operator comes out under the row's name.
template <class F>
auto under_name(std::string_view own, std::string_view row, F&& f) {
  return or_fail([&] {
    try {
      return f();
    } catch (const Error& error) {
      if (error.op() != own || own == row) throw;
      Error::Parts parts = error.parts();
      parts.op = row;
      throw Error(std::move(parts));
    }
  });
}

/// The operator with its arguments, checked.
template <class Op>
BoundOperator bind(const OperatorSpec& self, const std::vector<Field<Op>>& members, std::span<const Argument> arguments) {
  check_names(self, arguments);
  check_index_tensors(self, arguments);
  Op op{};
  for (const Argument& argument : arguments)
    for (const Field<Op>& field : members)
      if (field.spec.name == argument.name) field.set(op, argument.value, {self, field.spec});
  const std::string_view name = self.name;
  return BoundOperator({
      [op, name](const Dims& data) { return under_name(Op::name, name, [&] { return op.output_shape(data); }); },
      [op, name](const ConstTensorView& data, const TensorView& output) {
        return under_name(Op::name, name, [&] { return op.plan(data, output); });
      },
  });
}

struct RowText {
  std::string_view name;
  std::string_view doc;
  std::string_view definition;
  std::string_view data_input;
  IndexTypes index_types = IndexTypes::int32_or_int64;
  bool sums = false;
};

template <class Op>
OperatorSpec row(const RowText& text, std::vector<Field<Op>> fields) {
  OperatorSpec spec{text.name, text.doc, text.definition, text.data_input, text.index_types, text.sums, {}, {}};
  for (const auto& field : fields) spec.arguments.push_back(field.spec);
  // The row keeps its own copy of what it checks against, so it may be moved.
  auto shared = std::make_shared<const std::pair<OperatorSpec, std::vector<Field<Op>>>>(spec, std::move(fields));
  spec.bind = [shared](std::span<const Argument> arguments) {
    return or_fail([&] { return bind(shared->first, shared->second, arguments); });
  };
  return spec;
}

}  // namespace patchfold::dialects

/// The rows of the neutral operators and of each dialect.
namespace patchfold::dialects {
std::vector<OperatorSpec> neutral_rows();
}
namespace patchfold::onnx {
std::vector<OperatorSpec> rows();
}
namespace patchfold::openvino {
std::vector<OperatorSpec> rows();
}
namespace patchfold::tensorflow {
std::vector<OperatorSpec> rows();
}
namespace patchfold::torch {
std::vector<OperatorSpec> rows();
}
