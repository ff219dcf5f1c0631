// SPDX-License-Identifier: Apache-2.0
// Patches at arbitrary corners: one plan that copies a patch, run once for each corner.
#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "patchfold/operators.hpp"
#include "python/native/call.hpp"
#include "python/native/interpreter_lock.hpp"
#include "python/native/tiling.hpp"

namespace patchfold::python {
namespace {

constexpr std::string_view op_name = "gather_patches";

/// The corners as rows of integers: a copy, so that the caller cannot change a corner after its check.
class Corners {
 public:
  Corners(nb::handle object, const Dims& image) {
    const nb::object found = array_of(object);
    auto* array = reinterpret_cast<PyArrayObject*>(found.ptr());
    const int batch = std::max(PyArray_NDIM(array) - 2, 0);
    const int axes = image.size() - batch;
    const auto refuse = [&](const char* rule, ErrorValue expected) {
      throw Error({ErrorCode::value, std::string(op_name), "corners", rule, given(object, array), std::move(expected)});
    };
    if (batch > 0 && (axes < 1 || !std::equal(PyArray_DIMS(array), PyArray_DIMS(array) + batch, image.begin())))
      refuse(
          "must be one list (n, R), or have the shape (B.., n, R) with a list for each element of the first axes B.. of x",
          ErrorValue("the first axes of ", image));
    const npy_intp* const last = PyArray_DIMS(array) + batch;
    if (PyArray_NDIM(array) < 2 || last[1] < 1 || last[1] > axes)
      refuse("must have the shape (n, R), with a coordinate for each of the last R axes of x",
             ErrorValue("R from 1 to ", axes));
    if (is_masked(object))
      throw Error({ErrorCode::type, std::string(op_name), "corners",
                   "masked arrays are not taken, since the mask would be lost", "", "corners.data or corners.filled(..)"});
    const char kind = PyArray_DESCR(array)->kind;
    if (kind != 'i' && kind != 'u')
      throw Error(
          {ErrorCode::type, std::string(op_name), "corners", "must hold integers", text_of(PyArray_DESCR(array)), ""});
    for (int axis = 0; axis <= batch; ++axis) lists_.push_back(PyArray_DIM(array, axis));
    count_ = element_count(lists_);
    rank_ = static_cast<int>(last[1]);
    kind == 'i' ? read<std::int64_t>(found, NPY_INT64) : read<std::uint64_t>(found, NPY_UINT64);
  }
  /// Returns the shape of the corners without their last axis: (B.., n).
  const Dims& lists() const { return lists_; }
  std::int64_t count() const { return count_; }
  int rank() const { return rank_; }
  const std::int64_t* at(std::int64_t i) const { return values_.data() + i * rank_; }

  /// Throws Error(value) for a corner whose patch is not wholly inside the image.
  void check(const Dims& extents, const Dims& size) const {
    for (std::int64_t i = 0; i < count_; ++i)
      for (int axis = 0; axis < rank_; ++axis)
        if (at(i)[axis] < 0 || at(i)[axis] > extents[axis] - size[axis])
          throw Error({ErrorCode::value, std::string(op_name), "corners", "each must keep its patch inside the image",
                       ErrorValue("corners[", place(i), "] = ", Dims(std::span(at(i), std::size_t(rank_)))),
                       ErrorValue("from ", Dims::filled(rank_, 0), " to ", last(extents, size))});
  }

