// SPDX-License-Identifier: Apache-2.0
// The native half of the package: `patchfold._core`.
#define PATCHFOLD_IMPORT_NUMPY
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "patchfold/explain.hpp"
#include "patchfold/plan.hpp"
#include "patchfold/version.hpp"
#include "python/native/call.hpp"
#include "python/native/linear.hpp"
#include "python/native/numpy_api.hpp"
#include "python/native/rearrange.hpp"
#include "python/native/tiling.hpp"
#include "python/native/values.hpp"
#include "src/base/nearest.hpp"
#include "src/base/other_words.hpp"

namespace patchfold::python {
namespace {

nb::str text(std::string_view value) {
  return nb::str(value.data(), value.size());
}

/// Returns a row of the operator table, for patchfold._operators.table.
nb::tuple table_row(const OperatorSpec& op) {
  nb::list arguments;
  for (const ArgumentSpec& argument : op.arguments) {
    nb::list choices;
    for (const auto choice : argument.choices) choices.append(text(choice));
    arguments.append(nb::make_tuple(text(argument.name), text(name_of(argument.kind)), argument.required,
                                    text(argument.default_text), text(argument.old_name), argument.is_input,
                                    nb::tuple(choices), text(argument.doc)));
  }
  return nb::make_tuple(text(op.name), text(op.doc), text(op.definition), text(op.data_input), op.sums, text(op.example),
                        nb::tuple(arguments));
}

/// Returns (name, bytes, NumPy's kind, whether fold adds it, ONNX's code, torch's code) for each element type that has
/// numbers, for patchfold._arrays.dtypes.
nb::list dtypes_of_numbers() {
  nb::list rows;
  for (const DTypeInfo& info : dtype_table)
    if (info.dtype != DType::opaque)
      rows.append(
          nb::make_tuple(text(info.name), info.size, nb::str(&info.numpy_kind, 1), info.summable, info.onnx, info.torch));
  return rows;
}

nb::list table() {
  nb::list rows;
  for (const OperatorSpec& op : operators()) rows.append(table_row(op));
  return rows;
}

ProblemText problem_of(const Operator& op, nb::handle shape, const nb::str& dtype, const nb::args& values) {
  ProblemText problem{op.name(), DType::float32, 4, {}, {}};
  const std::string dtype_name = utf8_of(dtype);
  const auto type = patchfold::dtype_of(dtype_name);
  if (!type || *type == DType::opaque)
    throw Error({ErrorCode::value, op.name(), "dtype", "must be an element type of this library", dtype_name, ""});
  problem.dtype = *type;
  problem.element_size = size_of(*type);
  if (!op.spec().data_input.empty()) problem.shape = shape_of(op.name(), "shape", shape);
  const Values parsed = op.parse(Handles(values));
  for (std::size_t i = 0; i < parsed.size(); ++i)
    if (parsed[i]) problem.arguments.push_back({std::string(op.spec().arguments[i].name), *parsed[i]});
  return problem;
}

std::string explain_call(const Operator& op, nb::handle shape, const nb::str& dtype, bool plan, const nb::args& values) {
  return explain(problem_of(op, shape, dtype, values), {.plan = plan});
}

std::string draw_call(const Operator& op, nb::handle shape, const nb::str& dtype, const nb::args& values) {
  return explain_svg(problem_of(op, shape, dtype, values));
}

std::string explain_wrong_call(const Operator& op, nb::handle shape, const nb::str& dtype, const nb::args& values) {
  return explain_error(problem_of(op, shape, dtype, values));
}

/// Returns a hint for an error about an unknown word, "did you mean ..?"; empty if none of `words` is similar.
std::string did_you_mean(const nb::str& word, const nb::list& words) {
  const std::string given = utf8_of(word);
  Nearest nearest(given);
  std::string meant;
  for (const nb::handle each : words)
    if (std::string candidate = utf8_of(each); nearest.offer(candidate)) meant = std::move(candidate);
  return meant.empty() ? "" : "did you mean " + meant + "?";
}

void set_threads(nb::handle threads) {
  const ArgumentValue value = value_of({.name = "set_num_threads", .doc = {}, .definition = {}, .data_input = {}},
                                       {.name = "threads", .kind = ArgumentKind::integer}, threads);
  const auto count = std::get<std::int64_t>(value);
  if (!std::in_range<int>(count))
    throw Error({ErrorCode::value, "set_num_threads", "threads", "must fit into 32 bits", std::to_string(count), ""});
  set_num_threads(static_cast<int>(count));
}

void use_instructions(nb::handle name) {
  if (!PyUnicode_Check(name.ptr()))
    throw Error({ErrorCode::type, "use_instruction_set", "name", "must be the name of an instruction set",
                 text_and_type_of(name), ""});
  use_instruction_set(utf8_of(name));
}

}  // namespace

NB_MODULE(_core_of_main, module) {
  if (PyArray_ImportNumPyAPI() < 0) nb::raise_python_error();
  nb::set_leak_warnings(false);  // operators in modules may live longer than the interpreter's last clean-up
  translate_errors();
  module.attr("__version__") = PATCHFOLD_VERSION_STRING;

  nb::class_<Operator>(module, "Operator")
      .def(
          "__init__",
          [](Operator* self, const nb::str& name, const std::string& data) { new (self) Operator(utf8_of(name), data); },
          nb::arg("name"), nb::kw_only(), nb::arg("data") = "")
      .def_prop_ro("name", &Operator::name)
      .def("__call__", &Operator::call, nb::arg("x").none(), nb::arg("out").none(), nb::arg("values"))
      .def("call_torch", &Operator::call_torch, nb::arg("tensor").none(), nb::arg("checked"), nb::arg("keeps_memory_format"),
           nb::arg("values"))
      .def("output_shape", &Operator::output_shape, nb::arg("shape").none(), nb::arg("values"))
      .def("explain", &explain_call, nb::arg("shape").none(), nb::arg("dtype"), nb::arg("plan"), nb::arg("values"))
      .def("explain_svg", &draw_call, nb::arg("shape").none(), nb::arg("dtype"), nb::arg("values"))
      .def("explain_error", &explain_wrong_call, nb::arg("shape").none(), nb::arg("dtype"), nb::arg("values"));

  nb::class_<PlannedCall>(module, "PlannedCall")
      .def(
          "__init__",
          [](PlannedCall* self, const Operator& op, nb::handle x, nb::handle out, const nb::args& values) {
            new (self) PlannedCall(op, x, out, values);
          },
          nb::arg("op"), nb::arg("x").none(), nb::arg("out").none(), nb::arg("values"))
      .def("__call__", &PlannedCall::call, nb::arg("x").none(), nb::arg("out").none() = nb::none())
      .def_prop_ro("name", &PlannedCall::name)
      .def_prop_ro("input_shape", &PlannedCall::input_shape)
      .def_prop_ro("output_shape", &PlannedCall::output_shape)
      .def_prop_ro("dtype", &PlannedCall::dtype)
      .def_prop_ro("source", &PlannedCall::source)
      .def_prop_ro("destination", &PlannedCall::destination)
      .def("describe", &PlannedCall::describe);

  nb::class_<Rearrangement>(module, "Rearrangement")
      .def(nb::init<nb::handle, nb::handle, nb::handle>(), nb::arg("source"), nb::arg("order"), nb::arg("target"))
      .def("__call__", &Rearrangement::call, nb::arg("x").none(), nb::arg("out").none());

  nb::class_<RawArray>(module, "RawArray")
      .def_static("make", &RawArray::make, nb::arg("address"), nb::arg("shape"), nb::arg("strides"), nb::arg("dtype"),
                  nb::arg("writable"), nb::arg("owner"), nb::arg("cuda") = -1, nb::arg("stream") = 0)
      .def_static("from_dlpack", &RawArray::from_dlpack, nb::arg("object"), nb::arg("op"), nb::arg("argument"),
                  nb::arg("stream") = nb::none(), nb::arg("writable") = false);
  module.def("did_you_mean", &did_you_mean, nb::arg("word"), nb::arg("words"));
  module.def(
      "word_here", [](const nb::str& word) { return text(word_here(utf8_of(word))); }, nb::arg("word"));
  module.def(
      "check_fill",
      [](const nb::str& op, const nb::str& mode, const nb::str& word, const nb::str& fill, double value) {
        check_fill(utf8_of(op), utf8_of(mode), utf8_of(word), utf8_of(fill), value);
      },
      nb::arg("op"), nb::arg("mode"), nb::arg("word"), nb::arg("fill"), nb::arg("value"));
  module.def(
      "operator_here",
      [](const nb::str& name) {
        const OtherOperator other = operator_here(utf8_of(name));
        return nb::make_tuple(text(other.here), text(other.reduce));
      },
      nb::arg("name"));
  module.def(
      "spelled_order",
      [](const nb::str& order) {
        const auto spelled = spelled_order(utf8_of(order));
        return spelled ? nb::object(nb::make_tuple(to_tuple(spelled->places), spelled->is_mixed)) : nb::none();
      },
      nb::arg("order"));
  module.def("new_buffer", &new_buffer, nb::arg("shape"), nb::arg("dtype"));
  module.def(
      "prefer_large_pages",
      [](std::uintptr_t address, std::size_t bytes) { prefer_large_pages(reinterpret_cast<void*>(address), bytes); },
      nb::arg("address"), nb::arg("bytes"));
  module.def("unfold_view", &unfold_view, nb::arg("x").none(), nb::arg("kernel_size").none(), nb::arg("stride").none(),
             nb::arg("dilation").none(), nb::arg("layout").none(), nb::arg("allow_empty").none());
  module.def("space_to_depth_view", &space_to_depth_view, nb::arg("x").none(), nb::arg("block").none(),
             nb::arg("mode").none(), nb::arg("layout").none());
  module.def("gather_patches", &gather_patches, nb::arg("x").none(), nb::arg("corners").none(), nb::arg("size").none(),
             nb::arg("out").none());

  module.def("apply_table", &apply_table, nb::arg("op"), nb::arg("x").none(), nb::arg("axis"), nb::arg("table").none(),
             nb::arg("out").none());
  module.def("resize", &resize, nb::arg("op"), nb::arg("x").none(), nb::arg("out").none(), nb::arg("filter"),
             nb::arg("fixed_point"), nb::arg("box").none());

  bind_tiling(module);
  bind_merger(module);
  bind_boxes(module);
  bind_linear(module);
  bind_device(module);
  bind_xla(module);
  bind_tensorflow(module);

  module.def("table", &table);
  module.def("dtypes", &dtypes_of_numbers);
  module.def("set_num_threads", &set_threads, nb::arg("threads").none(),
             "How many threads one call may use, from now on and in the whole process; 0: as many as the machine has.");
  module.def("get_num_threads", &get_num_threads, "How many threads one call may use.");
  module.def("set_thread_limit", &set_thread_limit, nb::arg("threads"),
             "How many threads one call of this thread may use; 0: no limit of its own. Returns the limit until now.");
  module.def("instruction_sets", &instruction_sets,
             "The instruction sets that this build has and this processor runs, the best first.");
  module.def(
      "use_instruction_set", &use_instructions, nb::arg("name").none(),
      "Takes that instruction set from now on, in the whole process; the empty text: the best. Results stay the same.");
}

/// Makes the module, in the main interpreter only: nanobind and NumPy keep one set of types in the whole process, so a
/// second interpreter would use types of the first.
extern "C" NB_EXPORT PyObject* PyInit__core() {
  // The main interpreter's number is 0: https://docs.python.org/3/c-api/subinterpreters.html
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return PyInit__core_of_main();
  PyErr_SetString(PyExc_ImportError, "patchfold can be imported in the main interpreter only");
  return nullptr;
}

}  // namespace patchfold::python
