// SPDX-License-Identifier: Apache-2.0
#include "python/native/torch_tensors.hpp"

#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <initializer_list>
#include <memory>

#include "python/native/arrays.hpp"
#include "python/native/interpreter_lock.hpp"
#include "python/native/values.hpp"
#include "src/base/checked.hpp"

namespace patchfold::python {
namespace {

/// The part of DLPack's C exchange API, version 1 (dlpack.h from 1.2 on), that this file uses.
struct ExchangeApi {
  std::uint32_t major;
  std::uint32_t minor;
  ExchangeApi* previous;
  void* allocate;
  void* managed_from_object;
  void* managed_to_object;
  int (*tensor_from_object)(void* object, nb::dlpack::dltensor* out);
  int (*current_work_stream)(int device_type, std::int32_t device_id, void** out);
};

/// Names of attributes as Python strings, made once.
struct Names {
  PyObject* raw_repr = PyUnicode_InternFromString("raw_repr");
  PyObject* requires_grad = PyUnicode_InternFromString("requires_grad");
  PyObject* current_level = PyUnicode_InternFromString("_current_level");
  PyObject* new_empty_strided = PyUnicode_InternFromString("new_empty_strided");
};
const Names& names() {
  static const Names names;
  return names;
}

std::uint64_t raw(const nb::object& keys) {
  const nb::object number = nb::steal(PyObject_CallMethodObjArgs(keys.ptr(), names().raw_repr, nullptr));
  if (!number.is_valid()) nb::raise_python_error();
  const std::uint64_t bits = PyLong_AsUnsignedLongLong(number.ptr());
  if (PyErr_Occurred()) nb::raise_python_error();
  return bits;
}

nb::object answer(PyObject* function) {
  nb::object result = nb::steal(PyObject_CallNoArgs(function));
  if (!result.is_valid()) nb::raise_python_error();
  return result;
}
nb::object answer(PyObject* function, nb::handle argument) {
  nb::object result = nb::steal(PyObject_CallFunctionObjArgs(function, argument.ptr(), nullptr));
  if (!result.is_valid()) nb::raise_python_error();
  return result;
}

bool is_true(const nb::object& object) {
  return object.ptr() == Py_True;
}

/// The parts of torch that each call needs. These parts live as long as the process.
struct Torch {
  PyTypeObject* tensor = nullptr;
  PyTypeObject* parameter = nullptr;
  const ExchangeApi* api = nullptr;   ///< null before torch 2.10
  PyObject* keys_of = nullptr;        ///< (tensor) -> its dispatch keys
  PyObject* included_keys = nullptr;  ///< () -> the keys that modes and transforms add to every call
  PyObject* is_excluded = nullptr;    ///< (key) -> whether calls skip the key
  PyObject* autograd_key = nullptr;
  PyObject* is_grad_enabled = nullptr;
  PyObject* is_profiling = nullptr;
  PyObject* is_tracing = nullptr;
  PyObject* is_conj = nullptr;
  PyObject* is_neg = nullptr;
  PyObject* types = nullptr;          ///< {torch.dtype: its row in dtype_table}
  PyObject* forward_level = nullptr;  ///< the namespace of torch.autograd.forward_ad
  std::uint64_t plain_keys = 0;       ///< the dispatch keys of a dense tensor on the CPU
  std::uint64_t inference_keys = 0;   ///< the dispatch keys of a tensor made under inference_mode
  std::uint64_t cuda_keys = 0;        ///< the same for tensors on CUDA
  std::uint64_t cuda_inference_keys = 0;
  std::uint64_t usual_keys = 0;       ///< the included keys outside all modes
  std::uint64_t usual_inference_keys = 0;

