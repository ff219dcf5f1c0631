// SPDX-License-Identifier: Apache-2.0
// Random merges of whole outputs, and random boxes, which are parts of these outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "patchfold/tiling.hpp"
#include "random.hpp"

namespace patchfold::testing {

using Bytes = std::vector<std::byte>;

/// Calls f(index) for all indices of a box, row-major.
template <class F>
void each_index(const Dims& extents, F f) {
  if (element_count(extents) == 0) return;
  Dims at = Dims::filled(extents.size(), 0);
  while (true) {
    f(at);
    int axis = extents.size() - 1;
    for (; axis >= 0 && ++at[axis] == extents[axis]; --axis) at[axis] = 0;
    if (axis < 0) return;
  }
}

inline std::int64_t offset_of(const Dims& at, const Dims& strides) {
  std::int64_t offset = 0;
  for (int axis = 0; axis < at.size(); ++axis) offset += at[axis] * strides[axis];
  return offset;
}

/// Draws the reduction, window, output type and mask of a merge, and sets its channels. In some draws, the merge has the
/// fill 1.
inline void draw_merge(Random& random, const Tiling& tiling, MergeSpec& spec) {
  if (random.chance(90)) spec.reduce = static_cast<Reduce>(random.between(0, 12));
  if (random.chance(10) && tiling.axes()[0] != 0) spec.reduce = Reduce::argmax;
  spec.window.kind = static_cast<WeightWindow::Kind>(random.between(0, 9));
  const bool counts_alike = spec.reduce == Reduce::median || spec.reduce == Reduce::vote;  // weights must be 0 or 1
  if (counts_alike && has_formula(spec.window.kind)) spec.window.kind = WeightWindow::Kind::ones;
  const bool has_zeros = random.chance(30);
  const auto weights = [&](std::int64_t count) {
    std::vector<double> list(static_cast<std::size_t>(count));
    for (double& weight : list) {
      const std::int64_t number = random.between(has_zeros ? 0 : 1, 9);
      weight = counts_alike ? static_cast<double>(number > 2) : static_cast<double>(number) / 4;
    }
    return list;
  };
  if (spec.window.kind == WeightWindow::Kind::axes)
    for (const auto extent : tiling.result()) spec.window.axes.push_back(weights(extent));
  if (spec.window.kind == WeightWindow::Kind::array) spec.window.array = weights(element_count(tiling.result()));
  if (random.chance(20)) spec.output_dtype = random.chance(50) ? DType::float32 : DType::float64;
  if (spec.output_dtype && spec.reduce == Reduce::argmax) spec.output_dtype = DType::uint16;
  spec.channels = tiling.channels();
  if (random.chance(60)) spec.fill = Scalar(1);
  if (random.chance(30))
    for (std::int64_t i = 0; i < tiling.size(); ++i) spec.mask.push_back(static_cast<std::uint8_t>(random.chance(80)));
}

/// A merge of the whole output, with the results of its tiles.
struct Whole {
  Tiling tiling;
  MergeSpec spec;
  Dims axes{};                   ///< the tiled axes of a result
  std::vector<Bytes> results{};  ///< one contiguous array for each tile
  Dims shape{};                  ///< the shape of the output
  Dims output_axes{};            ///< the tiled axes of the output
  DType type = DType::float32;   ///< the element type of the output
  std::size_t output_size = 0;
  Bytes output{};
};

/// Returns a random merge, or nothing if the drawn tiling or merge is invalid.
std::optional<Whole> draw_whole(Random& random);
Box draw_box(Random& random, const Tiling& tiling);
std::string text_of(const Whole& whole, const Box& box);
/// Returns the number of elements of a box whose bits differ from those of the whole merge.
std::int64_t wrong_elements(Random& random, const Whole& whole, const BoxMerger& merger, const Box& box);

}  // namespace patchfold::testing
