// SPDX-License-Identifier: Apache-2.0
#include "python/native/call.hpp"

#include <algorithm>
#include <cmath>

#include "python/native/call_key.hpp"
#include "python/native/torch_tensors.hpp"
#include "python/native/values.hpp"
#include "src/base/fail.hpp"
#include "src/base/other_words.hpp"

namespace patchfold::python {
namespace {

constexpr std::string_view out_name = "out";

/// Returns a row-major view without memory, for an output that the caller does not give.
TensorView row_major(const ConstTensorView& like, const Dims& shape) {
  return {nullptr, shape, contiguous_strides(shape, like.element_size), like.dtype, like.element_size};
}

bool is_or_holds_integers(nb::handle value) {
  PyObject* const object = value.ptr();
  if (PyLong_CheckExact(object)) return true;
  if (!PyTuple_Check(object) && !PyList_CheckExact(object)) return false;
  const Sequence items(object);
  for (Py_ssize_t i = 0; i < items.size(); ++i)
    if (!PyLong_CheckExact(items[i])) return false;
  return true;
}

nb::object layout_of(const Operand& operand) {
  return nb::make_tuple(to_tuple(operand.view.shape), to_tuple(operand.view.strides), operand.dtype);
}

/// A function of the package, by the names of its module and its own.
struct Function {
  const char* module = nullptr;
  const char* name = "call";
};

/// Returns the function that makes the calls for an array whose library must see them: torch and TensorFlow, whose tapes and graphs
/// would miss a call that only reads memory, and JAX, whose streams only XLA knows.
Function caller_for(nb::handle object) {
  static PyObject* const name = PyUnicode_InternFromString("__module__");
  if (is_torch(object)) return {"patchfold.torch._calls"};
  if (is_numpy(object)) return {};
  const nb::object module = nb::steal(PyObject_GetAttr(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())), name));
  if (!module.is_valid()) {
    drop_answer();
    return {};
  }
  const std::string text = PyUnicode_Check(module.ptr()) ? utf8_of(module) : "";
  if (text.starts_with("tensorflow.")) return {"patchfold.tensorflow._tensors"};
  if (text.starts_with("jaxlib.")) return {"patchfold._arrays.cuda", "jax_call"};
  return {};
}

/// Returns the result of a call that the array's library records, transforms, traces or runs; nothing for arrays whose memory may
/// be read directly.
std::optional<nb::object> recorded(const Operator& op, nb::handle x, const nb::args& values) {
  const Function caller = caller_for(x);
  if (!caller.module) return std::nullopt;
  const nb::object result = nb::module_::import_(caller.module).attr(caller.name)(nb::find(op), x, values);
  return result.is(nb::handle(Py_NotImplemented)) ? std::nullopt : std::optional(result);
}

[[noreturn]] void refuse_sum(const OperatorSpec& op, std::string_view argument, const Operand& src) {
  throw Error({ErrorCode::dtype, std::string(op.name), std::string(argument), "elements must be of a type that can be added",
               dtype_text(src), summable_type_names()});
}

/// A scope in which the elements of an output with is_in_own_order() really are in this machine's byte order.
class OwnOrder {
 public:
  explicit OwnOrder(const Operand& dst) {
    if (!is_in_own_order(dst)) return;
    // A view stays writeable, whatever another thread does to the array meanwhile.
    view_ = nb::steal(PyArray_View(reinterpret_cast<PyArrayObject*>(dst.owner.ptr()), nullptr, &PyArray_Type));
    if (!view_.is_valid()) nb::raise_python_error();
    swap_bytes(view_);
  }
  ~OwnOrder() {
    if (view_.is_valid()) swap_bytes(view_);
  }
  OwnOrder(const OwnOrder&) = delete;
  OwnOrder& operator=(const OwnOrder&) = delete;

 private:
  nb::object view_{};
};

}  // namespace

Operator::Operator(const std::string& name, const std::string& data)
    : spec_(&find_operator(name)), data_(data.empty() ? std::string(spec_->data_input) : data) {}

Values Operator::parse(std::span<const nb::handle> values) const {
  const auto& arguments = spec_->arguments;
  if (values.size() > arguments.size())
    throw Error({ErrorCode::length, name(), "values", "must be one for each argument of the operator", values.size(),
                 ErrorValue("at most ", arguments.size())});
  const bool neutral = spec_->name.find('.') == std::string_view::npos;
  Values parsed(values.size());
  std::string padding;  // padding_mode in the caller's own word
  for (std::size_t i = 0; i < values.size(); ++i) {
    const ArgumentSpec& argument = arguments[i];
    if (const nb::handle value = values[i]; !value.is_none())
      parsed[i] = value_of(*spec_, argument, value);
    else if (argument.required)
      throw Error({ErrorCode::missing, name(), std::string(argument.name), "must be given", "", what_is_expected(argument)});
    if (parsed[i] && argument.name == "padding_mode") padding = utf8_of(values[i]);
    if (parsed[i] && argument.name == "value")
      check_fill(spec_->name, "padding_mode", padding, argument.name, std::get<Scalar>(*parsed[i]));
    // The library would treat an empty list as an argument that is left out.
    const bool lists_axes = neutral || argument.kind == ArgumentKind::axes;
    const Dims* list = parsed[i] && lists_axes && argument.required ? std::get_if<Dims>(&*parsed[i]) : nullptr;
    if (list && list->empty())
      throw Error({ErrorCode::length, name(), std::string(argument.name),
                   "must have one entry for each spatial axis, at least one", "an empty list", ""});
  }
  return parsed;
}

