// SPDX-License-Identifier: Apache-2.0
#include "python/native/arrays.hpp"

#include <nanobind/ndarray.h>

#include <cstdlib>
#include <vector>

#include "python/native/interpreter_lock.hpp"
#include "python/native/torch_tensors.hpp"
#include "python/native/values.hpp"
#include "src/base/checked.hpp"
#include "system/large_pages.hpp"

namespace patchfold::python {
namespace {

nb::dlpack::dtype dlpack_type(const DTypeInfo& info) {
  return {static_cast<std::uint8_t>(info.dlpack), static_cast<std::uint8_t>(8 * info.size), 1};
}

DType dtype_named(const std::string& name) {
  const auto dtype = patchfold::dtype_of(name);
  if (!dtype || *dtype == DType::opaque)
    throw Error({ErrorCode::dtype, "", "dtype", "must be an element type of this library", name, ""});
  return *dtype;
}

/// Returns the operand of a NumPy array or of a RawArray.
Operand from_memory(nb::object memory, const ArrayRole& role) {
  if (is_numpy(memory)) {
    auto* array = reinterpret_cast<PyArrayObject*>(memory.ptr());
    const bool writable = PyArray_ISWRITEABLE(array);
    return {view_of(array, role), writable, nb::borrow(reinterpret_cast<PyObject*>(PyArray_DESCR(array))),
            std::move(memory)};
  }
  const auto& array = nb::cast<const RawArray&>(memory);
  return {array.view, array.writable, nb::str(array.dtype.c_str()), memory, false, array.location};
}

/// Returns the capsule that the object's __dlpack__ makes, or an invalid object with Python's exception set. A read-only
/// array may refuse to make a capsule; then a capsule of DLPack 1.0 is asked for, which has a flag for read-only arrays.
nb::object dlpack_capsule(nb::handle object, std::optional<std::uintptr_t> stream) {
  const nb::object method = object.attr("__dlpack__");
  nb::dict options;
  if (stream) options["stream"] = *stream;
  nb::object capsule = nb::steal(PyObject_Call(method.ptr(), nb::tuple().ptr(), options.ptr()));
  if (capsule.is_valid() || (!PyErr_ExceptionMatches(PyExc_BufferError) && !PyErr_ExceptionMatches(PyExc_TypeError)))
    return capsule;
  PyErr_Clear();
  options["max_version"] = nb::make_tuple(1, 0);
  return nb::steal(PyObject_Call(method.ptr(), nb::tuple().ptr(), options.ptr()));
}

nb::object hooks() {
  return nb::module_::import_("patchfold._arrays.memory");
}

}  // namespace

RawArray RawArray::make(std::uintptr_t address, nb::handle shape, nb::handle strides, const std::string& dtype,
                        bool writable, nb::object owner, int cuda, std::uintptr_t stream) {
  RawArray raw;
  raw.location = {cuda, reinterpret_cast<void*>(stream)};
  raw.view.data = reinterpret_cast<void*>(address);
  raw.view.shape = shape_of("RawArray", "shape", shape);
  raw.view.strides = shape_of("RawArray", "strides", strides);
  raw.view.dtype = dtype_named(dtype);
  raw.view.element_size = size_of(raw.view.dtype);
  raw.writable = writable;
  raw.dtype = dtype;
  raw.owner = std::move(owner);
  return raw;
}

RawArray RawArray::from_dlpack(nb::handle object, const std::string& op, const std::string& argument,
                               std::optional<std::uintptr_t> stream, bool writable) {
  nb::ndarray<nb::ro> array;
  const nb::object capsule = dlpack_capsule(object, stream);
  if (!capsule.is_valid()) drop_answer();
  if (!capsule.is_valid() || !PyCapsule_CheckExact(capsule.ptr()) || !nb::try_cast(capsule, array) || !array.is_valid())
    throw Error({ErrorCode::type, op, argument, "must be an array that DLPack can hand over", type_name_of(object), ""});
  constexpr int cpu = nb::device::cpu::value, cuda = nb::device::cuda::value, managed = nb::device::cuda_managed::value;
  const int type = array.device_type();
  if (stream ? type != cuda && type != managed : type != cpu)
    throw Error({ErrorCode::type, op, argument, "must lie where __dlpack_device__ says",
                 "DLPack device type " + std::to_string(type), stream ? "a CUDA device, type 2" : "the CPU, type 1"});
  RawArray raw;
  raw.writable = writable;
  if (stream) raw.location = {array.device_id(), reinterpret_cast<void*>(*stream)};
  const DTypeInfo* info = type_of_dlpack(array.dtype().code, array.dtype().bits, array.dtype().lanes);
  if (!info)
    throw Error(
        {ErrorCode::dtype, op, argument, "must have an element type of this library",
         "DLPack type code " + std::to_string(array.dtype().code) + " of " + std::to_string(array.dtype().bits) + " bits",
         ""});
  raw.view.dtype = info->dtype;
  raw.dtype = std::string(info->name);
  raw.view.data = const_cast<void*>(array.data());
  raw.view.element_size = size_of(raw.view.dtype);
  for (std::size_t axis = 0; axis < array.ndim(); ++axis) {
    raw.view.shape.push_back(static_cast<std::int64_t>(array.shape(axis)));
    const auto stride = (Checked(array.stride(axis)) * raw.view.element_size).value();
    if (!stride)
      throw Error({ErrorCode::overflow, op, argument, "strides in bytes must fit into 63 bits",
                   std::to_string(array.stride(axis)) + " elements", ""});
    raw.view.strides.push_back(*stride);
  }
  raw.hold = std::make_shared<nb::ndarray<nb::ro>>(std::move(array));
  return raw;
}

const DTypeInfo* type_of_dlpack(int code, int bits, int lanes) {
  for (const DTypeInfo& info : dtype_table)
    if (info.dtype != DType::opaque && info.dlpack == code && 8 * static_cast<int>(info.size) == bits && lanes == 1)
      return &info;
  return nullptr;
}

bool is_numpy(nb::handle object) {
  return PyArray_Check(object.ptr()) != 0;
}

std::optional<Operand> torch_operand(nb::handle object) {
  const auto view = torch_memory(object);
  if (!view) return std::nullopt;
  const std::string_view name = info_of(view->dtype).name;
  return Operand{*view, true, nb::str(name.data(), name.size()), nb::borrow(object), true, view->location};
}

Operand operand_of(nb::handle object, const ArrayRole& role, bool to_write, Reach reach) {
  const bool anywhere = reach == Reach::anywhere;
  if (auto plain = to_write || is_numpy(object) ? std::nullopt : torch_operand(object))
    if (anywhere || !plain->location.is_device()) return *std::move(plain);
  const auto memory = [&]() -> nb::object {
    return hooks().attr("memory")(object, nb::str(role.op.data(), role.op.size()),
                                  nb::str(role.argument.data(), role.argument.size()), to_write, anywhere);
  };
  Operand operand = from_memory(is_numpy(object) ? nb::borrow(object) : or_stop(memory), role);
  if (to_write && !operand.writable)
    throw Error(
        {ErrorCode::type, std::string(role.op), std::string(role.argument), "must be writeable", "a read-only array", ""});
  return operand;
}

std::pair<std::uintptr_t, std::uintptr_t> bytes_of(const TensorView& view, const ArrayRole& role) {
  const auto data = reinterpret_cast<std::uintptr_t>(view.data);
  Checked begin = 0;
  Checked end = view.element_size;
  for (int axis = 0; axis < view.shape.size(); ++axis) {
    if (view.shape[axis] == 0) return {data, data};
    const Checked reach = Checked(view.strides[axis]) * (view.shape[axis] - 1);
    Checked& bound = reach.value().value_or(0) < 0 ? begin : end;
    bound = bound + reach;
  }
  if (!begin.is_below() || !end.is_below())
    throw Error({ErrorCode::overflow, std::string(role.op), std::string(role.argument),
                 "offsets in bytes must stay below 2^60", view.strides, ""});
  return {data + static_cast<std::uintptr_t>(*begin.value()), data + static_cast<std::uintptr_t>(*end.value())};
}

std::optional<DType> swapped_type(const Operand& operand) {
  if (!operand.dtype.is_valid() || !PyArray_DescrCheck(operand.dtype.ptr())) return std::nullopt;
  auto* const descr = reinterpret_cast<PyArray_Descr*>(operand.dtype.ptr());
  return PyArray_ISNBO(descr->byteorder) ? std::nullopt : dtype_of(descr);
}

Operand in_own_order(const Operand& swapped, bool form_only) {
  Operand own = swapped;
  own.view.dtype = swapped_type(swapped).value();
  own.view.strides = contiguous_strides(own.view.shape, own.view.element_size);
  own.view.data = nullptr;
  if (form_only) return own;
  own.owner = nb::steal(PyArray_NewCopy(reinterpret_cast<PyArrayObject*>(swapped.owner.ptr()), NPY_CORDER));
  if (!own.owner.is_valid()) nb::raise_python_error();
  swap_bytes(own.owner);
  own.view.data = PyArray_DATA(reinterpret_cast<PyArrayObject*>(own.owner.ptr()));
  return own;
}

bool is_in_own_order(const Operand& operand) {
  return operand.view.dtype != DType::opaque && swapped_type(operand).has_value();
}

void swap_bytes(nb::handle array) {
  const nb::object same = nb::steal(PyArray_Byteswap(reinterpret_cast<PyArrayObject*>(array.ptr()), NPY_TRUE));
  if (!same.is_valid()) nb::raise_python_error();
}

bool same_elements(const Operand& a, const Operand& b) {
  const bool numpy = PyArray_DescrCheck(a.dtype.ptr());
  if (numpy && PyArray_DescrCheck(b.dtype.ptr()))
    return a.dtype.is(b.dtype) || PyArray_EquivTypes(reinterpret_cast<PyArray_Descr*>(a.dtype.ptr()),
                                                     reinterpret_cast<PyArray_Descr*>(b.dtype.ptr()));
  return a.view.dtype == b.view.dtype && a.view.element_size == b.view.element_size && a.view.dtype != DType::opaque;
}

std::string dtype_text(const Operand& operand) {
  return nb::str(operand.dtype).c_str();
}

Output::Output(nb::handle like, const Operand& operand, const Dims& shape) {
  if (is_numpy(like)) {
    holder_ = new_array(reinterpret_cast<PyArray_Descr*>(operand.dtype.ptr()), shape);
    data_ = PyArray_DATA(reinterpret_cast<PyArrayObject*>(holder_.ptr()));
    return;
  }
  if (operand.is_torch) {
    const TensorView& view = operand.view;
    holder_ = new_torch(like, shape, torch_strides(shape, view.element_size), view.element_size);
    if (const auto made = torch_view(holder_)) {
      data_ = made->data;
      return;
    }
  }
  holder_ = or_stop([&]() -> nb::object {
    return hooks().attr("new_output")(like, to_tuple(shape), nb::str(operand.dtype), operand.location.is_device());
  });
  finished_ = false;
  data_ = from_memory(holder_.attr("memory"), {"", "out"}).view.data;
}

nb::object Output::result() const {
  return finished_ ? holder_ : or_stop([&]() -> nb::object { return holder_.attr("result")(); });
}

void prefer_large_pages(void* memory, std::size_t bytes) noexcept {
  if (bytes >= least_on_large_pages) system::prefer_large_pages(memory, bytes);
}

nb::object new_buffer(nb::handle shape, const std::string& dtype) {
  const DType type = dtype_named(dtype);
  const Dims dims = shape_of("buffer", "shape", shape);
  constexpr std::size_t line = 64;
  const Checked bytes = checked_product(dims, size_of(type));
  if (!bytes.is_below())
    throw Error({ErrorCode::overflow, "buffer", "shape", "sizes in bytes must stay below 2^60", dims, ""});
  void* memory = std::aligned_alloc(line, (static_cast<std::size_t>(*bytes.value()) / line + 1) * line);
  if (!memory) throw std::bad_alloc();
  prefer_large_pages(memory, static_cast<std::size_t>(*bytes.value()));
  const nb::capsule owner(memory, [](void* pointer) noexcept { std::free(pointer); });
  std::vector<std::size_t> extents(dims.begin(), dims.end());
  return nb::cast(nb::ndarray<nb::array_api, nb::device::cpu>(memory, extents.size(), extents.data(), owner, nullptr,
                                                              dlpack_type(info_of(type))));
}

}  // namespace patchfold::python
