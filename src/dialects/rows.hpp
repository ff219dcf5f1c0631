// SPDX-License-Identifier: Apache-2.0
// Declares an operator of a dialect, in four steps.
//
//   constexpr Names fold_names{..};             names its arguments
//   Neutral neutral(const Fold&, const Dims&, const Names&)
//                                               checks the arguments, and returns the neutral operator that does the same
//   PATCHFOLD_OPERATOR(Fold, fold_names)        defines the members of its public struct
//   row<Fold>(neutral, {fold_names, ..}, {..})  makes its row of the operator table
//
// A row has one field for each argument, which names a member of the operator's struct. The member's type determines the kind, the
// default, and the conversion of a value.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/fail.hpp"
#include "ops/change.hpp"
#include "ops/plan_key.hpp"
#include "patchfold/table.hpp"
#include "tensor/held.hpp"

namespace patchfold::dialects {

/// The operator and the argument to which a value belongs, for errors.
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
/// Returns the word if it is one of the argument's choices. Throws Error(type, value).
std::string_view choose(const ArgumentValue& value, const Target& target);

template <Worded E>
void assign(E& member, const ArgumentValue& value, const Target& target) {
  member = *value_of<E>(choose(value, target));
}
template <Worded E>
void assign(std::optional<E>& member, const ArgumentValue& value, const Target& target) {
  member = value_of<E>(choose(value, target));
}

/// Returns a default as text that parse_value() reads.
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

/// An argument of an operator of any type. The argument is set through the operator's address, so that the code of rows is
/// compiled once for all operators.
struct AnyField {
  ArgumentSpec spec;
  void (*set)(void* op, const ArgumentValue&, const Target&);
};
/// An argument of the operator Op; without members if this build leaves Op out.
template <class Op, bool held = holds(Op::name)>
struct Field : AnyField {};
template <class Op>
struct Field<Op, false> {};

template <auto member>
struct MemberTraits;
template <class Op, class M, M Op::*pointer>
struct MemberTraits<pointer> {
  using Owner = Op;
  using Value = M;
};

/// Returns an attribute: `attribute<&Unfold::stride>("stride", Need::optional, "step between patches, at least 1")`.
template <auto member>
[[gnu::cold]] auto attribute(std::string_view name, Need need, std::string_view doc) {
  using Op = typename MemberTraits<member>::Owner;
  using Value = typename MemberTraits<member>::Value;
  Field<Op> field{};
  if constexpr (holds(Op::name)) {
    field.spec.name = name;
    field.spec.kind = KindOf<Value>::kind;
    field.spec.required = need == Need::required;
    field.spec.choices = KindOf<Value>::choices();
    field.spec.doc = doc;
    if (need == Need::optional) field.spec.default_text = default_text(Op{}.*member);
    field.set = [](void* op, const ArgumentValue& value, const Target& target) {
      assign(static_cast<Op*>(op)->*member, value, target);
    };
  }
  return field;
}

/// Returns an attribute whose former name, `old_name`, is still read until 1.0.
template <auto member>
auto renamed(std::string_view name, std::string_view old_name, Need need, std::string_view doc) {
  auto field = attribute<member>(name, need, doc);
  if constexpr (requires { field.spec; }) field.spec.old_name = old_name;
  return field;
}

/// Returns a shape input: an input of the operator that holds integers.
template <auto member>
auto shape_input(std::string_view name, std::string_view doc) {
  auto field = attribute<member>(name, Need::required, doc);
  if constexpr (requires { field.spec; }) field.spec.is_input = true;
  return field;
}

/// The texts of a row, except those of its arguments.
struct RowText {
  ops::Names names;
  std::string_view doc;
  std::string_view definition;
  std::string_view example;  ///< a problem without the operator's name
  IndexTypes index_types = IndexTypes::int32_or_int64;
};

/// The arguments of a row. Copies of Fields share the arguments, so that the table may move its rows.
struct Fields {
  OperatorSpec spec;
  ops::Names names;
  std::vector<AnyField> list;

