// SPDX-License-Identifier: Apache-2.0
// Replaces bytes by the entries of a table, plane by plane.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/fail.hpp"
#include "engine/parallel_rows.hpp"
#include "kernels/look_up.hpp"
#include "patchfold/operators.hpp"
#include "patchfold/pictures.hpp"
#include "pictures/operands.hpp"

namespace patchfold {
namespace {

constexpr std::string_view op_name = "apply_table";
constexpr std::int64_t entries = 256;
/// The most elements of a plane, so that threads can share the work (arbitrary).
constexpr std::int64_t most_in_plane = 1 << 14;
/// How far ahead of the work planes are fetched: a few patches of three channels (measured).
constexpr std::int64_t planes_ahead = 12;
constexpr std::int64_t line_bytes = 64;

/// One axis of the work. `table_stride` counts bytes of the table.
struct WorkAxis : kernels::PlaneAxis {
  std::int64_t table_stride = 0;
};
using WorkAxes = std::vector<WorkAxis>;

bool is_inside(const WorkAxis& a, const WorkAxis& b) {
  return std::abs(a.dst_stride) < std::abs(b.dst_stride);
}

/// Returns the axes by their strides in the destination, the smallest first. Axes that continue each other are one axis.
WorkAxes merged(WorkAxes axes) {
  std::ranges::stable_sort(axes, is_inside);
  WorkAxes result;
  for (const WorkAxis& axis : axes) {
    WorkAxis* const inner = result.empty() ? nullptr : &result.back();
    if (inner != nullptr && inner->table_stride == 0 && axis.table_stride == 0 &&
        axis.src_stride == inner->src_stride * inner->count && axis.dst_stride == inner->dst_stride * inner->count)
      inner->count *= axis.count;
    else
      result.push_back(axis);
  }
  return result;
}

/// A plane on the way along axes: its index, and where it lies.
struct Place {
  FixedList<std::int64_t, max_rank + 2> index{};
  const std::byte* src = nullptr;
  std::byte* dst = nullptr;
  const std::byte* table = nullptr;

  void move(const WorkAxis& axis, std::int64_t steps) noexcept {
    src += steps * axis.src_stride;
    dst += steps * axis.dst_stride;
    table += steps * axis.table_stride;
  }
  /// Goes to a plane, counted from the first one, where this object is.
  void start(const WorkAxes& axes, std::int64_t number) noexcept {
    for (const WorkAxis& axis : axes) {
      const std::int64_t here = number % axis.count;
      index.push_back(here);
      move(axis, here);
      number /= axis.count;
    }
  }
  /// Goes to the next plane; the first one follows the last one.
  void step(const WorkAxes& axes) noexcept {
    for (int k = 0; k < index.size(); ++k) {
      const WorkAxis& axis = axes[static_cast<std::size_t>(k)];
      move(axis, 1);
      if (++index[k] < axis.count) return;
      move(axis, -axis.count);
      index[k] = 0;
    }
  }
};

/// Planes of bytes that each use one row of the table, and the axes along which the planes follow each other.
class Planes {
 public:
  Planes(const WorkAxes& axes, std::int64_t size) : size_(size) {
    int found = 0;
    for (const WorkAxis& axis : axes) {
      if (found < 2 && axis.table_stride == 0)
        plane_[found++] = axis;
      else if (axis.src_stride == 0 && axis.table_stride == 0 && copies_.count == 1 && plane_[0].dst_stride == size)
        copies_ = axis;
      else
        repeats_.push_back(axis);
    }
    std::int64_t room = most_in_plane;
    for (int i = 0; i < 2; ++i) {
      kernels::PlaneAxis& axis = plane_[i];
      whole_[i] = axis.count;
      axis.count = std::min(axis.count, room);
      room = std::max<std::int64_t>(1, room / axis.count);
      const std::int64_t parts = (whole_[i] + axis.count - 1) / axis.count;
      repeats_.insert(repeats_.begin() + i, {{parts, axis.src_stride * axis.count, axis.dst_stride * axis.count}, 0});
    }
    fetches_ = plane_[1].count > 1 && std::abs(plane_[0].src_stride * plane_[0].count) <= line_bytes;
  }

  std::int64_t count() const {
    std::int64_t product = 1;
    for (const WorkAxis& axis : repeats_) product *= axis.count;
    return product;
  }

  void run(const std::byte* src, std::byte* dst, const std::byte* table, std::int64_t first,
           std::int64_t last) const noexcept {
    Place at{.src = src, .dst = dst, .table = table}, ahead = at;
    at.start(repeats_, first);
    ahead.start(repeats_, first + planes_ahead);
    std::uintptr_t fetched = 0;
    for (std::int64_t i = first; i < last; ++i) {
      const auto part = [&](int axis) {
        kernels::PlaneAxis here = plane_[axis];
        here.count = std::min(here.count, whole_[axis] - at.index[axis] * here.count);
        return here;
      };
      const kernels::PlaneAxis outer = part(1), inner = part(0);
      // Planes of other channels lie in the same lines.
      if (const auto line = reinterpret_cast<std::uintptr_t>(ahead.src) / line_bytes; fetches_ && line != fetched) {
        fetched = line;
        fetch(ahead.src, outer, inner);
      }
      kernels::look_up(at.dst, at.src, outer, inner, at.table, size_);
      copy(at.dst, outer, inner.count * size_);
      at.step(repeats_);
      ahead.step(repeats_);
    }
  }

