// SPDX-License-Identifier: Apache-2.0
#include "tiling/axis_weights.hpp"

#include "engine/floats.hpp"

namespace patchfold::tiling {

const AxisWeights::List& AxisWeights::of(int axis, std::int64_t number, std::int64_t repeat) {
  const Segment& segment = rules_.cells.segment(axis, number);
  const std::int64_t begin = segment.span.begin;
  const Key key{axis,
                segment.span.size(),
                segment.tiles.size(),
                begin - rules_.cells.start(axis, segment.tiles.begin),
                begin - rules_.cells.start(axis, segment.tiles.end - 1),
                repeat};
  const auto found = lists_.find(key);
  return found != lists_.end() ? found->second : lists_.emplace(key, made(axis, segment, repeat)).first->second;
}

const AxisWeights::List& AxisWeights::ones(std::int64_t count) {
  const Key key{-1, count, 0, 0, 0, 0};
  const auto found = lists_.find(key);
  if (found != lists_.end()) return found->second;
  return lists_.emplace(key, with_rough(std::vector<double>(static_cast<std::size_t>(count), 1.0))).first->second;
}

AxisWeights::List AxisWeights::made(int axis, const Segment& segment, std::int64_t repeat) const {
  const engine::DefaultFloats floats;
  const auto extent = static_cast<std::size_t>(segment.span.size());
  const auto tiles = static_cast<std::size_t>(segment.tiles.size());
  std::vector<double> weights(tiles * extent);
  std::vector<double> sums(extent);
  for (std::size_t k = 0; k < tiles; ++k) {
    const std::int64_t start = rules_.cells.start(axis, segment.tiles.begin + static_cast<std::int64_t>(k));
    const double* of_tile = rules_.weights.axis(axis).data() + (segment.span.begin - start);
    for (std::size_t y = 0; y < extent; ++y) sums[y] += weights[k * extent + y] = of_tile[y];
  }
  // If the weights along each axis add up to 1, their products, summed over all combinations of tiles, add up to 1 too.
  if (rules_.reduce == Reduce::mean)
    for (std::size_t k = 0; k < tiles; ++k)
      for (std::size_t y = 0; y < extent; ++y) weights[k * extent + y] /= sums[y];
  if (repeat > 1) {
    std::vector<double> repeated;
    repeated.reserve(weights.size() * static_cast<std::size_t>(repeat));
    for (const double weight : weights) repeated.insert(repeated.end(), static_cast<std::size_t>(repeat), weight);
    weights = std::move(repeated);
  }
  return with_rough(std::move(weights));
}

AxisWeights::List AxisWeights::with_rough(std::vector<double> weights) const {
  List list{std::move(weights)};
  if (rules_.has_rough_weights) list.rough.assign(list.weights.begin(), list.weights.end());
  return list;
}

}  // namespace patchfold::tiling
