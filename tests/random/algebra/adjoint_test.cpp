// SPDX-License-Identifier: Apache-2.0
// Tests that fold is the transpose of unfold, and that coverage is fold of unfold of ones.
#include <complex>

#include "support.hpp"

namespace patchfold::testing {
namespace {

/// Returns the inner product modulo 2^64, so it is exact.
std::uint64_t inner_product(const Tensor<std::int64_t>& a, const Tensor<std::int64_t>& b) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i)
    sum += static_cast<std::uint64_t>(a.values[i]) * static_cast<std::uint64_t>(b.values[i]);
  return sum;
}

Tensor<std::int64_t> coverage_of(const Geometry& g) {
  Tensor<std::int64_t> counts = filled(g.image, std::int64_t{-1});
  coverage({.output_size = g.image, .kernel_size = g.kernel, .stride = g.stride, .dilation = g.dilation, .padding = g.pads},
           view(counts.values.data(), counts.shape));
  return counts;
}

/// Returns the coverage at an element of an image, which is the same for all batches and channels.
std::int64_t count_at(const Tensor<std::int64_t>& counts, const Geometry& g, Layout layout, std::size_t element) {
  const auto pixels = counts.values.size();
  const auto channels = static_cast<std::size_t>(g.channels);
  return counts.values[layout == Layout::channels_last ? element / channels % pixels : element % pixels];
}

RC_GTEST_PROP(Algebra, FoldIsTheTransposeOfUnfold, ()) {
  const Geometry g = random_geometry({});
  const Pair pair = random_pair(g);
  const auto x = arbitrary<std::int64_t>(pair.image);
  const auto y = arbitrary<std::int64_t>(pair.unfold.output_shape(pair.image));
  RC_ASSERT(inner_product(apply(pair.unfold, x), y) == inner_product(x, apply(pair.fold, y)));
}

RC_GTEST_PROP(Algebra, FoldOfUnfoldOfOnesIsCoverage, ()) {
  const Geometry g = random_geometry({});
  const Pair pair = random_pair(g);
  const auto counts = coverage_of(g);
  const auto folded = apply(pair.fold, apply(pair.unfold, filled(pair.image, std::int64_t{1})));
  for (std::size_t i = 0; i < folded.values.size(); ++i)
    RC_ASSERT(folded.values[i] == count_at(counts, g, pair.unfold.layout, i));
}

RC_GTEST_PROP(Algebra, FoldOfUnfoldMultipliesByCoverage, ()) {
  const Geometry g = random_geometry({});
  const Pair pair = random_pair(g);
  const auto counts = coverage_of(g);
  const auto x = arbitrary<std::int64_t>(pair.image);
  const auto folded = apply(pair.fold, apply(pair.unfold, x));
  for (std::size_t i = 0; i < folded.values.size(); ++i) {
    const auto count = static_cast<std::uint64_t>(count_at(counts, g, pair.unfold.layout, i));
    RC_ASSERT(static_cast<std::uint64_t>(folded.values[i]) == count * static_cast<std::uint64_t>(x.values[i]));
  }
}

RC_GTEST_PROP(Algebra, CoverageIsFoldOfOnes, ()) {
  const Geometry g = random_geometry({});
  const Fold fold{
      .output_size = g.image, .kernel_size = g.kernel, .stride = g.stride, .dilation = g.dilation, .padding = g.pads};
  const auto ones = filled<std::int64_t>({element_count(g.kernel), g.all_positions()}, 1);
  RC_ASSERT(apply(fold, ones).values == coverage_of(g).values);
}

template <class T>
void accumulate_adds() {
  const Geometry g = random_geometry({});
  Pair pair = random_pair(g);
  const auto y = arbitrary<T>(pair.unfold.output_shape(pair.image));
  const auto held = arbitrary<T>(pair.image);
  Tensor<T> expected = apply(pair.fold, y);
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    if constexpr (std::is_integral_v<T>) {
      expected.values[i] =
          static_cast<T>(static_cast<std::uint64_t>(expected.values[i]) + static_cast<std::uint64_t>(held.values[i]));
    } else {
      expected.values[i] = held.values[i] + expected.values[i];
    }
  }
  pair.fold.accumulate = true;
  RC_ASSERT(apply(pair.fold, y, &held) == expected);
}

RC_GTEST_PROP(Algebra, AccumulateAddsFoldToTheOutputInInt64, ()) {
  accumulate_adds<std::int64_t>();
}
RC_GTEST_PROP(Algebra, AccumulateAddsFoldToTheOutputInUint8, ()) {
  accumulate_adds<std::uint8_t>();
}
RC_GTEST_PROP(Algebra, AccumulateAddsFoldToTheOutputInFloat32, ()) {
  accumulate_adds<float>();
}
RC_GTEST_PROP(Algebra, AccumulateAddsFoldToTheOutputInFloat64, ()) {
  accumulate_adds<double>();
}

}  // namespace
}  // namespace patchfold::testing
