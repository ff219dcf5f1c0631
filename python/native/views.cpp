// SPDX-License-Identifier: Apache-2.0
// Makes strided views of patches and blocks: of NumPy arrays through NumPy's C interface, of torch tensors through their
// as_strided.
#include <array>

#include "python/native/call.hpp"
#include "python/native/interpreter_lock.hpp"
#include "python/native/values.hpp"

namespace patchfold::python {
namespace {

/// The array whose memory a view shares. Strides are in bytes for NumPy, in elements for torch.
struct Shared {
  nb::handle array;
  Dims shape{};
  Dims strides{};
};

Shared shared_of(std::string_view name, nb::handle x) {
  Shared shared{x};
  if (!is_numpy(x)) {
    const nb::object facts = or_stop([&]() -> nb::object {
      const nb::module_ views = nb::module_::import_("patchfold._operators.views");
      return views.attr("torch_shape_and_strides")(nb::str(name.data(), name.size()), x);
    });
    shared.shape = shape_of(name, "x", facts[0]);
    shared.strides = shape_of(name, "x", facts[1]);
    return shared;
  }
  auto* array = reinterpret_cast<PyArrayObject*>(x.ptr());
  if (PyArray_DESCR(array)->kind == 'T')
    throw Error({ErrorCode::type, std::string(name), "x", "strings of variable width have no strided views",
                 text_of(PyArray_DESCR(array)), ""});
  refuse_masked(array, {name, "x"});
  for (int axis = 0; axis < PyArray_NDIM(array); ++axis) {
    shared.shape.push_back(PyArray_DIM(array, axis));
    shared.strides.push_back(PyArray_STRIDE(array, axis));
  }
  return shared;
}

/// The axes of a view, from the first to the last.
class View {
 public:
  void add(std::int64_t extent, std::int64_t stride) {
    extents_[size_] = extent;
    strides_[size_++] = stride;
  }
  void add(const Dims& extents, const Dims& strides) {
    for (int axis = 0; axis < extents.size(); ++axis) add(extents[axis], strides[axis]);
  }

  nb::object of(std::string_view name, const Shared& shared, bool repeats) const {
    if (!is_numpy(shared.array)) {
      const nb::handle x = shared.array;
      return or_stop([&]() -> nb::object {
        return x.attr("as_strided")(tuple(extents_), tuple(strides_), x.attr("storage_offset")());
      });
    }
    auto* array = reinterpret_cast<PyArrayObject*>(shared.array.ptr());
    auto* descr = PyArray_DESCR(array);
    Py_INCREF(reinterpret_cast<PyObject*>(descr));
    const nb::object view = nb::steal(
        PyArray_NewFromDescr(&PyArray_Type, descr, static_cast<int>(size_), extents_.data(), strides_.data(),
                             PyArray_DATA(array), repeats ? 0 : PyArray_FLAGS(array) & NPY_ARRAY_WRITEABLE, nullptr));
    if (!view.is_valid()) {
      if (!PyErr_ExceptionMatches(PyExc_ValueError)) nb::raise_python_error();
      PyErr_Clear();  // NumPy refuses large extents even of an empty array, since it multiplies the other extents
      throw Error({ErrorCode::value, std::string(name), "x", "the extents of the view must be as few as NumPy can multiply",
                   text_of(tuple(extents_)), ""});
    }
    Py_INCREF(reinterpret_cast<PyObject*>(array));
    if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(view.ptr()), shared.array.ptr()) < 0)
      nb::raise_python_error();
    return view;
  }

 private:
  // A view has at most twice as many axes as its array.
  using Numbers = std::array<npy_intp, std::size_t{2} * max_rank>;
  nb::object tuple(const Numbers& numbers) const {
    nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(size_)));
    for (std::size_t i = 0; i < size_; ++i)
      PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromSsize_t(numbers[i]));
    return tuple;
  }

  Numbers extents_;
  Numbers strides_;
  std::size_t size_ = 0;
};

/// Where the batch axes, the channel axis and the spatial axes of an array lie. A view cuts each spatial axis in two.
struct Places {
  int rank;  ///< the number of spatial axes
  int batch;
  int channel;
  int spatial;  ///< the first spatial axis
  bool channels_first;
};

Places places_of(int axes, const Values& values, const std::optional<ArgumentValue>& layout) {
  int rank = axes == 4 ? 2 : 0;  // for arguments that are single numbers
  for (const auto& value : values)
    if (const Dims* list = value ? std::get_if<Dims>(&*value) : nullptr) {
      rank = list->size();
      break;
    }
  const int batch = axes - rank - 1;
  if (!layout || std::get<std::string>(*layout) == "channels_first") return {rank, batch, batch, batch + 1, true};
  return {rank, batch, batch + rank, batch, false};
}

