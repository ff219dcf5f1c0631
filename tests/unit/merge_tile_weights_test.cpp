// SPDX-License-Identifier: Apache-2.0
// Compares merges of tiles that have weights of their own with the definition. Tests the reduction of a merge whose spec
// names none.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "merge_support.hpp"

namespace patchfold {
namespace {

/// Tiles of random values with random weights, and the expected merge.
class Weighed {
 public:
  /// The weights of tiles: random weights, some of them 0; weights above 0 for every element; or no weights.
  enum class Own { some_zero, above_zero, none };

  Weighed(const TilingSpec& spec, const Dims& channels, MergeSpec merge, std::uint32_t seed, Own given = Own::some_zero)
      : tiling(spec), merge_(std::move(merge)), random_(seed), own_(given) {
    merge_.channels = channels;
    if (merge_.window.kind == WeightWindow::Kind::array)
      merge_.window.array = numbers<double>(element_count(tiling.result()), 0.01, 9);
    const Dims shape = tiling.output_shape(channels);
    sums_.resize(static_cast<std::size_t>(element_count(shape)));
    sizes_ = weights_ = sums_;
    for (const Tile tile : tiling) {
      const Dims extents = tiling.result_shape(tile.index, channels);
      values.push_back(numbers<float>(element_count(extents), -10, 10));
      Dims own = extents;
      for (int axis = 0; axis < own.size(); ++axis)
        if (own_ == Own::some_zero && random_() % 3 == 0) own[axis] = 1;  // one weight for the whole axis
      shapes.push_back(own);
      weights.push_back(numbers<double>(element_count(own), 0.01, 9));
      for (double& weight : weights.back()) {
        if (own_ == Own::some_zero && random_() % 5 == 0) weight = 0;
        if (own_ == Own::none) weight = 1;
      }
      count(tile, extents);
    }
  }

  std::vector<float> merged(bool copy, bool to_sink, bool backwards) {
    MergeSpec spec = merge_;
    spec.copy = copy;
    spec.fill = -99;
    const Dims shape = tiling.output_shape(spec.channels);
    std::vector<float> output(sums_.size());
    const auto extent = static_cast<std::size_t>(shape[0]);
    Rows rows(output.size() / extent * sizeof(float));
    Merger merger = to_sink ? Merger(tiling, spec, rows) : Merger(tiling, spec, view(output.data(), shape));
    for (std::int64_t i = 0; i < tiling.size(); ++i) {
      const auto k = static_cast<std::size_t>(backwards ? tiling.size() - 1 - i : i);
      const auto index = static_cast<std::int64_t>(k);
      TileWeights own;
      if (own_ != Own::none) own.array = view(std::as_const(weights[k]).data(), shapes[k]);
      merger.add(index, view(std::as_const(values[k]).data(), tiling.result_shape(index, spec.channels)), own);
    }
    merger.finish();
    EXPECT_EQ(merger.waiting_bytes(), 0);
    if (to_sink) std::memcpy(output.data(), rows.bytes.data(), rows.bytes.size());
    return output;
  }

  void expect(const std::vector<float>& output) const {
    for (std::size_t at = 0; at < output.size(); ++at) {
      if (weights_[at] == 0) {
        ASSERT_EQ(output[at], -99.0F) << at;
        continue;
      }
      const double divisor = *merge_.reduce == Reduce::mean ? weights_[at] : 1;
      ASSERT_NEAR(output[at], sums_[at] / divisor, 1e-6 * sizes_[at] / divisor) << at;
    }
  }

  Tiling tiling;
  std::vector<std::vector<float>> values{};
  std::vector<std::vector<double>> weights{};
  std::vector<Dims> shapes{};

 private:
  template <class T>
  std::vector<T> numbers(std::int64_t count, T low, T high) {
    std::vector<T> list(static_cast<std::size_t>(count));
    for (T& value : list) value = std::uniform_real_distribution<T>(low, high)(random_);
    return list;
  }