  bool takes(nb::handle object) const {
    return tensor && (Py_TYPE(object.ptr()) == tensor || Py_TYPE(object.ptr()) == parameter);
  }
  bool has_forward_level() const {
    PyObject* level = PyDict_GetItem(forward_level, names().current_level);
    return !level || PyLong_AsLong(level) >= 0;
  }
  bool is_recorded(nb::handle object) const {
    const nb::object requires_grad = nb::steal(PyObject_GetAttr(object.ptr(), names().requires_grad));
    if (!requires_grad.is_valid()) nb::raise_python_error();
    return is_true(requires_grad) && is_true(answer(is_grad_enabled));
  }
};

PyObject* kept(nb::object object) {
  return object.release().ptr();
}

/// Returns the exchange API of torch's tensors; null for a torch without one.
const ExchangeApi* exchange_api_of(nb::handle tensor_type) {
  const nb::object capsule = nb::getattr(tensor_type, "__dlpack_c_exchange_api__", nb::none());
  if (capsule.is_none()) return nullptr;
  const auto* api = static_cast<const ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  if (!api) nb::raise_python_error();
  while (api && (api->major != 1 || !api->tensor_from_object)) api = api->previous;
  return api;
}

/// Returns the parts of torch. Throws Python's exception for a torch that lacks one of the parts.
Torch torch_of(const nb::module_& module) {
  Torch torch;
  const nb::object type = module.attr("Tensor");
  const nb::object native = module.attr("_C");
  const nb::object autograd = module.attr("autograd");
  const nb::object key = native.attr("DispatchKey");
  const auto set = [&](std::initializer_list<const char*> keys) {
    nb::object sum = native.attr("DispatchKeySet")(key.attr(*keys.begin()));
    for (const char* each : keys) sum = sum.attr("add")(key.attr(each));
    return raw(sum);
  };
  torch.plain_keys = set({"CPU", "ADInplaceOrView", "AutogradCPU", "AutocastCPU"});
  torch.inference_keys = set({"CPU", "AutocastCPU"});
  torch.cuda_keys = set({"CUDA", "ADInplaceOrView", "AutogradCUDA", "AutocastCUDA"});
  torch.cuda_inference_keys = set({"CUDA", "AutocastCUDA"});
  torch.usual_keys = set({"BackendSelect", "ADInplaceOrView"});
  torch.usual_inference_keys = set({"BackendSelect"});
  torch.keys_of = kept(native.attr("_dispatch_keys"));
  torch.included_keys = kept(native.attr("_dispatch_tls_local_include_set"));
  torch.is_excluded = kept(native.attr("_dispatch_tls_is_dispatch_key_excluded"));
  torch.autograd_key = kept(key.attr("AutogradOther"));
  torch.is_grad_enabled = kept(module.attr("is_grad_enabled"));
  torch.is_profiling = kept(autograd.attr("_profiler_enabled"));
  torch.is_tracing = kept(native.attr("_is_tracing"));
  torch.is_conj = kept(type.attr("is_conj"));
  torch.is_neg = kept(type.attr("is_neg"));
  torch.forward_level = kept(autograd.attr("forward_ad").attr("__dict__"));
  nb::dict types;
  for (std::size_t i = 0; i < std::size(dtype_table); ++i)
    if (const nb::object each =
            nb::getattr(module, nb::str(dtype_table[i].name.data(), dtype_table[i].name.size()), nb::none());
        !each.is_none())
      types[each] = i;
  torch.types = kept(types);
  torch.api = exchange_api_of(type);
  torch.parameter = reinterpret_cast<PyTypeObject*>(kept(module.attr("nn").attr("Parameter")));
  torch.tensor = reinterpret_cast<PyTypeObject*>(kept(type));
  return torch;
}

/// Returns the parts of torch; an empty Torch before the program has imported torch.
const Torch& torch() {
  static const Torch none;
  static std::atomic<const Torch*> found = nullptr;
  if (const Torch* torch = found.load(std::memory_order_acquire)) return *torch;
  PyObject* module = PyDict_GetItemString(PyImport_GetModuleDict(), "torch");
  if (!module) return none;
  try {
    auto made = std::make_unique<const Torch>(torch_of(nb::borrow<nb::module_>(module)));
    const Torch* first = nullptr;  // set if another thread was faster
    if (found.compare_exchange_strong(first, made.get(), std::memory_order_acq_rel)) first = made.release();
    return *first;
  } catch (nb::python_error& error) {  // an older torch, or a torch whose import has not ended
    if (!error.matches(PyExc_Exception)) throw;
    return none;
  }
}

TensorView& set_type(TensorView& view, const DTypeInfo& type) {
  view.dtype = type.dtype;
  view.element_size = type.size;
  return view;
}

/// Returns where a tensor lies; nothing for other devices than CUDA's (AMD's have another type in DLPack).
std::optional<Location> location_of(const nb::dlpack::device& device) {
  if (device.device_type == nb::device::cpu::value) return Location{};
  Location location{device.device_id};
  const auto stream_of = torch().api->current_work_stream;
  if (device.device_type != nb::device::cuda::value || stream_of == nullptr) return std::nullopt;
  if (stream_of(device.device_type, device.device_id, &location.stream) == 0) return location;
  drop_answer();
  return std::nullopt;
}

std::optional<TorchView> view_by_exchange(nb::handle tensor) {
  nb::dlpack::dltensor given;
  if (torch().api->tensor_from_object(tensor.ptr(), &given) != 0) {
    drop_answer();
    return std::nullopt;
  }
  const DTypeInfo* type = type_of_dlpack(given.dtype.code, given.dtype.bits, given.dtype.lanes);
  const auto location = location_of(given.device);
  if (!type || !location || given.ndim > max_rank) return std::nullopt;
  TorchView view;
  set_type(view, *type);
  view.location = *location;
  view.data = given.data ? static_cast<std::byte*>(given.data) + given.byte_offset : nullptr;
  for (std::int32_t axis = 0; axis < given.ndim; ++axis) {
    const auto stride = (Checked(given.strides[axis]) * type->size).value();
    if (!stride) return std::nullopt;
    view.shape.push_back(given.shape[axis]);
    view.strides.push_back(*stride);
  }
  return view;
}

/// Returns the view of a plain tensor, from its attributes; nothing for element types that the library lacks.
std::optional<TorchView> view_by_attributes(nb::handle tensor) {
  return or_stop([&]() -> std::optional<TorchView> {
    PyObject* row = PyDict_GetItem(torch().types, nb::object(tensor.attr("dtype")).ptr());
    const nb::object shape = tensor.attr("shape");
    const nb::object strides = tensor.attr("stride")();
    if (!row || nb::len(shape) > max_rank || !is_true(tensor.attr("is_cpu"))) return std::nullopt;
    TorchView view;
    set_type(view, dtype_table[PyLong_AsSize_t(row)]);
    view.data = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(tensor.attr("data_ptr")()));
    for (std::size_t axis = 0; axis < nb::len(shape); ++axis) {
      const auto stride = (Checked(nb::cast<std::int64_t>(strides[axis])) * view.element_size).value();
      if (!stride) return std::nullopt;
      view.shape.push_back(nb::cast<std::int64_t>(shape[axis]));
      view.strides.push_back(*stride);
    }
    return view;
  });
}

}  // namespace