std::int64_t at(const std::optional<ArgumentValue>& value, int axis) {
  if (!value) return 1;
  if (const Dims* list = std::get_if<Dims>(&*value)) return (*list)[axis];
  return std::get<std::int64_t>(*value);
}

/// Returns whether blocks divide the extents, and all numbers are too small for an overflow. All other calls are checked by the
/// operator, whose check is slower than making the view.
bool divides(const Values& values, const Dims& shape, const Places& places) {
  constexpr std::int64_t small = 1 << 20;
  if (places.batch < 1 || places.rank < 1 || places.rank > 3 || shape.size() > 5) return false;
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0 || extent > small || elements > std::int64_t{1} << 40) return false;
    elements *= extent;
  }
  if (elements > std::int64_t{1} << 40) return false;
  if (const Dims* list = std::get_if<Dims>(&*values[0]); list && list->size() != places.rank) return false;
  for (int i = 0; i < places.rank; ++i) {
    const std::int64_t block = at(values[0], i);
    if (block < 1 || block > small || shape[places.spatial + i] % block != 0) return false;
  }
  return true;
}

}  // namespace

nb::object unfold_view(nb::handle x, nb::handle kernel_size, nb::handle stride, nb::handle dilation, nb::handle layout,
                       nb::handle allow_empty) {
  constexpr std::string_view name = "unfold_view";
  static const Operator op("unfold", "x");
  static const nb::handle grid = nb::str("grid").release();
  const nb::handle none = nb::none();
  const std::array<nb::handle, 10> given = {kernel_size, stride, dilation, none, none,
                                            none,        layout, none,     grid, allow_empty};
  const Values values = named(name, [&] { return op.parse(given); });
  const Shared shared = shared_of(name, x);
  const Dims columns = named(name, [&] { return op.output_dims(shared.shape, values, "x"); });

  const std::span window(values.begin(), 3);
  const Places places = places_of(shared.shape.size(), Values(window.begin(), window.end()), values[6]);
  Dims kernel, taps, positions, steps;
  for (int i = 0; i < places.rank; ++i) {
    const int axis = places.spatial + i;
    kernel.push_back(at(values[0], i));
    positions.push_back(columns[axis]);
    // An axis with one tap or one position gets the step 1, so that a large step cannot overflow the strides.
    taps.push_back(shared.strides[axis] * (kernel[i] > 1 && positions[i] > 0 ? at(values[2], i) : 1));
    steps.push_back(shared.strides[axis] * (positions[i] > 1 ? at(values[1], i) : 1));
  }
  View view;
  view.add(shared.shape.slice(0, places.batch), shared.strides);
  if (!places.channels_first) view.add(positions, steps);
  view.add(shared.shape[places.channel], shared.strides[places.channel]);
  view.add(kernel, taps);
  if (places.channels_first) view.add(positions, steps);
  return view.of(name, shared, true);
}

nb::object space_to_depth_view(nb::handle x, nb::handle block, nb::handle mode, nb::handle layout) {
  constexpr std::string_view name = "space_to_depth_view";
  static const Operator op("space_to_depth", "x");
  const std::array<nb::handle, 3> given = {block, mode, layout};
  const Values values = named(name, [&] { return op.parse(given); });
  const Shared shared = shared_of(name, x);
  const Places places = places_of(shared.shape.size(), {values[0]}, values[2]);
  if (!divides(values, shared.shape, places)) named(name, [&] { return op.output_dims(shared.shape, values, "x"); });

  const bool blocks_first = !values[1] || std::get<std::string>(*values[1]) == "blocks_first";
  Dims blocks, counts, steps;
  for (int i = 0; i < places.rank; ++i) {
    const int axis = places.spatial + i;
    blocks.push_back(at(values[0], i));
    counts.push_back(shared.shape[axis] / blocks[i]);
    steps.push_back(shared.strides[axis] * blocks[i]);
  }
  const Dims offsets = shared.strides.slice(places.spatial, places.spatial + places.rank);
  View view;
  view.add(shared.shape.slice(0, places.batch), shared.strides);
  if (!places.channels_first) view.add(counts, steps);
  if (blocks_first) view.add(blocks, offsets);
  view.add(shared.shape[places.channel], shared.strides[places.channel]);
  if (!blocks_first) view.add(blocks, offsets);
  if (places.channels_first) view.add(counts, steps);
  return view.of(name, shared, false);
}

}  // namespace patchfold::python