  /// Adds a tile's contribution to each element of the expected merge, by the definition.
  void count(const Tile& tile, const Dims& extents) {
    const Dims axes = tiling.axes_in(extents.size());
    const Dims shape = tiling.output_shape(merge_.channels);
    const Dims& own = shapes.back();
    const bool is_array = merge_.window.kind == WeightWindow::Kind::array;
    std::vector<std::vector<double>> window;
    for (int i = 0; i < axes.size() && !is_array; ++i) window.push_back(sample(merge_.window, tiling.result()[i]));
    for (std::int64_t element = 0; element < element_count(extents); ++element) {
      std::int64_t rest = element, to = 0, from = 0, step = 1, own_step = 1;
      double weight = 1;
      std::int64_t inside = 0, inside_step = 1;
      for (int axis = extents.size() - 1; axis >= 0; --axis) {
        const std::int64_t at = rest % extents[axis];
        rest /= extents[axis];
        std::int64_t place = at;
        for (int i = 0; i < axes.size(); ++i)
          if (axes[i] == axis) {
            place += tile.spans[static_cast<std::size_t>(i)].start;
            if (!is_array) weight *= window[static_cast<std::size_t>(i)][static_cast<std::size_t>(at)];
            inside += at * inside_step;
            inside_step *= tiling.result()[i];
          }
        to += place * step;
        step *= shape[axis];
        from += (own[axis] == 1 ? 0 : at) * own_step;
        own_step *= own[axis];
      }
      if (is_array) weight = merge_.window.array[static_cast<std::size_t>(inside)];
      weight *= weights.back()[static_cast<std::size_t>(from)];
      const double value = values.back()[static_cast<std::size_t>(element)];
      sums_[static_cast<std::size_t>(to)] += weight * value;
      sizes_[static_cast<std::size_t>(to)] += weight * std::abs(value);
      weights_[static_cast<std::size_t>(to)] += weight;
    }
  }