BoundOperator Operator::bind(const Values& values) const {
  std::vector<Argument> given;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i]) given.push_back({std::string(spec_->arguments[i].name), *values[i]});
  return spec_->bind(given);
}

Operand Operator::source(nb::handle x) const {
  if (spec_->data_input.empty()) {
    if (x.is_none()) return {};
    throw Error({ErrorCode::type, name(), "x", "must be None, since the operator has no data input", type_name_of(x), ""});
  }
  return operand_of(x, {spec_->name, data_}, false, Reach::anywhere);
}

Operand Operator::source(nb::handle x, std::span<const nb::handle> values, bool form_only) const {
  Operand src = source(x);
  if (!src.dtype.is_valid() || src.view.dtype != DType::opaque || !reads_numbers(values)) return src;
  if (swapped_type(src)) return in_own_order(src, form_only);
  if (spec_->sums) refuse_sum(*spec_, data_, src);
  return src;
}

bool Operator::reads_numbers(std::span<const nb::handle> values) const {
  if (spec_->sums) return true;
  for (std::size_t i = 0; i < std::min(values.size(), spec_->arguments.size()); ++i) {
    if (spec_->arguments[i].kind != ArgumentKind::number || values[i].is_none()) continue;
    const double number = PyFloat_AsDouble(values[i].ptr());
    const bool is_real = PyErr_Occurred() == nullptr;
    if (!is_real) PyErr_Clear();  // a complex number, or no number, which parse() refuses
    if (!is_real || number != 0 || std::signbit(number)) return true;
  }
  return false;
}

Operand Operator::destination(nb::handle out, const Operand& src) const {
  Operand dst = operand_of(out, {spec_->name, out_name}, true, Reach::anywhere);
  if (src.dtype.is_valid()) check_same_location(spec_->name, data_, src.location, dst.location);
  if (src.dtype.is_valid() && !same_elements(src, dst))
    throw Error({ErrorCode::dtype, name(), std::string(out_name), "must have the element type of " + data_, dtype_text(dst),
                 dtype_text(src)});
  if (src.dtype.is_valid() ? is_in_own_order(src) : spec_->sums && swapped_type(dst)) dst.view.dtype = *swapped_type(dst);
  return dst;
}

detail::Planned Operator::prepare(const TensorView& src, const TensorView* dst, std::span<const nb::handle> values) const {
  return detail::recent_plan(CallKey(*spec_, src, dst, values), [&] {
    const Values parsed = parse(values);
    const Lowering lowering = bind(parsed).lower(src.shape, {.data = data_, .output = out_name});
    if (!dst) check_new_output(parsed);
    const Dims& shape = lowering.geometry.output;
    return detail::Planned{lowering.plan(src, dst ? *dst : row_major(src, shape)), shape};
  });
}

void Operator::check_apart(const Operand& src, const Operand& dst) const {
  const auto [src_begin, src_end] = bytes_of(src.view, {spec_->name, data_});
  const auto [dst_begin, dst_end] = bytes_of(dst.view, {spec_->name, out_name});
  if (src_begin < dst_end && dst_begin < src_end) throw_if_failed(Status::overlap, spec_->name, out_name);
}

void Operator::check_new_output(const Values& values) const {
  if (spec_->data_input.empty())
    throw Error({ErrorCode::missing, name(), std::string(out_name), "is required, since there is no data input", "", ""});
  for (std::size_t i = 0; i < values.size(); ++i)
    if (spec_->arguments[i].name == "accumulate" && values[i] && std::get<std::int64_t>(*values[i]) != 0)
      throw Error({ErrorCode::missing, name(), std::string(out_name), "is required where accumulate is True", "", ""});
}

nb::object Operator::call(nb::handle x, nb::handle out, const nb::args& values) const {
  std::optional<Operand> plain;
  if (out.is_none() && !is_numpy(x)) {
    plain = torch_operand(x);
    if (!plain)
      if (const auto result = recorded(*this, x, values)) return *result;
  }
  const Handles given(values);
  const Operand src = plain ? *std::move(plain) : source(x, given);
  const std::optional<Operand> dst = out.is_none() ? std::nullopt : std::optional(destination(out, src));
  return run_into(prepare(src.view, dst ? &dst->view : nullptr, given), x, out, src, dst);
}

