// SPDX-License-Identifier: Apache-2.0
// Changes of a call that was refused. A hint proposes only changes that lead to a plan.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "ops/lowering.hpp"
#include "patchfold/error.hpp"

namespace patchfold::ops {

/// Returns the neutral operator that an operator is for data of one shape. Throws Error.
template <class Op>
using NeutralOf = Neutral (*)(const Op& op, const Dims& data, const Names& names);

/// Returns a neutral operator itself, which needs no translation.
template <class Op>
Neutral neutral(const Op& op, const Dims&, const Names&) {
  return op;
}

/// Adds the parts of another value at the end.
inline ErrorValue& operator+=(ErrorValue& value, const ErrorValue& more) {
  for (const ErrorValue::Part& part : more.parts()) std::visit([&](const auto& each) { value.append(each); }, part);
  return value;
}

/// A call with changes; `text` lists them as a caller types them.
template <class Op>
struct Change {
  NeutralOf<Op> neutral;
  Op op;
  Dims data;
  Names names;
  ErrorValue text{};

  template <class T>
  Change set(T Op::*member, const T& value, const Setting& typed) const {
    Change changed = *this;
    changed.op.*member = value;
    changed.say(typed);
    return changed;
  }
  Change arranged(Rearrangement::Kind kind, const Dims& shape, const Dims& numbers) const {
    Change changed = *this;
    changed.data = shape;
    changed.say(Rearrangement{std::string(names.data), kind, numbers});
    return changed;
  }
  Change reshaped(const Dims& shape) const { return arranged(Rearrangement::Kind::reshape, shape, shape); }
  bool plans() const {
    try {
      std::visit([&](const auto& each) { geometry_of(each, data, names); }, neutral(op, data, names));
      return true;
    } catch (const Error&) {
      return false;
    }
  }
  /// Returns a hint: the reason and the changes; nothing if the call leads to no plan.
  ErrorValue hint(ErrorValue reason) const { return plans() ? reason += text : ErrorValue(); }

 private:
  template <class Part>
  void say(const Part& part) {
    if (!text.empty()) text.append(" and ");
    text.append(part);
  }
};

/// Returns the error of a refused call with working changes of the call, as its hint or as the expected value. Changes that
/// still give an error are left out.
Error with_hints(const Error& error, const Neutral& op, const Dims& data, const Names& names);

}  // namespace patchfold::ops
