// SPDX-License-Identifier: Apache-2.0
// The weights by which one axis of a picture is resized.
#pragma once

#include <cstdint>
#include <vector>

#include "patchfold/pictures.hpp"

namespace patchfold::pictures {

/// One axis of a resize: `to` pixels are made from [begin, end) of `from` pixels.
struct ResizedAxis {
  std::int64_t from = 0;
  std::int64_t to = 0;
  float begin = 0;
  float end = 0;
  /// Returns whether all pixels stay where they are.
  bool keeps() const noexcept { return from == to && begin == 0 && end == static_cast<float>(to); }
};

/// The pixels that make one pixel of the result: source pixels [first, first + count), with the weights at `weights`.
struct Taps {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::size_t weights = 0;
};

/// The weights of an axis, in fixed point with `bits` bits behind the point.
struct AxisOfWeights {
  std::vector<Taps> taps{};
  std::vector<std::int32_t> weights{};
  int bits = 0;
};

/// Returns the weights of an axis. Pixel i of the result lies at begin + (i + 1/2) * ratio in the source, where ratio =
/// (end - begin) / to. It takes the source pixels whose middles lie within the filter's support of this place. The support
/// and the filter are stretched by the ratio where the axis shrinks, and the weights of a pixel are divided by their sum.
AxisOfWeights weights_of(const ResizedAxis& axis, Filter filter, FixedPoint fixed_point);

}  // namespace patchfold::pictures
