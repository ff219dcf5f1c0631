// SPDX-License-Identifier: Apache-2.0
// Pictures of bytes: tables and resizing.
#include "patchfold/pictures.hpp"

#include <string>
#include <utility>

#include "python/native/call.hpp"
#include "python/native/interpreter_lock.hpp"

namespace patchfold::python {
namespace {

/// Runs f without the interpreter's lock. Puts the name of the called function, and Python's names of the arguments, into
/// errors.
template <class F>
void run_named(const std::string& op, F&& f) {
  try {
    const Unlocked unlocked;
    f();
  } catch (const Error& error) {
    Error::Parts parts = error.parts();
    parts.op = op;
    if (parts.argument == "bytes" || parts.argument == "picture") parts.argument = "x";
    if (parts.argument == "resized") parts.argument = "out";
    throw Error(std::move(parts));
  }
}

}  // namespace

void apply_table(const std::string& op, nb::handle x, int axis, nb::handle table, nb::handle out) {
  const Operand bytes = operand_of(x, {op, "x"}, false);
  const Operand entries = operand_of(table, {op, "table"}, false);
  const Operand to = operand_of(out, {op, "out"}, true);
  run_named(op, [&] { patchfold::apply_table(bytes.view, axis, entries.view, to.view); });
}

void resize(const std::string& op, nb::handle x, nb::handle out, const std::string& filter, const std::string& fixed_point,
            const std::optional<std::array<float, 4>>& box) {
  const Operand picture = operand_of(x, {op, "x"}, false);
  const Operand to = operand_of(out, {op, "out"}, true);
  // The package has checked both words.
  const Resize call{*patchfold::value_of<Filter>(filter), *patchfold::value_of<FixedPoint>(fixed_point), box};
  run_named(op, [&] { call.run(picture.view, to.view); });
}

}  // namespace patchfold::python
