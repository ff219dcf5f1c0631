// SPDX-License-Identifier: Apache-2.0
#include "merges.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "executors.hpp"
#include "patchfold/tiling.hpp"

namespace patchfold::testing {
namespace {

/// The starts of the tiles along an axis, and the number of array elements in each tile, by the definition of the tails.
struct Axis {
  std::int64_t extent = 0, tile = 0, stride = 0;
  std::vector<std::int64_t> starts{}, reads{};
  bool is_padded = false;

  Axis(Random& random, Tail tail, bool large) {
    tile = random.between(1, large ? 48 : 9);
    stride = random.chance(10) ? tile + random.between(1, 3) : random.between(std::max<std::int64_t>(1, tile / 3), tile);
    extent = tail == Tail::shift ? tile + random.between(0, 4 * tile) : random.between(1, 5 * tile);
    if (tail == Tail::drop || tail == Tail::error) extent = std::max(extent, tile);
    if (tail == Tail::error) extent = tile + (extent - tile) / stride * stride;
    std::int64_t start = 0;
    for (; start + tile <= extent; start += stride) starts.push_back(start);
    const std::int64_t end = starts.empty() ? 0 : starts.back() + tile;
    if (end < extent && start < extent && tail == Tail::shift) starts.push_back(extent - tile);
    if (end < extent && start < extent && (tail == Tail::pad || tail == Tail::partial)) starts.push_back(start);
    for (const std::int64_t at : starts) reads.push_back(std::min(tile, extent - at));
    is_padded = tail == Tail::pad;
  }
  std::int64_t extent_of(std::size_t k) const { return is_padded ? tile : reads[k]; }
};

double weight_of(WeightWindow::Kind kind, std::int64_t i, std::int64_t n) {
  const double t = (static_cast<double>(i) + 0.5) / static_cast<double>(n);
  return kind == WeightWindow::Kind::linear ? 1 - std::abs(2 * t - 1) : 1;
}

/// The contributions of tiles to one element.
struct Given {
  double weighted = 0, weights = 0, size = 0, first = 0, last = 0;
  double least = std::numeric_limits<double>::infinity(), most = -least;
  void add(double weight, double value) {
    if (weights == 0) first = value;
    last = value;
    weighted += weight * value;
    size += std::abs(weight * value);
    weights += weight;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  double reduced(Reduce reduce) const {
    switch (reduce) {
      case Reduce::mean: return weighted / weights;
      case Reduce::sum: return weighted;
      case Reduce::max: return most;
      case Reduce::min: return least;
      case Reduce::first: return first;
      default: return last;
    }
  }
};

/// A sink that writes rows into an array of (channels, rows, width).
struct IntoArray : RowSink {
  IntoArray(std::byte* array, std::int64_t row_bytes, std::int64_t rows) : to(array), row_bytes(row_bytes), rows(rows) {}
  void write(Span span, const ConstTensorView& band) override {
    const std::int64_t bytes = span.size() * row_bytes;
    for (std::int64_t c = 0; c < band.shape[0]; ++c)
      std::memcpy(to + (c * rows + span.begin) * row_bytes, static_cast<const std::byte*>(band.data) + c * bytes,
                  static_cast<std::size_t>(bytes));
  }
  std::byte* to;
  std::int64_t row_bytes, rows;
};

template <class T>
std::optional<std::string> check_of_type(Random& random, std::int64_t& bytes) {
  const Tail tail = random.pick(std::vector{Tail::shift, Tail::pad, Tail::partial, Tail::drop, Tail::error});
  const bool large = random.chance(10);
  const Axis y(random, tail, large), x(random, tail, large);
  const std::int64_t channels = random.between(1, 3);
  TilingSpec cut_spec{.shape = {channels, y.extent, x.extent}, .tile = {y.tile, x.tile}, .stride = Dims{y.stride, x.stride}};
  cut_spec.tail = tail;
  cut_spec.value = 3;
  const Tiling tiling(cut_spec);
  const auto columns = static_cast<std::int64_t>(x.starts.size());
  MergeSpec spec{.dtype = *detail::dtype_of_type<T>(), .element_size = sizeof(T), .channels = {channels}};
  spec.reduce = random.pick(std::vector{Reduce::mean, Reduce::sum, Reduce::max, Reduce::min, Reduce::first, Reduce::last});
  const bool is_real = std::is_floating_point_v<T>;
  if (!is_real && spec.reduce == Reduce::mean) spec.reduce = Reduce::max;
  spec.window.kind = is_real && random.chance(50) ? WeightWindow::Kind::linear : WeightWindow::Kind::ones;
  spec.copy = random.chance(50);
  spec.fill = Scalar(7);
  const bool to_sink = random.chance(50);
  const auto says = [&](const std::string& what) {
    return tiling.to_json(false) + ", " + std::string(word_of(*spec.reduce)) + " of " + std::string(name_of(spec.dtype)) +
           ", window " + std::string(word_of(spec.window.kind)) + (spec.copy ? ", copied" : "") + (to_sink ? ", rows" : "") +
           ": " + what;
  };
  if (tiling.grid() != Dims{static_cast<std::int64_t>(y.starts.size()), columns})
    return says("the grid is " + to_string(tiling.grid()));

  const Dims shape = cut_spec.shape;
  std::vector<T> array(static_cast<std::size_t>(element_count(shape)));
  for (T& value : array) value = static_cast<T>(random.between(-1000, 1000));
  const auto at = [&](std::int64_t c, std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>((c * y.extent + i) * x.extent + j);
  };
  std::vector<Given> given(array.size());
  std::vector<std::vector<T>> results(static_cast<std::size_t>(tiling.size()));
  for (std::int64_t k = 0; k < tiling.size(); ++k) {
    const auto row = static_cast<std::size_t>(k / columns), column = static_cast<std::size_t>(k % columns);
    const std::int64_t rows = y.extent_of(row), width = x.extent_of(column);
    std::vector<T> tile(static_cast<std::size_t>(channels * rows * width), T(99));
    tiling.cut(k, view(std::as_const(array).data(), shape), view(tile.data(), {channels, rows, width}));
    auto& result = results[static_cast<std::size_t>(k)];
    result.resize(tile.size());
    std::size_t next = 0;
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < width; ++j, ++next) {
          const bool inside = i < y.reads[row] && j < x.reads[column];
          const std::size_t to = inside ? at(c, y.starts[row] + i, x.starts[column] + j) : 0;
          if (tile[next] != (inside ? array[to] : T(3))) return says("tile " + std::to_string(k) + " is cut wrongly");
          // Values differ between tiles, so that exchanged tiles are noticed, and are small, so that sums of integers are exact.
          result[next] = static_cast<T>(random.between(-1000, 1000) / (is_real ? 3.0 : 1.0));
          const double weight = weight_of(spec.window.kind, i, y.tile) * weight_of(spec.window.kind, j, x.tile);
          if (inside) given[to].add(weight, static_cast<double>(result[next]));
        }
    bytes += static_cast<std::int64_t>(2 * tile.size() * sizeof(T));
  }