nb::object Operator::run_into(const detail::Planned& planned, nb::handle x, nb::handle out, const Operand& src,
                              const std::optional<Operand>& dst) const {
  if (dst) {
    if (src.dtype.is_valid() && is_in_own_order(src)) check_apart(source(x), *dst);
    const OwnOrder order(*dst);
    run_plan(planned.plan, spec_->name, dst->location, src.view.data, dst->view.data);
    return nb::borrow(out);
  }
  const Output output(x, src, planned.output);
  run_plan(planned.plan, spec_->name, src.location, src.view.data, output.data());
  nb::object result = output.result();
  if (is_in_own_order(src)) swap_bytes(result);
  return result;
}

nb::object Operator::call_torch(nb::handle tensor, bool checked, bool keeps_memory_format, const nb::args& values) const {
  const Handles held(values);
  const std::span<const nb::handle> given = held;
  if (!std::all_of(given.begin(), given.end(), is_or_holds_integers)) return nb::none();
  const TorchKind kind = checked ? TorchKind::plain : torch_kind(tensor);
  if (kind == TorchKind::recorded) return nb::borrow(Py_NotImplemented);
  const auto src = kind == TorchKind::plain ? torch_view(tensor) : std::nullopt;
  if (!src) return nb::none();
  detail::Planned prepared;
  Dims strides;
  try {
    prepared = prepare(*src, nullptr, given);
    const Dims row_major = torch_strides(prepared.output, src->element_size);
    strides = keeps_memory_format ? torch_strides_like(*src, prepared.output) : row_major;
    if (!(strides == row_major)) {
      const TensorView dst{nullptr, prepared.output, strides, src->dtype, src->element_size};
      prepared = prepare(*src, &dst, given);
    }
  } catch (const Error&) {
    return nb::none();
  }
  const nb::object result = new_torch(tensor, prepared.output, strides, src->element_size);
  const auto dst = torch_view(result);
  if (!dst) return nb::none();
  run_plan(prepared.plan, spec_->name, src->location, src->data, dst->data);
  return result;
}

nb::tuple Operator::output_shape(nb::handle shape, const nb::args& values) const {
  const Dims data = spec_->data_input.empty() ? Dims{} : shape_of(spec_->name, "shape", shape);
  return to_tuple(output_dims(data, parse(Handles(values)), "shape"));
}

Dims Operator::output_dims(const Dims& shape, const Values& values, std::string_view data) const {
  return bind(values).lower(shape, {.data = data, .output = out_name}).geometry.output;
}

PlannedCall::PlannedCall(Operator op, nb::handle x, nb::handle out, const nb::args& values) : op_(std::move(op)) {
  const Handles given(values);
  src_ = op_.source(x, given, true);
  if (!out.is_none()) dst_ = op_.destination(out, src_);
  prepared_ = op_.prepare(src_.view, dst_ ? &dst_->view : nullptr, given);
  src_.owner.reset();
  if (dst_) dst_->owner.reset();
}

nb::object PlannedCall::source() const {
  return src_.dtype.is_valid() ? layout_of(src_) : nb::none();
}
nb::object PlannedCall::destination() const {
  return dst_ ? layout_of(*dst_) : nb::none();
}

nb::tuple PlannedCall::input_shape() const {
  return to_tuple(src_.view.shape);
}
nb::tuple PlannedCall::output_shape() const {
  return to_tuple(prepared_.output);
}

nb::object PlannedCall::call(nb::handle x, nb::handle out) const {
  const auto check = [&](std::string_view what, const TensorView& given, const TensorView& planned) {
    if (given.shape == planned.shape && given.strides == planned.strides) return;
    throw Error({ErrorCode::shape, op_.name(), std::string(what), "must have the shape and the byte strides of the plan",
                 ErrorValue(given.shape, " with strides ", given.strides),
                 ErrorValue(planned.shape, " with strides ", planned.strides)});
  };
  const auto check_elements = [&](std::string_view what, nb::handle array, const Operand& given, const Operand& planned) {
    if (same_elements(given, planned)) return;
    ErrorValue hint("make another plan");
    if (is_numpy(array)) hint.append(", or ", what, ".astype(\"", dtype_text(planned), "\")");
    throw Error({ErrorCode::dtype, op_.name(), std::string(what), "must have the element type of the plan",
                 dtype_text(given), dtype_text(planned), std::move(hint)});
  };
  Operand src = op_.source(x);
  if (is_in_own_order(src_) && swapped_type(src)) src = in_own_order(src, false);
  if (src.dtype.is_valid()) {
    check_elements(op_.data_name(), x, src, src_);
    check(op_.data_name(), src.view, src_.view);
  }
  if (out.is_none()) {
    if (dst_)
      throw Error(
          {ErrorCode::missing, op_.name(), std::string(out_name), "is required, since the plan was made with one", "", ""});
    return op_.run_into(prepared_, x, out, src, std::nullopt);
  }
  const std::optional<Operand> dst = op_.destination(out, src);
  if (dst_) check_elements(out_name, nb::none(), *dst, *dst_);
  check(out_name, dst->view, dst_ ? dst_->view : row_major(src.view, prepared_.output));
  return op_.run_into(prepared_, x, out, src, dst);
}

}  // namespace patchfold::python