 private:
  /// Returns the array that NumPy makes from an object; an empty object if NumPy cannot, for example because rows have different
  /// lengths.
  static nb::object array_of(nb::handle object) {
    const auto make = [&] { return PyArray_FromAny(object.ptr(), nullptr, 0, 0, NPY_ARRAY_ENSUREARRAY, nullptr); };
    nb::object array = nb::steal(or_stop(make));
    if (array.is_valid()) return array;
    bool expected = false;
    for (PyObject* type : {PyExc_OverflowError, PyExc_RuntimeError, PyExc_TypeError, PyExc_ValueError})
      expected = expected || PyErr_ExceptionMatches(type);
    if (!expected) nb::raise_python_error();
    PyErr_Clear();
    return new_array(PyArray_DescrFromType(NPY_INT64), {0});
  }
  static ErrorValue given(nb::handle object, PyArrayObject* array) {
    if (PyArray_SIZE(array) != 0 && PyArray_NDIM(array) != 0) {
      Dims shape;
      for (int axis = 0; axis < PyArray_NDIM(array); ++axis) shape.push_back(PyArray_DIM(array, axis));
      return shape;
    }
    const auto text = [&]() -> nb::object { return nb::module_::import_("patchfold._errors").attr("value_text")(object); };
    return utf8_of(or_stop(text));
  }
  /// Returns the index of corner i as a text, such as "2, 0".
  std::string place(std::int64_t i) const {
    std::string text;
    for (int axis = lists_.size() - 1; axis >= 0; i /= lists_[axis--])
      text = std::to_string(i % lists_[axis]) + (text.empty() ? "" : ", ") + text;
    return text;
  }
  static Dims last(const Dims& extents, const Dims& size) {
    Dims last;
    for (int axis = 0; axis < size.size(); ++axis) last.push_back(extents[axis] - size[axis]);
    return last;
  }

  template <class T>
  void read(nb::object found, int type) {
    auto* array = reinterpret_cast<PyArrayObject*>(found.ptr());
    if (PyArray_TYPE(array) != type || !PyArray_ISCARRAY_RO(array)) {
      found = nb::steal(PyArray_FromArray(array, PyArray_DescrFromType(type), NPY_ARRAY_DEFAULT | NPY_ARRAY_FORCECAST));
      if (!found.is_valid()) nb::raise_python_error();
      array = reinterpret_cast<PyArrayObject*>(found.ptr());
    }
    values_.reserve(static_cast<std::size_t>(count_ * rank_));
    for (const T value : std::span(static_cast<const T*>(PyArray_DATA(array)), std::size_t(count_ * rank_)))
      // A value beyond int64 becomes the largest int64, which is outside of every image too.
      values_.push_back(std::in_range<std::int64_t>(value) ? static_cast<std::int64_t>(value)
                                                           : std::numeric_limits<std::int64_t>::max());
  }