  std::vector<std::int64_t> order(results.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i) - 1))]);
  PlainThreads plain(2);
  Executor& executor = random.chance(20) ? static_cast<Executor&>(plain) : default_executor();
  std::vector<T> merged(array.size());
  IntoArray rows(reinterpret_cast<std::byte*>(merged.data()), x.extent * static_cast<std::int64_t>(sizeof(T)), y.extent);
  Merger merger =
      to_sink ? Merger(tiling, spec, rows, executor) : Merger(tiling, spec, view(merged.data(), shape), executor);
  for (const std::int64_t k : order) {
    const Dims result_shape = tiling.result_shape(k, spec.channels);
    merger.add(k, view(std::as_const(results[static_cast<std::size_t>(k)]).data(), result_shape));
  }
  merger.finish();
  bytes += static_cast<std::int64_t>(merged.size() * sizeof(T));
  for (std::size_t i = 0; i < merged.size(); ++i) {
    const double expected = given[i].weights == 0 ? 7 : given[i].reduced(*spec.reduce);
    const bool is_exact = !is_real || given[i].weights == 0 || (spec.reduce != Reduce::mean && spec.reduce != Reduce::sum);
    const double size = spec.reduce == Reduce::mean ? given[i].size / given[i].weights : given[i].size;
    const double slack = is_exact ? 0 : 1e-12 * size + std::numeric_limits<T>::epsilon() * std::abs(expected);
    if (!(std::abs(static_cast<double>(merged[i]) - expected) <= slack))
      return says("element " + std::to_string(i) + " is " + std::to_string(merged[i]) + ", not " + std::to_string(expected));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> check_merge_once(Random& random, std::int64_t& bytes) {
  switch (random.between(0, 2)) {
    case 0: return check_of_type<float>(random, bytes);
    case 1: return check_of_type<double>(random, bytes);
    default: return check_of_type<std::int32_t>(random, bytes);
  }
}

}  // namespace patchfold::testing