bool is_torch(nb::handle object) {
  const Torch& found = torch();
  return found.tensor && PyObject_TypeCheck(object.ptr(), found.tensor);
}

TorchKind torch_kind(nb::handle object) {
  const Torch& found = torch();
  if (!found.takes(object)) return TorchKind::other;
  return or_stop([&] {
    const std::uint64_t own = raw(answer(found.keys_of, object));
    const bool is_inference = own == found.inference_keys || own == found.cuda_inference_keys;
    if (!is_inference && own != found.plain_keys && own != found.cuda_keys) return TorchKind::other;
    const std::uint64_t included = raw(answer(found.included_keys));
    if (included != found.usual_keys && included != found.usual_inference_keys) return TorchKind::other;
    if (found.has_forward_level() || is_true(answer(found.is_profiling))) return TorchKind::other;
    if (is_inference || !found.is_recorded(object)) return TorchKind::plain;
    // If this call is inside the kernel of another operator, the other operator records the derivative.
    const bool excluded = is_true(answer(found.is_excluded, found.autograd_key));
    return excluded ? TorchKind::other : TorchKind::recorded;
  });
}

std::optional<TorchView> torch_view(nb::handle tensor) {
  const auto view = torch().api ? view_by_exchange(tensor) : view_by_attributes(tensor);
  // Tensors that wrap another tensor, and tensors of zeros without memory, have no address.
  return view && !view->data && element_count(view->shape) != 0 ? std::nullopt : view;
}

std::optional<TorchView> torch_memory(nb::handle object) {
  const Torch& found = torch();
  if (!found.takes(object)) return std::nullopt;
  return or_stop([&]() -> std::optional<TorchView> {
    if (!found.api && torch_kind(object) != TorchKind::plain) return std::nullopt;
    if (found.is_recorded(object) || found.has_forward_level() || is_true(answer(found.is_tracing))) return std::nullopt;
    if (is_true(answer(found.is_conj, object)) || is_true(answer(found.is_neg, object))) return std::nullopt;
    return torch_view(object);
  });
}

nb::object new_torch(nb::handle like, const Dims& shape, const Dims& strides, std::size_t element_size) {
  nb::object steps = nb::steal(PyTuple_New(strides.size()));
  for (int axis = 0; axis < strides.size(); ++axis)
    PyTuple_SetItem(steps.ptr(), axis, PyLong_FromLongLong(strides[axis] / static_cast<std::int64_t>(element_size)));
  const nb::object extents = to_tuple(shape);
  const std::array<PyObject*, 3> arguments = {like.ptr(), extents.ptr(), steps.ptr()};
  const auto make = [&] {
    return PyObject_VectorcallMethod(names().new_empty_strided, arguments.data(), arguments.size(), nullptr);
  };
  nb::object tensor = nb::steal(or_stop(make));
  if (!tensor.is_valid()) nb::raise_python_error();
  const std::size_t bytes = static_cast<std::size_t>(element_count(shape)) * element_size;
  if (bytes < least_on_large_pages) return tensor;
  if (const auto made = torch_view(tensor); made && !made->location.is_device()) prefer_large_pages(made->data, bytes);
  return tensor;
}

Dims torch_strides(const Dims& shape, std::size_t element_size) {
  Dims positive;
  for (const std::int64_t extent : shape) positive.push_back(std::max<std::int64_t>(extent, 1));
  return contiguous_strides(positive, element_size);
}

Dims torch_strides_like(const ConstTensorView& input, const Dims& shape) {
  const auto row_major = [&] { return torch_strides(shape, input.element_size); };
  if (input.shape.size() != 4 || input.strides[1] == 0) return row_major();
  std::int64_t least = 0;
  for (const int axis : {1, 3, 2, 0}) {
    if (input.shape[axis] == 0 || input.strides[axis] < least) return row_major();
    if (axis == 0 && least == input.strides[1]) return row_major();  // ambiguous (one pixel of one channel): as in torch
    least = input.strides[axis] * input.shape[axis];
  }
  const Dims last = torch_strides({shape[0], shape[2], shape[3], shape[1]}, input.element_size);
  return {last[0], last[3], last[1], last[2]};
}

}  // namespace patchfold::python
