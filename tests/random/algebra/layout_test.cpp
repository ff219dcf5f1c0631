// SPDX-License-Identifier: Apache-2.0
// Tests that layouts and negative pads only change strides.
#include "support.hpp"

namespace patchfold::testing {
namespace {

/// Returns a view of the memory with its channel axis moved from the last place to `place`.
template <class View>
View channels_moved(const View& last, int place) {
  View moved = last;
  moved.shape = last.shape.slice(0, place);
  moved.strides = last.strides.slice(0, place);
  moved.shape.push_back(last.shape.back());
  moved.strides.push_back(last.strides.back());
  moved.shape.append(last.shape.slice(place, last.shape.size() - 1));
  moved.strides.append(last.strides.slice(place, last.shape.size() - 1));
  return moved;
}

RC_GTEST_PROP(Algebra, ChannelsLastIsAnotherViewOfTheSameMemory, ()) {
  const Geometry g = random_geometry({});
  Pair pair = random_pair(g);
  pair.unfold.layout = pair.fold.layout = Layout::channels_last;
  const auto x = arbitrary<std::int32_t>(g.channels_last());
  const auto columns = apply(pair.unfold, x);
  const auto image = apply(pair.fold, columns);

  pair.unfold.layout = pair.fold.layout = Layout::channels_first;
  Tensor<std::int32_t> same_columns = filled(columns.shape, 0);
  Tensor<std::int32_t> same_image = filled(x.shape, 0);
  const auto columns_view = channels_moved(view(same_columns.values.data(), columns.shape), 1);
  run(pair.unfold, channels_moved(view(x.values.data(), x.shape), 1), columns_view);
  run(pair.fold, columns_view, channels_moved(view(same_image.values.data(), x.shape), 1));
  RC_ASSERT(same_columns == columns);
  RC_ASSERT(same_image == image);
}

RC_GTEST_PROP(Algebra, NegativePadsAreAViewOfTheMiddle, ()) {
  Geometry g = random_geometry({.lowest_extent = 4, .lowest_pad = -2});
  const Pair pair = random_pair(g);
  RC_PRE(pair.unfold.layout == Layout::channels_first);
  const auto x = arbitrary<std::int32_t>(pair.image);
  auto middle = view(x.values.data(), x.shape);
  Unfold inner = pair.unfold;
  PadsList rest;
  std::int64_t offset = 0;
  for (int d = 0; d < g.rank; ++d) {
    const auto begin = std::min<std::int64_t>(g.pads[d].begin, 0);
    const auto end = std::min<std::int64_t>(g.pads[d].end, 0);
    middle.shape[2 + d] += begin + end;
    offset -= begin * middle.strides[2 + d];
    rest.push_back({g.pads[d].begin - begin, g.pads[d].end - end});
  }
  middle.data = static_cast<const std::byte*>(middle.data) + offset;
  inner.padding = rest;
  const auto columns = apply(pair.unfold, x);
  Tensor<std::int32_t> same = filled(columns.shape, 0);
  run(inner, middle, view(same.values.data(), same.shape));
  RC_ASSERT(same == columns);
}

RC_GTEST_PROP(Algebra, AMirroredImageGivesMirroredPatches, ()) {
  // Unfold of a view with negative strides along every spatial axis, with exchanged pads, gives patches and taps in reverse order,
  // if the stride divides the slack.
  Geometry g = random_geometry({.lowest_extent = 1, .lowest_pad = 0});
  g.stride = Dims::filled(g.rank, 1);
  const auto x = arbitrary<std::int32_t>(g.channels_first());
  const Unfold unfold{.kernel_size = g.kernel, .dilation = g.dilation, .padding = g.pads, .allow_empty = true};
  const auto columns = apply(unfold, x);
  auto mirror = view(x.values.data(), x.shape);
  PadsList exchanged;
  std::int64_t offset = 0;
  for (int d = 0; d < g.rank; ++d) {
    offset += (g.image[d] - 1) * mirror.strides[2 + d];
    mirror.strides[2 + d] *= -1;
    exchanged.push_back({g.pads[d].end, g.pads[d].begin});
  }
  mirror.data = static_cast<const std::byte*>(mirror.data) + offset;
  const Unfold other{.kernel_size = g.kernel, .dilation = g.dilation, .padding = exchanged, .allow_empty = true};
  Tensor<std::int32_t> mirrored = filled(columns.shape, 0);
  run(other, mirror, view(mirrored.values.data(), mirrored.shape));
  const auto taps = static_cast<std::size_t>(element_count(g.kernel));
  const auto positions = static_cast<std::size_t>(g.all_positions());
  for (std::size_t i = 0; i < columns.values.size(); ++i) {
    const std::size_t position = i % positions;
    const std::size_t tap = i / positions % taps;
    const std::size_t channel = i / positions / taps;
    RC_ASSERT(columns.values[i] ==
              mirrored.values[(channel * taps + taps - 1 - tap) * positions + positions - 1 - position]);
  }
}

}  // namespace
}  // namespace patchfold::testing