 private:
  /// Writes a plane again for every further index of an axis along which the source repeats, such as the frames of a picture
  /// that is shown twice. `bytes` are those of a row.
  void copy(std::byte* dst, kernels::PlaneAxis rows, std::int64_t bytes) const noexcept {
    if (rows.dst_stride == bytes) {
      bytes *= rows.count;
      rows.count = 1;
    }
    for (std::int64_t i = 1; i < copies_.count; ++i)
      for (std::int64_t row = 0; row < rows.count; ++row)
        std::memcpy(dst + i * copies_.dst_stride + row * rows.dst_stride, dst + row * rows.dst_stride,
                    static_cast<std::size_t>(bytes));
  }

  /// Fetches the bytes of a plane into the cache.
  static void fetch(const std::byte* src, const kernels::PlaneAxis& outer, const kernels::PlaneAxis& inner) noexcept {
    const std::int64_t span = (inner.count - 1) * inner.src_stride;
    for (std::int64_t row = 0; row < outer.count; ++row) {
      __builtin_prefetch(src + row * outer.src_stride);
      __builtin_prefetch(src + row * outer.src_stride + span);
    }
  }

  kernels::PlaneAxis plane_[2]{};  ///< the inner axis, then the outer axis
  std::int64_t whole_[2]{};        ///< the extents of these axes, of which a plane is a part
  WorkAxes repeats_{};
  kernels::PlaneAxis copies_{};  ///< an axis along which the planes of the destination are equal
  std::int64_t size_;
  bool fetches_ = false;  ///< whether planes are fetched ahead: short rows in many pages, which no processor foresees
};

}  // namespace

void apply_table(const ConstTensorView& bytes, int axis, const ConstTensorView& table, const TensorView& out,
                 Executor& executor) {
  const ops::Sound src = pictures::check_bytes(op_name, "bytes", bytes);
  const int rank = bytes.shape.size();
  if (rank == 0) fail_rank(op_name, "bytes", "must have an axis for the rows of the table", bytes.shape, "rank 1 or more");
  if (axis < -rank || axis >= rank)
    fail(ErrorCode::value, op_name, "axis", "must be an axis of bytes", axis, ErrorValue("from ", -rank, " to ", rank - 1));
  const int channel = axis < 0 ? axis + rank : axis;
  const ops::Sound sound_table = ops::check_view(op_name, "table", table);
  if (table.dtype == DType::opaque) fail(ErrorCode::dtype, op_name, "table", "must have an element type of this library");
  if (const Dims shape{bytes.shape[channel], entries}; !(table.shape == shape))
    fail(ErrorCode::shape, op_name, "table", "must have 256 entries for each index of the axis", table.shape, shape);
  const ops::Sound dst = pictures::check_result(op_name, "out", out, bytes.shape, table.dtype);
  if (element_count(bytes.shape) == 0) return;
  pictures::check_memory(op_name, "bytes", bytes, src, "out", out, dst);
  pictures::check_memory(op_name, "table", table, sound_table, "out", out, dst);

  const auto size = static_cast<std::int64_t>(table.element_size);
  ConstTensorView rows = table;
  std::vector<std::byte> dense;
  if (table.strides[1] != size) {
    dense.resize(static_cast<std::size_t>(element_count(table.shape) * size));
    rows.data = dense.data();
    rows.strides = contiguous_strides(table.shape, table.element_size);
    patchfold::run(Copy{}, table, {dense.data(), rows.shape, rows.strides, table.dtype, table.element_size},
                   serial_executor());
  }

  WorkAxes axes;
  for (int i = 0; i < rank; ++i)
    if (bytes.shape[i] > 1)
      axes.push_back({{bytes.shape[i], src.strides[i], dst.strides[i]}, i == channel ? rows.strides[0] : 0});
  const Planes planes(merged(std::move(axes)), size);
  const double moved = static_cast<double>(element_count(bytes.shape)) * static_cast<double>(1 + size);
  throw_if_failed(engine::parallel_rows(
                      planes.count(), moved,
                      [&](std::int64_t first, std::int64_t last) noexcept {
                        planes.run(static_cast<const std::byte*>(bytes.data), static_cast<std::byte*>(out.data),
                                   static_cast<const std::byte*>(rows.data), first, last);
                      },
                      executor),
                  op_name, "out");
}

}  // namespace patchfold