  MergeSpec merge_;
  std::mt19937 random_;
  Own own_;
  std::vector<double> sums_{}, sizes_{}, weights_{};
};

TEST(TileWeights, MultiplyThoseOfTheWindow) {
  const struct {
    TilingSpec tiling;
    Dims channels;
  } cases[] = {{{.shape = {40}, .tile = {9}, .overlap = 5, .tail = Tail::partial}, {}},
               {{.shape = {2, 3, 21, 30}, .tile = {8, 10}, .stride = {3, 6}}, {2, 3}},
               {{.shape = {21, 30, 3}, .tile = {8, 10}, .stride = {3, 6}, .axes = {0, 1}}, {3}},
               {{.shape = {2, 21, 4, 30}, .tile = {8, 10}, .stride = {5, 9}, .axes = {1, 3}}, {2, 4}},
               {{.shape = {9, 10, 11}, .tile = {4, 5, 6}, .overlap = 2}, {}},
               {{.shape = {40, 900}, .tile = {10, 300}, .overlap = 5}, {}}};
  using Kind = WeightWindow::Kind;
  using Own = Weighed::Own;
  const std::pair<Kind, Own> windows[] = {{Kind::ones, Own::some_zero},  {Kind::hann, Own::some_zero},
                                          {Kind::array, Own::some_zero}, {Kind::ones, Own::above_zero},
                                          {Kind::hann, Own::above_zero}, {Kind::array, Own::none},
                                          {Kind::linear, Own::none},     {Kind::cosine, Own::none},
                                          {Kind::gaussian, Own::none}};
  std::uint32_t seed = 1;
  for (const auto& [tiling, channels] : cases)
    for (const Reduce reduce : {Reduce::mean, Reduce::sum})
      for (const auto& [kind, own] : windows) {
        SCOPED_TRACE(to_string(tiling.shape) + " " + std::string(word_of(reduce)) + " " + std::string(word_of(kind)));
        Weighed merge(tiling, channels, {.reduce = reduce, .window = {.kind = kind}}, seed++, own);
        const std::vector<float> output = merge.merged(false, false, false);
        merge.expect(output);
        for (const bool copy : {false, true})
          for (const bool backwards : {false, true}) {
            EXPECT_EQ(merge.merged(copy, false, backwards), output);
            if (merge.tiling.stream_axis() == 0) {
              EXPECT_EQ(merge.merged(copy, true, backwards), output);
            }
          }
      }
}

/// A merge of two tiles of four elements that overlap by two.
struct Two {
  explicit Two(MergeSpec spec = {}) : merger(tiling, spec, view(output.data(), {6})) {}
  void add(std::int64_t index, const TileWeights& weights) {
    merger.add(index, view(std::as_const(index == 0 ? left : right).data(), {4}), weights);
  }
  const Tiling tiling{TilingSpec{.shape = {6}, .tile = {4}, .stride = 2}};
  std::vector<float> left = {1, 2, 3, 4}, right = {30, 40, 50, 60}, output = std::vector<float>(6);
  Merger merger;
};

MergeSpec spec_of(Reduce reduce) {
  return {.reduce = reduce, .window = {.kind = WeightWindow::Kind::ones}};
}

TEST(TileWeights, ANumberHoldsForTheWholeTile) {
  Two mean(spec_of(Reduce::mean));
  mean.add(1, {.number = 1});
  mean.add(0, {.number = 3});
  mean.merger.finish();
  EXPECT_EQ(mean.output, (std::vector<float>{1, 2, (3 * 3 + 30) / 4.0F, (3 * 4 + 40) / 4.0F, 50, 60}));
  Two sum(spec_of(Reduce::sum));
  sum.add(0, {.number = 0.5});
  sum.add(1, {.number = 2});
  sum.merger.finish();
  EXPECT_EQ(sum.output, (std::vector<float>{0.5, 1, 61.5, 82, 100, 120}));
}

TEST(TileWeights, ZeroLeavesElementsOut) {
  const std::vector<double> third = {1, 1, 0, 1}, first_only = {0, 1, 1, 1};
  const ConstTensorView own = view(third.data(), {4});
  for (const Reduce reduce : {Reduce::mean, Reduce::sum, Reduce::max, Reduce::min}) {
    Two two(spec_of(reduce));
    two.left[2] = std::numeric_limits<float>::quiet_NaN();
    two.add(0, {.array = own});
    two.add(1, {});
    two.merger.finish();
    EXPECT_EQ(two.output[2], 30) << word_of(reduce);
  }
  // The last tile is refused if it leaves an element without a value. The tile may then be added again with other weights.
  for (const bool is_left_last : {false, true}) {
    Two two(spec_of(Reduce::mean));
    const std::int64_t last = is_left_last ? 0 : 1;
    two.add(1 - last, {.array = is_left_last ? view(first_only.data(), {4}) : own});
    EXPECT_EQ(error_of([&] { two.add(last, is_left_last ? TileWeights{.array = own} : TileWeights{.number = 0}); }),
              "merge: weight: must be above 0 in at least one tile of each element unless a fill is given; given 0 in all "
              "tiles of element [2]");
    two.add(last, {.number = 0.5});
    two.merger.finish();
    EXPECT_EQ(two.output[2], is_left_last ? 3 : 30);
  }
  MergeSpec filled = spec_of(Reduce::mean);
  filled.fill = -1;
  Two two(filled);
  two.add(0, {.array = own});
  two.add(1, {.number = 0});
  two.merger.finish();
  EXPECT_EQ(two.output, (std::vector<float>{1, 2, -1, 4, -1, -1}));
}

TEST(TileWeights, ThatCannotBeUsedAreRefused) {
  const std::vector<double> five(5, 1.0), wrong = {1, -2, 1, 1};
  const std::vector<float> rough(4, 1.0F);
  const struct {
    Reduce reduce;
    TileWeights weights;
    const char* message;
  } cases[] = {
      {Reduce::mean, {.number = -1}, "must be finite and at least 0; given -1"},
      {Reduce::mean, {.number = std::nan("")}, "must be finite and at least 0; given nan"},
      {Reduce::max, {.number = std::numeric_limits<double>::infinity()}, "must be finite and at least 0; given inf"},
      {Reduce::sum, {.array = view(wrong.data(), {4})}, "must be finite and at least 0; given -2"},
      {Reduce::mean,
       {.array = view(five.data(), {5})},
       "must broadcast to the shape of the tile's result; given [5], expected [4]"},
      {Reduce::mean,
       {.array = view(five.data(), {1, 4})},
       "must broadcast to the shape of the tile's result; given [1, 4], expected [4]"},
      {Reduce::mean, {.array = view(rough.data(), {4})}, "must be float64; given float32"},
      {Reduce::mean,
       {.number = 0x1p400},
       "must have products with the window that float64 can hold; given 2.5822498780869086e+120, expected 0, or about 5e-91 "
       "to 2e90"},
      {Reduce::center,
       {.number = 2},
       "must not be given where one tile gives each element; given center, expected the reduction mean or sum, or a mask "
       "that leaves out whole tiles"},
      {Reduce::first,
       {.number = 0},
       "must not be given where one tile gives each element; given first, expected the reduction mean or sum, or a mask "
       "that leaves out whole tiles"}};
  for (const auto& [reduce, weights, message] : cases) {
    Two two(spec_of(reduce));
    EXPECT_EQ(error_of([&, &weights = weights] { two.add(1, weights); }),
              std::string("merge: weight of tile 1 at position [1]: ") + message);
    two.add(0, {});
    two.add(1, {});  // the refused call has changed nothing
    two.merger.finish();
  }
}

TEST(TileWeights, Of64BitIntegersAre0Or1) {
  const Tiling tiling(TilingSpec{.shape = {6}, .tile = {4}, .stride = 2});
  MergeSpec spec = spec_of(Reduce::mean);
  spec.dtype = DType::int64;
  spec.element_size = 8;
  const std::vector<std::int64_t> left = {1, 2, 3, 4}, right = {30, 40, (std::int64_t{1} << 62) + 1, 60};
  std::vector<std::int64_t> output(6);
  Merger merger(tiling, spec, view(output.data(), {6}));
  EXPECT_EQ(error_of([&] { merger.add(0, view(left.data(), {4}), {.number = 0.5}); }),
            "merge: weight of tile 0 at position [0]: must be 0 or 1 for 64-bit integers, which float64 does not hold; "
            "given 0.5, expected 0, 1, or tiles of another type");
  const std::vector<double> own = {1, 1, 0, 1};
  merger.add(0, view(left.data(), {4}), {.array = view(own.data(), {4})});
  merger.add(1, view(right.data(), {4}));
  merger.finish();
  EXPECT_EQ(output, (std::vector<std::int64_t>{1, 2, 30, 22, (std::int64_t{1} << 62) + 1, 60}));
}

TEST(TileWeights, CountWhileTheirTileWaits) {
  MergeSpec spec = spec_of(Reduce::mean);
  const std::vector<double> own = {1, 2, 3, 4};
  const TileWeights weights{.array = view(own.data(), {4})};
  for (const bool copy : {false, true}) {
    spec.copy = copy;
    spec.memory_limit.reset();
    Two two(spec);
    two.add(0, {.number = 3});
    const std::int64_t plain = two.merger.waiting_bytes();
    Two with(spec);
    with.add(0, weights);
    EXPECT_EQ(with.merger.waiting_bytes(), plain + 32);
    with.add(1, weights);
    EXPECT_EQ(with.merger.waiting_bytes(), 0);
    EXPECT_EQ(with.merger.peak_bytes(), plain + 32);
    spec.memory_limit = plain + 31;
    Two tight(spec);
    EXPECT_EQ(error_of([&] { tight.add(0, weights); }),
              "merge: tile 0 at position [0]: has weights for which memory_limit leaves no room; given " +
                  std::to_string(plain + 31) + " bytes, expected a number as weight, or " + std::to_string(plain + 32) +
                  " bytes");
    tight.add(0, {.number = 2});
    tight.add(1, weights);  // the last tile never waits, so its weights need no memory
    tight.merger.finish();
  }
}

TEST(MergeDefaults, IntegersAreNotBlendedUnlessThatIsAsked) {
  const auto of = [](DType dtype) { return MergeSpec{.dtype = dtype, .element_size = size_of(dtype)}; };
  for (const DType dtype : {DType::boolean, DType::uint8, DType::int16, DType::uint32, DType::int64}) {
    MergeSpec spec = of(dtype);
    EXPECT_EQ(reduction_of(spec), Reduce::center) << name_of(dtype);
    spec.window.kind = WeightWindow::Kind::hann;
    EXPECT_EQ(reduction_of(spec), Reduce::mean);
    spec = of(dtype);
    spec.output_dtype = DType::float32;
    EXPECT_EQ(reduction_of(spec), Reduce::mean);
    spec.output_dtype = dtype;
    EXPECT_EQ(reduction_of(spec), Reduce::center);
    spec.reduce = Reduce::sum;
    EXPECT_EQ(reduction_of(spec), Reduce::sum);
  }
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::complex64, DType::opaque})
    EXPECT_EQ(reduction_of(of(dtype)), Reduce::mean) << name_of(dtype);
}

TEST(MergeDefaults, SumsHaveNoWindow) {
  Two two({.reduce = Reduce::sum});
  two.add(0, {});
  two.add(1, {});
  two.merger.finish();
  EXPECT_EQ(two.output, (std::vector<float>{1, 2, 33, 44, 50, 60}));
}

TEST(MergeRows, WeightsEndWithTheTiledAxis) {
  // Since the tile is as long as the axis, each channel follows the one before it without a gap, in the output and in the
  // tile.
  const Tiling tiling(TilingSpec{.shape = {3, 50}, .tile = {50}});
  std::vector<float> tile(150);
  std::iota(tile.begin(), tile.end(), 1.0F);
  std::vector<double> output(150);
  Merger merger(tiling, {.output_dtype = DType::float64, .channels = {3}}, view(output.data(), {3, 50}));
  merger.add(0, view(std::as_const(tile).data(), {3, 50}));
  merger.finish();
  EXPECT_EQ(output, std::vector<double>(tile.begin(), tile.end()));
}

}  // namespace
}  // namespace patchfold
