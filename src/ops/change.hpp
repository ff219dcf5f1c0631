// SPDX-License-Identifier: Apache-2.0
// Changes a call that was refused, for hints. A hint proposes only changes with which the call can be planned.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "ops/lowering.hpp"
#include "patchfold/error.hpp"

namespace patchfold::ops {

/// A function that returns the neutral operator that does the same as `op` for data of one shape. Throws Error.
template <class Op>
using NeutralOf = Neutral (*)(const Op& op, const Dims& data, const Names& names);

/// Returns a neutral operator itself, which needs no translation.
template <class Op>
Neutral neutral(const Op& op, const Dims&, const Names&) {
  return op;
}

/// Appends the parts of another value.
inline ErrorValue& operator+=(ErrorValue& value, const ErrorValue& more) {
  for (const ErrorValue::Part& part : more.parts()) std::visit([&](const auto& each) { value.append(each); }, part);
  return value;
}

/// A call with changes; `text` lists the changes as a caller types them.
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
  /// Returns a hint, which is the reason and the changes; empty if the changed call cannot be planned.
  ErrorValue hint(ErrorValue reason) const { return plans() ? reason += text : ErrorValue(); }

 private:
  template <class Part>
  void say(const Part& part) {
    if (!text.empty()) text.append(" and ");
    text.append(part);
  }
};

/// Returns the error of a refused call with working changes of the call, as its hint or as the expected value. Changes with which
/// the call is still refused are left out.
Error with_hints(const Error& error, const Neutral& op, const Dims& data, const Names& names);

}  // namespace patchfold::ops
