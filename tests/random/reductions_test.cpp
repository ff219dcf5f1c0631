// SPDX-License-Identifier: Apache-2.0
// Compares random merges with the definitions of their reductions, element by element.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <type_traits>

#include "boxes.hpp"

namespace patchfold::testing {
namespace {

/// The number of merges in a run without PATCHFOLD_CASES.
constexpr int merges_of_a_day = 400;

template <class T>
bool is_nan(T value) {
  return value != value;
}

/// Returns the merge of values of tiles, in ascending order of the tiles; there is at least one.
template <class T>
T reduced(Reduce reduce, std::vector<T> values) {
  const auto nan = std::find_if(values.begin(), values.end(), is_nan<T>);
  if (reduce == Reduce::median && nan != values.end()) return *nan;
  std::vector<T> numbers;
  std::copy_if(values.begin(), values.end(), std::back_inserter(numbers), [](T value) { return !is_nan(value); });
  if (numbers.empty()) return std::numeric_limits<T>::quiet_NaN();
  if (reduce == Reduce::nanmax) return *std::max_element(numbers.begin(), numbers.end());
  if (reduce == Reduce::nanmin) return *std::min_element(numbers.begin(), numbers.end());
  std::sort(numbers.begin(), numbers.end());
  if (reduce == Reduce::median) {
    const T low = numbers[(numbers.size() - 1) / 2], high = numbers[numbers.size() / 2];
    if constexpr (std::is_floating_point_v<T>) return std::midpoint(low, high);
    return static_cast<T>(std::nearbyint((static_cast<long double>(low) + static_cast<long double>(high)) / 2));
  }
  std::map<T, int> votes;
  for (const T value : numbers) ++votes[value];
  return std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
}

/// Returns the weights of the window along each tiled axis; of a window that is an array, ones.
std::vector<std::vector<double>> weights_along(const Whole& whole) {
  const WeightWindow& window = whole.spec.window;
  if (window.kind == WeightWindow::Kind::axes) return window.axes;
  std::vector<std::vector<double>> lists;
  for (const std::int64_t extent : whole.tiling.result()) {
    const bool is_array = window.kind == WeightWindow::Kind::array;
    lists.push_back(is_array ? std::vector<double>(static_cast<std::size_t>(extent), 1.0) : sample(window, extent));
  }
  return lists;
}

/// Returns the values of the tiles that give an element of the output, whose index has the axes of a result, and adds their
/// weights to `weights`. `lists` are those of weights_along().
template <class T>
std::vector<T> values_at(const Whole& whole, const std::vector<std::vector<double>>& lists, const Dims& at,
                         std::vector<double>& weights) {
  std::vector<T> values;
  for (std::int64_t index = 0; index < whole.tiling.size(); ++index) {
    if (!whole.spec.mask.empty() && whole.spec.mask[static_cast<std::size_t>(index)] == 0) continue;
    const Tile tile = whole.tiling[index];
    Dims inside = at;
    bool covers = true;
    double weight = 1;
    std::int64_t place = 0;
    for (int i = 0; i < whole.axes.size(); ++i) {
      const TileSpan& span = tile.spans[static_cast<std::size_t>(i)];
      const std::int64_t y = at[static_cast<int>(whole.axes[i])] - span.start;
      covers = covers && y >= 0 && y < span.result;
      inside[static_cast<int>(whole.axes[i])] = y;
      if (covers) weight *= lists[static_cast<std::size_t>(i)][static_cast<std::size_t>(y)];
      place = place * whole.tiling.result()[i] + y;
    }
    if (covers && whole.spec.window.kind == WeightWindow::Kind::array)
      weight = whole.spec.window.array[static_cast<std::size_t>(place)];
    if (!covers || !(weight > 0)) continue;
    const Dims shape = whole.tiling.result_shape(index, whole.spec.channels);
    T value;
    std::memcpy(&value,
                whole.results[static_cast<std::size_t>(index)].data() + offset_of(inside, contiguous_strides(shape, sizeof(T))),
                sizeof(T));
    values.push_back(value);
    weights.push_back(weight);
  }
  return values;
}

/// Returns whether a mean lies within the bound that class Merger gives, and a rounding of T, from its definition.
template <class T>
bool is_mean(T given, const std::vector<T>& values, const std::vector<double>& weights) {
  long double sum = 0, size = 0, all = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const long double product = static_cast<long double>(weights[i]) * static_cast<long double>(values[i]);
    sum += product;
    size += std::abs(product);
    all += weights[i];
  }
  if (!(size / all < std::numeric_limits<T>::max() / 2)) return true;  // NaN, infinite, or too large for the bound
  const auto count = static_cast<long double>(values.size());
  const long double bound = (2 * count + 3) * 0x1p-53L * (size / all) + count * 0x1p-1074L;  // products may be subnormal
  const long double rounding =
      std::abs(sum / all) * std::numeric_limits<T>::epsilon() + std::numeric_limits<T>::denorm_min();
  return std::abs(given - sum / all) <= bound + rounding;
}

/// Returns the number of wrong elements of a merge.
template <class T>
std::int64_t wrong_values(const Whole& whole) {
  const Dims strides = contiguous_strides(whole.shape, sizeof(T));
  const std::vector<std::vector<double>> lists = weights_along(whole);
  std::int64_t wrong = 0;
  each_index(whole.shape, [&](const Dims& at) {
    std::vector<double> weights;
    const std::vector<T> values = values_at<T>(whole, lists, at, weights);
    T expected = static_cast<T>(1);  // the fill
    const bool has_numbers = std::any_of(values.begin(), values.end(), [](T value) { return !is_nan(value); });
    const bool skips_nans = *whole.spec.reduce == Reduce::nanmax || *whole.spec.reduce == Reduce::nanmin;
    T given;
    std::memcpy(&given, whole.output.data() + offset_of(at, strides), sizeof(T));
    if (*whole.spec.reduce == Reduce::mean && !values.empty()) {
      wrong += !is_mean(given, values, weights);
      return;
    }
    if (!values.empty() && (has_numbers || !skips_nans || !whole.spec.fill)) expected = reduced(*whole.spec.reduce, values);
    wrong += !(given == expected || (is_nan(given) && is_nan(expected)));
  });
  return wrong;
}

/// Merges the tiles of `whole` with another spec, as float64.
std::vector<double> merged_as(const Whole& whole, MergeSpec spec) {
  spec.output_dtype = DType::float64;
  const Dims shape = whole.tiling.output_shape(spec.channels);
  std::vector<double> output(static_cast<std::size_t>(element_count(shape)));
  Merger merger(whole.tiling, spec, {output.data(), shape, contiguous_strides(shape, 8), DType::float64, 8});
  for (std::int64_t i = 0; i < whole.tiling.size(); ++i) {
    if (!spec.mask.empty() && spec.mask[static_cast<std::size_t>(i)] == 0) continue;
    const Dims extents = whole.tiling.result_shape(i, spec.channels);
    merger.add(i, {whole.results[static_cast<std::size_t>(i)].data(), extents, contiguous_strides(extents, spec.element_size),
                   spec.dtype, spec.element_size});
  }
  merger.finish();
  return output;
}

/// Returns the number of wrong labels of an argmax, whose classes have the largest mean.
std::int64_t wrong_labels(const Whole& whole) {
  MergeSpec spec = whole.spec;
  spec.reduce = Reduce::mean;
  if (spec.fill) spec.fill = Scalar(-1e300);  // no mean of bytes 0 and 1, or of random bits that are finite and so small
  if (spec.window.kind == WeightWindow::Kind::standard) spec.window.kind = WeightWindow::Kind::hann;
  const std::vector<double> means = merged_as(whole, spec);
  const std::int64_t classes = spec.channels[0], elements = std::ssize(means) / classes;
  std::int64_t wrong = 0;
  for (std::int64_t j = 0; j < elements; ++j) {
    std::int64_t label = 0;
    const auto mean = [&](std::int64_t k) { return means[static_cast<std::size_t>(k * elements + j)]; };
    for (std::int64_t k = 1; k < classes; ++k)
      if (!is_nan(mean(label)) && !(mean(k) <= mean(label))) label = k;
    if (spec.fill && mean(0) == -1e300) label = 1;
    const auto at = static_cast<std::size_t>(j);
    const std::int64_t given = whole.type == DType::uint8 ? static_cast<std::int64_t>(whole.output[at])
                                                          : reinterpret_cast<const std::uint16_t*>(whole.output.data())[at];
    wrong += given != label;
  }
  return wrong;
}

TEST(Reductions, AreThoseOfTheirDefinitions) {
  const auto wanted = static_cast<int>(merges_of_a_day * scale_of_run());
  std::map<std::string, int> seen;
  for (int number = 0, merges = 0; merges < wanted; ++number) {
    Random random(seed_of_case(seed_of_run(), "reductions", number));
    const std::optional<Whole> whole = draw_whole(random);
    if (!whole || !whole->spec.reduce || element_count(whole->shape) > 5000 || whole->tiling.size() > 200) continue;
    const Reduce reduce = *whole->spec.reduce;
    const bool skips_nans = reduce == Reduce::nanmax || reduce == Reduce::nanmin;
    const bool is_of_numbers = reduce == Reduce::mean && kind_of(whole->spec.dtype) == ElementKind::real;
    const bool is_simple = skips_nans || reduce == Reduce::median || reduce == Reduce::vote || is_of_numbers;
    if (!is_simple && reduce != Reduce::argmax) continue;
    if (is_simple && whole->type != whole->spec.dtype) continue;
    const std::int64_t wrong = visit(whole->spec.dtype, [&]<class T>(std::type_identity<T>) -> std::int64_t {
      if constexpr (std::is_arithmetic_v<T>) {
        if (reduce != Reduce::argmax) return wrong_values<T>(*whole);
        return std::is_integral_v<T> && sizeof(T) == 8 ? -1 : wrong_labels(*whole);
      } else {
        return -1;
      }
    });
    if (wrong < 0) continue;
    ++merges;
    ++seen[std::string(word_of(reduce))];
    ASSERT_EQ(wrong, 0) << "PATCHFOLD_SEED=" << seed_of_run() << ", case " << number << ": " << text_of(*whole, Box{});
  }
  if (scale_of_run() >= 1) {
    EXPECT_EQ(seen.size(), 6u);
  }
}

}  // namespace
}  // namespace patchfold::testing