  /// Sets the members of `*op`, an operator of the type that this row describes, from the arguments. Throws
  /// Error(unknown_argument, missing) unless the arguments exist, are given once, and are complete. Throws
  /// Error(type, rank) unless tensors for shape inputs have types and ranks that the operator takes.
  void set(void* op, std::span<const Argument> arguments) const;
};

/// Returns the beginning of a row: all members except `bind`, `plan`, and those that complete_row() adds.
std::shared_ptr<const Fields> begin_row(const RowText& text, std::vector<AnyField> list);
/// Completes a row with the facts that follow from its example: the neutral operator, and whether the operator sums and has a data
/// input.
OperatorSpec complete_row(const Fields& fields, const ops::Neutral& neutral, const Dims& data);
/// Returns the row's example.
ProblemText example_of(const OperatorSpec& spec);
/// Returns the names of an operator's tensors, with the names of a front end in place of the operator's own names.
ops::Names names_for(const ops::Names& own, const TensorNames& tensors);

using ops::NeutralOf;

template <class Op>
struct Lower {
  NeutralOf<Op> neutral;
  ops::Names names;
  Op op;

  Lowering operator()(const Dims& data, const TensorNames& tensors) const {
    const ops::Names given = names_for(names, tensors);
    return ops::lower(neutral(op, data, given), data, given);
  }
};

template <class Op>
struct Bind {
  NeutralOf<Op> neutral;
  std::shared_ptr<const Fields> fields;

  /// Returns the operator with these arguments, checked.
  Op make(std::span<const Argument> arguments) const {
    Op op{};
    fields->set(&op, arguments);
    return op;
  }
  BoundOperator operator()(std::span<const Argument> arguments) const {
    return BoundOperator(Lower<Op>{neutral, fields->names, make(arguments)});
  }
  Plan operator()(std::span<const Argument> arguments, const ConstTensorView& data, const TensorView& output) const {
    return ops::plan<Op>(make(arguments), neutral, fields->names, data, output);
  }
};

/// Makes a row. Each row is made once, so this function is compiled for size. The row of an operator that this build leaves out has
/// only a name.
template <class Op>
[[gnu::cold]] OperatorSpec row(NeutralOf<Op> neutral, const RowText& text, std::initializer_list<Field<Op>> fields) {
  if constexpr (holds(Op::name)) {
    const Bind<Op> bind{neutral, begin_row(text, {fields.begin(), fields.end()})};
    const ProblemText example = example_of(bind.fields->spec);
    const ops::Neutral of_example = neutral(bind.make(example.arguments), example.shape, text.names);
    OperatorSpec spec = complete_row(*bind.fields, of_example, example.shape);
    spec.bind = bind;
    spec.plan = bind;
    return spec;
  } else {
    OperatorSpec spec;
    spec.name = text.names.op;
    return spec;
  }
}

/// A dialect with its operators, declared by the dialect's file.
struct Dialect {
  DialectSpec spec;
  std::vector<OperatorSpec> rows;
};

/// Returns the names with `op` as the operator's name, for another version of the operator.
constexpr ops::Names named(ops::Names names, std::string_view op) {
  names.op = op;
  return names;
}

/// Defines the members of an operator's public struct.
#define PATCHFOLD_OPERATOR(Op, names)                                              \
  Dims Op::output_shape(const Dims& data) const {                                  \
    if constexpr (holds(Op::name))                                                 \
      return ops::lower(neutral(*this, data, names), data, names).geometry.output; \
    else                                                                           \
      fail_left_out(Op::name);                                                     \
  }                                                                                \
  Plan Op::plan(const ConstTensorView& data, const TensorView& output) const {     \
    if constexpr (holds(Op::name))                                                 \
      return ops::plan<Op>(*this, neutral, names, data, output);                   \
    else                                                                           \
      fail_left_out(Op::name);                                                     \
  }

}  // namespace patchfold::dialects
