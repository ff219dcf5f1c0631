// SPDX-License-Identifier: Apache-2.0
#include "python/native/linear.hpp"

#include <algorithm>

#include "python/native/arrays.hpp"
#include "python/native/call.hpp"
#include "python/native/values.hpp"

namespace patchfold::python {
namespace {

constexpr std::string_view adjoint_word = "adjoint ";

/// Returns whether the columns hold each element of the image exactly once, so that the adjoint copies and need not add.
bool is_one_to_one(const Geometry& g) {
  return std::all_of(g.axes.begin(), g.axes.end(), [](const SpatialAxis& axis) {
    return axis.kernel == axis.stride && axis.dilation == 1 && axis.pad_begin >= 0 &&
           axis.extent <= axis.positions * axis.stride - axis.pad_begin;
  });
}

Geometry adjoint_of(const Geometry& g, std::string_view op) {
  if (g.padding_mode != PaddingMode::constant)
    throw Error(
        {ErrorCode::value, std::string(op), "padding_mode", "the adjoint is known for the mode constant only", "", ""});
  if (g.means)
    throw Error({ErrorCode::value, std::string(op), "reduce",
                 "the adjoint is known for sums only: divide one by the coverage", "mean", "sum"});
  Geometry adjoint = g;
  adjoint.direction = g.extracts() ? Geometry::Direction::combine : Geometry::Direction::extract;
  adjoint.data = g.output;
  adjoint.output = g.data;
  adjoint.sums = g.extracts() && !is_one_to_one(g);
  adjoint.accumulate = false;
  adjoint.value = Scalar{};
  return adjoint;
}

/// Returns the geometry with additional axes of the extents `samples` before all other axes of both tensors.
Geometry with_samples(const Geometry& g, const Dims& samples) {
  const int added = samples.size();
  Geometry result = g;
  const auto shape = [&](const Dims& own) {
    Dims whole = samples;
    whole.append(own);
    return whole;
  };
  if (g.has_data) result.data = shape(g.data);
  result.output = shape(g.output);
  result.shared = {};
  for (int axis = 0; axis < added; ++axis) {
    const Place columns{axis, g.has_data ? 1 : 0};
    result.shared.push_back({samples[axis], {axis, 1}, columns});
  }
  for (SharedIndex index : g.shared) {
    index.image.axis += added;
    index.columns.axis += added;
    result.shared.push_back(index);
  }
  for (SpatialAxis& axis : result.axes) {
    axis.image_axis += added;
    axis.tap.axis += added;
    axis.position.axis += added;
  }
  return result;
}

/// Returns the shared index that counts the whole of axis number `axis` in both tensors; null if there is none.
template <class AnyGeometry>
auto* index_of_axis(AnyGeometry& g, int axis) {
  const auto fits = [&](const SharedIndex& index) {
    return index.image.axis == axis && index.image.step == 1 && index.columns.axis == axis && index.columns.step == 1 &&
           index.extent == g.data[axis] && index.extent == g.output[axis];
  };
  const auto found = std::find_if(g.shared.begin(), g.shared.end(), fits);
  return found == g.shared.end() ? nullptr : found;
}

/// Returns a row-major tensor without data.
TensorView form(const Dims& shape, DType dtype, std::size_t element_size) {
  return {nullptr, shape, contiguous_strides(shape, element_size), dtype, element_size};
}

Dims joined(const Dims& samples, const Dims& own) {
  Dims shape = samples;
  shape.append(own);
  return shape;
}

/// Returns a problem with a call's operator, element type and arguments, without a shape.
ProblemText problem_of(const Operator& op, const nb::str& dtype, const nb::args& values) {
  ProblemText problem = parse_problem("unfold " + utf8_of(dtype) + " 1");  // also reads opaque types of any size
  problem.op = op.name();
  problem.shape = {};
  const Values parsed = op.parse(Handles(values));
  for (std::size_t i = 0; i < parsed.size(); ++i)
    if (parsed[i]) problem.arguments.push_back({std::string(op.spec().arguments[i].name), *parsed[i]});
  return problem;
}

/// Returns the text of a call, checked in full for row-major data.
nb::str call_text(const Operator& op, nb::handle shape, const nb::str& dtype, const nb::args& values) {
  ProblemText problem = problem_of(op, dtype, values);
  if (!op.spec().data_input.empty()) problem.shape = shape_of(op.spec().name, "shape", shape);
  const Lowering lowering =
      op.spec().bind(problem.arguments).lower(problem.shape, {.data = op.data_name(), .output = "out"});
  if (lowering.geometry.accumulate)
    throw Error({ErrorCode::missing, op.name(), "out", "is required where accumulate is True", "", ""});
  LinearCall{lowering, problem.dtype, problem.element_size}.plan({});
  const std::string text = to_string(problem);
  return nb::str(text.data(), text.size());
}

/// Returns the text of a call with "?" in place of an unknown shape. Only the types of the arguments are checked.
nb::str open_call_text(const Operator& op, const nb::str& dtype, const nb::args& values) {
  ProblemText problem = problem_of(op, dtype, values);
  problem.shape = {0};
  std::string text = to_string(problem);
  const std::size_t place = text.find(' ', text.find(' ') + 1) + 1;
  text.replace(place, 1, "?");
  return nb::str(text.data(), text.size());
}

nb::tuple shapes_of(const nb::str& text) {
  const LinearCall call = linear_call(utf8_of(text));
  return nb::make_tuple(to_tuple(call.input()), to_tuple(call.output()));
}

int batch_of(const nb::str& text) {
  return linear_call(utf8_of(text)).batch_axes();
}

/// Returns (axis of the image, extent, pad_begin, pad_end) for each spatial axis of a call that is no adjoint.
nb::list pads_of(const nb::str& text) {
  nb::list axes;
  for (const SpatialAxis& axis : linear_call(utf8_of(text)).lowering.geometry.axes)
    axes.append(nb::make_tuple(axis.image_axis, axis.extent, axis.pad_begin, axis.pad_end));
  return axes;
}

void run_linear(const nb::str& text, nb::handle x, nb::handle out) {
  const LinearCall call = linear_call(utf8_of(text));
  const std::string_view op = call.lowering.names.op;
  const bool has_data = call.lowering.geometry.has_data;
  const Operand src = has_data ? operand_of(x, {op, "x"}, false, Reach::anywhere) : Operand{};
  // Any `out` that is no array of NumPy is a new buffer, which counts as read-only.
  const Operand dst = operand_of(out, {op, "out"}, is_numpy(out), Reach::anywhere);
  const int added = std::max(dst.view.shape.size() - call.output().size(), 0);
  const Dims samples = dst.view.shape.slice(0, added);
  if (has_data && !(src.view.shape == joined(samples, call.input())))
    throw Error({ErrorCode::shape, std::string(op), "x", "must have the shape of the call", ErrorValue(src.view.shape),
                 ErrorValue(joined(samples, call.input()))});
  for (const Operand* operand : {&src, &dst})
    if (operand->dtype.is_valid() && operand->view.element_size != call.element_size)
      throw Error({ErrorCode::dtype, std::string(op), operand == &src ? "x" : "out",
                   "must have the element type of the call", dtype_text(*operand), ""});
  const auto typed = [&](TensorView view) {
    view.dtype = call.dtype;
    return view;
  };
  if (has_data) check_same_location(op, "x", src.location, dst.location);
  run_plan(call.plan(samples, typed(src.view), typed(dst.view)), op, dst.location, src.view.data, dst.view.data);
}

}  // namespace

int LinearCall::batch_axes() const {
  const Geometry& g = lowering.geometry;
  int count = 0;
  while (count < std::min(g.data.size(), g.output.size()) && index_of_axis(g, count)) ++count;
  return count;
}

void LinearCall::set_batch(const Dims& shape) {
  Geometry& g = lowering.geometry;
  for (int axis = 0, count = batch_axes(); axis < count; ++axis) {
    index_of_axis(g, axis)->extent = shape[axis];
    g.data[axis] = g.output[axis] = shape[axis];
  }
}

Plan LinearCall::plan(const Dims& samples) const {
  const Dims input_shape = lowering.geometry.has_data ? joined(samples, input()) : Dims{};
  return plan(samples, form(input_shape, dtype, element_size), form(joined(samples, output()), dtype, element_size));
}

Plan LinearCall::plan(const Dims& samples, const ConstTensorView& input, const TensorView& output) const {
  return Lowering{with_samples(lowering.geometry, samples), lowering.names}.plan(input, output);
}

LinearCall linear_call(std::string_view text) {
  const bool is_adjoint = text.starts_with(adjoint_word);
  const ProblemText problem = parse_problem(is_adjoint ? text.substr(adjoint_word.size()) : text);
  const OperatorSpec& op = find_operator(problem.op);
  LinearCall call{op.bind(problem.arguments).lower(problem.shape), problem.dtype, problem.element_size};
  if (is_adjoint) call.lowering.geometry = adjoint_of(call.lowering.geometry, op.name);
  return call;
}

void refuse_call(const char* system, std::string rule, std::string given, std::string expected) {
  throw Error({ErrorCode::usage, "patchfold", std::string("the call that ") + system + " makes", std::move(rule),
               std::move(given), std::move(expected)});
}

void bind_linear(nb::module_& module) {
  module.def("linear_call", &call_text, nb::arg("op"), nb::arg("shape").none(), nb::arg("dtype"), nb::arg("values"));
  module.def("open_linear_call", &open_call_text, nb::arg("op"), nb::arg("dtype"), nb::arg("values"));
  module.def("linear_shapes", &shapes_of, nb::arg("call"));
  module.def("linear_batch", &batch_of, nb::arg("call"));
  module.def("linear_pads", &pads_of, nb::arg("call"));
  module.def("run_linear", &run_linear, nb::arg("call"), nb::arg("x").none(), nb::arg("out"));
}

}  // namespace patchfold::python