  int rank_ = 0;
  Dims lists_{};
  std::int64_t count_ = 0;
  std::vector<std::int64_t> values_{};
};

/// Returns the extents of a patch along the axes that are cut, whose extents in x are `extents`.
Dims patch_size(nb::handle object, const Dims& extents) {
  const ArgumentValue given = value(op_name, "size", ArgumentKind::axes, object);
  const Dims* list = std::get_if<Dims>(&given);
  const Dims size = list ? *list : Dims::filled(extents.size(), std::get<std::int64_t>(given));
  const auto refuse = [](std::string rule, ErrorValue found, ErrorValue expected) {
    throw Error({ErrorCode::value, std::string(op_name), "size", std::move(rule), std::move(found), std::move(expected)});
  };
  if (size.size() != extents.size())
    refuse("must have as many entries as a corner", std::to_string(size.size()), std::to_string(extents.size()));
  for (const std::int64_t each : size)
    if (each < 1) refuse("must be at least 1 on every axis", size, "");
  for (int axis = 0; axis < size.size(); ++axis)
    if (size[axis] > extents[axis]) refuse("must not exceed the axes that are cut", size, ErrorValue("at most ", extents));
  return size;
}

/// Returns the distance in bytes from the first element to element i, which is counted row-major over axes with these extents.
std::int64_t offset_of(std::int64_t i, const Dims& extents, const Dims& strides) {
  std::int64_t offset = 0;
  for (int axis = extents.size() - 1; axis >= 0; i /= extents[axis--]) offset += i % extents[axis] * strides[axis];
  return offset;
}

/// Throws if `out` shares memory with x, or if two elements of `out` share memory. The plan, which sees one patch at a time,
/// cannot check this.
void check_room(const TensorView& src, const TensorView& dst) {
  const auto [src_begin, src_end] = bytes_of(src, {op_name, "x"});
  const auto [dst_begin, dst_end] = bytes_of(dst, {op_name, "out"});
  if (src_begin < dst_end && dst_begin < src_end)
    throw Error({ErrorCode::overlap, std::string(op_name), "out", "source and destination must not share memory", "", ""});
  try {
    const TensorView like{nullptr, dst.shape, Dims::filled(dst.shape.size(), 0), dst.dtype, dst.element_size};
    Copy{}.plan(like, dst);
  } catch (const Error& error) {
    Error::Parts parts = error.parts();
    parts.op = op_name;
    parts.argument = "out";
    throw Error(std::move(parts));
  }
}

}  // namespace

nb::object gather_patches(nb::handle x, nb::handle corners_object, nb::handle size, nb::handle out) {
  static const Operator copy("copy", "x");
  const Operand src = operand_of(x, {op_name, "x"}, false);
  const int rank = src.view.shape.size();
  const Corners corners(corners_object, src.view.shape);
  const int spatial = corners.rank();
  const int leading = rank - spatial;
  const Dims& lists = corners.lists();
  const int batch = lists.size() - 1;
  const Dims extents = src.view.shape.slice(leading, rank);
  const Dims patch = patch_size(size, extents);
  Dims of_one = src.view.shape.slice(batch, leading);
  of_one.append(patch);
  Dims shape = lists;
  shape.append(of_one);

  corners.check(extents, patch);
  std::optional<Output> made;
  TensorView dst{nullptr, shape, {}, src.view.dtype, src.view.element_size};
  if (out.is_none()) {
    made.emplace(x, src, shape);
    dst.data = made->data();
    dst.strides = contiguous_strides(shape, dst.element_size);
  } else {
    const Operand given = operand_of(out, {op_name, "out"}, true);
    if (!(given.view.shape == shape))
      throw Error({ErrorCode::value, std::string(op_name), "out", "must have a patch for each corner, of the size asked for",
                   given.view.shape, shape});
    if (!same_elements(src, given))
      throw Error({ErrorCode::dtype, std::string(op_name), "out", "must have the element type of x", dtype_text(given),
                   dtype_text(src)});
    dst = given.view;
  }
  const auto result = [&] { return made ? made->result() : nb::borrow(out); };
  if (element_count(shape) == 0) return result();
  if (!out.is_none()) check_room(src.view, dst);

  const auto one_of = [&](const TensorView& view, const Dims& strides) {
    return TensorView{nullptr, of_one, strides, view.dtype, view.element_size};
  };
  const TensorView to_one = one_of(dst, dst.strides.slice(lists.size(), dst.strides.size()));
  const Plan plan = copy.prepare(one_of(src.view, src.view.strides.slice(batch, rank)), &to_one, {}).plan;
  const auto* from = static_cast<const std::byte*>(src.view.data);
  auto* to = static_cast<std::byte*>(dst.data);
  std::atomic<Status> failed = Status::ok;
  const auto run_one = [&](std::int64_t i, Executor& executor) noexcept {
    std::int64_t offset = offset_of(i / lists.back(), lists.slice(0, batch), src.view.strides);
    for (int axis = 0; axis < spatial; ++axis) offset += corners.at(i)[axis] * src.view.strides[leading + axis];
    const Status status = plan.run(from + offset, to + offset_of(i, lists, dst.strides), executor);
    if (status != Status::ok) failed = status;
  };
  {
    const Unlocked unlocked;
    constexpr double worth_sharing = 1 << 20;
    const double bytes = static_cast<double>(element_count(dst.shape)) * static_cast<double>(dst.element_size);
    if (bytes < worth_sharing || corners.count() < default_executor().threads()) {
      for (std::int64_t i = 0; i < corners.count(); ++i) run_one(i, default_executor());
    } else {
      const auto body = [](void* context, std::int64_t i) noexcept {
        (*static_cast<decltype(run_one)*>(context))(i, serial_executor());
      };
      if (!default_executor().run(corners.count(), body, const_cast<void*>(static_cast<const void*>(&run_one))))
        failed = Status::executor_failed;
    }
  }
  throw_if_failed(failed, op_name);
  return result();
}

}  // namespace patchfold::python
