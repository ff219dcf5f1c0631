// SPDX-License-Identifier: Apache-2.0
// Patches at arbitrary corners: one plan that copies a patch, run once for each corner.
#include <atomic>

#include "patchfold/operators.hpp"
#include "python/native/call.hpp"
#include "python/native/interpreter_lock.hpp"

namespace patchfold::python {
namespace {

constexpr std::string_view op_name = "gather_patches";

/// The corners as rows of integers, each checked to keep its patch inside.
class Corners {
 public:
  Corners(nb::handle object, const Dims& extents, const Dims& size) : rank_(size.size()) {
    auto* array = reinterpret_cast<PyArrayObject*>(object.ptr());
    if (!is_numpy(object) || PyArray_TYPE(array) != NPY_INT64 || !PyArray_IS_C_CONTIGUOUS(array) ||
        PyArray_NDIM(array) != 2 || PyArray_DIM(array, 1) != rank_)
      throw Error({ErrorCode::type, std::string(op_name), "corners", "must be a contiguous int64 array of shape (n, R)",
                   text_of(object), ""});
    count_ = PyArray_DIM(array, 0);
    values_ = static_cast<const std::int64_t*>(PyArray_DATA(array));
    for (std::int64_t i = 0; i < count_; ++i)
      for (int axis = 0; axis < rank_; ++axis)
        if (at(i)[axis] < 0 || at(i)[axis] > extents[axis] - size[axis])
          throw Error({ErrorCode::value, std::string(op_name), "corners", "each must keep its patch inside the image",
                       ErrorValue("corners[", i, "] = ", Dims(std::span(at(i), std::size_t(rank_)))),
                       ErrorValue("from ", Dims::filled(rank_, 0), " to ", last(extents, size))});
  }
  std::int64_t count() const { return count_; }
  const std::int64_t* at(std::int64_t i) const { return values_ + i * rank_; }

 private:
  static Dims last(const Dims& extents, const Dims& size) {
    Dims last;
    for (int axis = 0; axis < size.size(); ++axis) last.push_back(extents[axis] - size[axis]);
    return last;
  }

  int rank_;
  std::int64_t count_ = 0;
  const std::int64_t* values_ = nullptr;
};

/// Patches are written one after the other, so all of out must be apart from x, and from itself.
void check_room(const TensorView& src, const TensorView& dst, int spatial) {
  const auto [src_begin, src_end] = bytes_of(src, {op_name, "x"});
  const auto [dst_begin, dst_end] = bytes_of(dst, {op_name, "out"});
  if (src_begin < dst_end && dst_begin < src_end)
    throw Error({ErrorCode::overlap, std::string(op_name), "out", "source and destination must not share memory", "", ""});
  try {
    const TensorView like{nullptr, dst.shape, Dims::filled(dst.shape.size(), 0), dst.dtype, dst.element_size};
    SpaceToBatch{.block = Dims::filled(spatial, 1)}.plan(like, dst);
  } catch (const Error& error) {
    Error::Parts parts = error.parts();
    parts.op = op_name;
    parts.argument = "out";
    throw Error(std::move(parts));
  }
}

}  // namespace

void gather_patches(nb::handle x, nb::handle corners_object, nb::handle out) {
  const Operand src = operand_of(x, {op_name, "x"}, false);
  const Operand dst = operand_of(out, {op_name, "out"}, true);
  if (!same_elements(src, dst))
    throw Error({ErrorCode::dtype, std::string(op_name), "out", "must have the element type of x", dtype_text(dst),
                 dtype_text(src)});
  const int rank = src.view.shape.size();
  if (dst.view.shape.size() != rank + 1)
    throw Error({ErrorCode::rank, std::string(op_name), "out", "must have one axis more than x",
                 std::to_string(dst.view.shape.size()), std::to_string(rank + 1)});
  const Dims patch = dst.view.shape.slice(1, rank + 1);
  auto* corner_array = reinterpret_cast<PyArrayObject*>(corners_object.ptr());
  const int spatial =
      is_numpy(corners_object) && PyArray_NDIM(corner_array) == 2 ? static_cast<int>(PyArray_DIM(corner_array, 1)) : 0;
  if (spatial < 1 || spatial > rank)
    throw Error({ErrorCode::shape, std::string(op_name), "corners", "must have the shape (n, R), R spatial axes",
                 text_of(corners_object), ""});
  const int leading = rank - spatial;
  Dims expected = src.view.shape.slice(0, leading);
  expected.append(patch.slice(leading, rank));
  if (!(patch == expected))
    throw Error({ErrorCode::shape, std::string(op_name), "out", "must hold patches of x", patch, expected});
  const Corners corners(corners_object, src.view.shape.slice(leading, rank), patch.slice(leading, rank));
  if (corners.count() != dst.view.shape[0])
    throw Error({ErrorCode::shape, std::string(op_name), "out", "must hold one patch for each corner", dst.view.shape,
                 ErrorValue(corners.count(), " patches")});

  if (element_count(dst.view.shape) == 0) return;
  check_room(src.view, dst.view, spatial);

  // With blocks of 1, space_to_batch is a copy of any strides; it wants a batch axis.
  const auto with_batch = [&](const TensorView& view, const Dims& strides) {
    TensorView one{nullptr, {1}, {0}, view.dtype, view.element_size};
    one.shape.append(patch);
    one.strides.append(strides);
    return one;
  };
  const SpaceToBatch copy{.block = Dims::filled(spatial, 1)};
  const Plan plan =
      copy.plan(with_batch(src.view, src.view.strides), with_batch(dst.view, dst.view.strides.slice(1, rank + 1)));
  const auto* from = static_cast<const std::byte*>(src.view.data);
  auto* to = static_cast<std::byte*>(dst.view.data);
  std::atomic<Status> failed = Status::ok;
  const auto run_one = [&](std::int64_t i, Executor& executor) noexcept {
    std::int64_t offset = 0;
    for (int axis = 0; axis < spatial; ++axis) offset += corners.at(i)[axis] * src.view.strides[leading + axis];
    const Status status = plan.run(from + offset, to + i * dst.view.strides[0], executor);
    if (status != Status::ok) failed = status;
  };
  {
    const Unlocked unlocked;
    constexpr double worth_sharing = 1 << 20;
    const double bytes = static_cast<double>(element_count(dst.view.shape)) * static_cast<double>(dst.view.element_size);
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
}

}  // namespace patchfold::python
