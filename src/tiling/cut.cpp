// SPDX-License-Identifier: Apache-2.0
// Cuts a tile out of an array. An axis along which the tile lies inside the array is a plain dim. An axis along which the tile
// reaches outside the array is a window with one tap, whose positions are the elements of the tile: the copy itself fills the
// padding.
#include <vector>

#include "base/fail.hpp"
#include "base/index.hpp"
#include "ops/operands.hpp"
#include "patchfold/tiling.hpp"
#include "tensor/encode.hpp"
#include "tiling/names.hpp"

namespace patchfold {

void Tiling::cut(std::int64_t index, const ConstTensorView& array, const TensorView& tile, Executor& executor) const {
  using tiling::op_tiling;
  const Tile place = (*this)[index];
  if (!(array.shape == spec_.shape))
    fail(ErrorCode::shape, op_tiling, "array", "must have the shape of the tiling", array.shape, spec_.shape);
  ops::Operands operands = ops::check_operands(op_tiling, "array", array, "tile", tile, tile_shape(index));
  engine::Problem& problem = operands.problem;
  problem.fill = encode(spec_.value, array.dtype, op_tiling, "value");
  int next = 0;
  for (int axis = 0; axis < array.shape.size(); ++axis) {
    const std::int64_t from = operands.src_strides[axis];
    const std::int64_t to = operands.dst_strides[axis];
    if (next == axes_.size() || axes_[next] != axis) {
      problem.dims.push_back({array.shape[axis], from, to});
      continue;
    }
    const TileSpan& span = place.spans[static_cast<std::size_t>(next++)];
    if (span.read.size() == span.extent) {
      problem.src_offset += span.read.begin * from;
      problem.dims.push_back({span.extent, from, to});
    } else {
      problem.windows.push_back({.positions = span.extent,
                                 .pad_begin = -span.origin,
                                 .extent = array.shape[axis],
                                 .image_stride = from,
                                 .position_stride = to,
                                 .mode = spec_.padding_mode});
    }
  }
  throw_if_failed(ops::make_plan(op_tiling, problem).run(array.data, tile.data, executor), op_tiling, "tile");
}

void Tiling::coverage(const TensorView& counts) const {
  using tiling::op_tiling;
  if (!(counts.shape == output_) || counts.dtype != DType::int64)
    fail(ErrorCode::shape, op_tiling, "counts", "must be int64 of the shape of the output's tiled axes",
         ErrorValue(counts.dtype, " of ", counts.shape), output_);
  const ConstTensorView like{counts.data, output_, Dims::filled(output_.size(), 0), DType::int64, sizeof(std::int64_t)};
  ops::check_operands(op_tiling, "tiles", like, "counts", counts, output_);
  if (element_count(output_) == 0) return;
  if (counts.data == nullptr) fail(ErrorCode::null_data, op_tiling, "counts", "has elements, but no data");
  // The number of tiles at an element is the product of the numbers along each axis, which are counted first.
  std::vector<std::vector<std::int64_t>> along;
  for (int i = 0; i < output_.size(); ++i) {
    std::vector<std::int64_t> axis(static_cast<std::size_t>(output_[i]) + 1);
    for (std::int64_t k = 0; k < grid_[i]; ++k) {
      const Span write = span(i, k).write;
      ++axis[static_cast<std::size_t>(write.begin)];
      --axis[static_cast<std::size_t>(write.end)];
    }
    for (std::size_t y = 1; y < axis.size(); ++y) axis[y] += axis[y - 1];
    along.push_back(std::move(axis));
  }
  auto* to = static_cast<std::byte*>(counts.data);
  const int last = output_.size() - 1;
  const Dims rows = output_.slice(0, last);
  Dims at = Dims::filled(last, 0);
  do {
    std::int64_t outer = 1;
    std::int64_t offset = 0;
    for (int i = 0; i < last; ++i) {
      outer *= along[static_cast<std::size_t>(i)][static_cast<std::size_t>(at[i])];
      offset += at[i] * counts.strides[i];
    }
    for (std::int64_t x = 0; x < output_[last]; ++x) {
      const std::int64_t count = outer * along.back()[static_cast<std::size_t>(x)];
      __builtin_memcpy(to + offset + x * counts.strides[last], &count, sizeof(count));
    }
  } while (advance(at, rows));
}

}  // namespace patchfold
