// SPDX-License-Identifier: Apache-2.0
#include "tiling/window_weights.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "base/checked.hpp"
#include "base/fail.hpp"
#include "engine/floats.hpp"
#include "tiling/names.hpp"

namespace patchfold {
namespace {

using Kind = WeightWindow::Kind;

double sample_at(const WeightWindow& window, double t) {
  switch (window.kind) {
    case Kind::linear: return 1 - std::fabs(2 * t - 1);
    case Kind::standard:
    case Kind::hann: {
      const double s = std::sin(std::numbers::pi * t);
      return s * s;
    }
    case Kind::cosine: return std::sin(std::numbers::pi * t);
    case Kind::gaussian: {
      const double deviations = (t - 0.5) / window.sigma_scale;
      return std::max(std::exp(-0.5 * deviations * deviations), 0x1p-100);
    }
    case Kind::tukey: {
      const double s = t < window.alpha / 2 ? std::sin(std::numbers::pi * t / window.alpha) : 1;
      return s * s;
    }
    case Kind::hamming: return 0.54 - 0.46 * std::cos(2 * std::numbers::pi * t);
    default: return 1;
  }
}

std::string number_text(double value) {
  std::ostringstream out;
  out.exceptions(std::ios::badbit);
  out.precision(17);
  out << value;
  return out.str();
}

/// Returns the first `count` of the n samples of a window that has a formula.
std::vector<double> first_samples(const WeightWindow& window, std::int64_t n, std::int64_t count) {
  if (window.kind == Kind::gaussian && !(window.sigma_scale > 0 && std::isfinite(window.sigma_scale)))
    fail(ErrorCode::value, tiling::op_merge, "sigma_scale", "must be greater than 0", number_text(window.sigma_scale));
  if (window.kind == Kind::tukey && !(window.alpha >= 0 && window.alpha <= 1))
    fail(ErrorCode::value, tiling::op_merge, "alpha", "must be from 0 to 1", number_text(window.alpha));
  const engine::DefaultFloats floats;
  std::vector<double> weights(static_cast<std::size_t>(count));
  // The second half is copied from the first, so that both are mirror images to the last bit.
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t mirrored = n - 1 - i;
    weights[static_cast<std::size_t>(i)] = mirrored < i
                                               ? weights[static_cast<std::size_t>(mirrored)]
                                               : sample_at(window, (static_cast<double>(i) + 0.5) / static_cast<double>(n));
  }
  return weights;
}

}  // namespace

std::vector<double> sample(const WeightWindow& window, std::int64_t n) {
  if (n < 0) fail(ErrorCode::value, tiling::op_merge, "window", "must have at least 0 samples", n);
  if (!Checked(n).is_below()) fail(ErrorCode::overflow, tiling::op_merge, "window", "sizes must stay below 2^60", n);
  return first_samples(window, n, n);
}

namespace tiling {
namespace {

/// The most weights of a window with a formula, over all axes.
constexpr std::int64_t most_samples = std::int64_t{1} << 26;

/// Throws unless there are `expected` weights, all finite and at least 0. Weights above 0 must be so near 1 that a product
/// of `factors` of them neither overflows nor becomes 0.
void check_weights(const std::vector<double>& weights, int factors, std::int64_t expected) {
  if (static_cast<std::int64_t>(weights.size()) != expected)
    fail(ErrorCode::length, op_merge, "window", "must have a weight for each element of a whole tile's result",
         weights.size(), expected);
  const double most = std::exp2(std::floor(700.0 / factors));  // leaves room for a factor of up to 2^300, a tile's own weight
  for (const double weight : weights) {
    if (!(weight >= 0) || !std::isfinite(weight))
      fail(ErrorCode::value, op_merge, "window", "weights must be finite and at least 0", number_text(weight));
    if (weight != 0 && (weight > most || weight < 1 / most))
      fail(ErrorCode::value, op_merge, "window", "weights must have products that float64 can hold", number_text(weight),
           "0, or " + number_text(1 / most) + " to " + number_text(most));
  }
}

Pair two_sum(double a, double b) noexcept {
  const double sum = a + b;
  const double part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
Pair two_product(double a, double b) noexcept {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}
Pair normal(double high, double low) noexcept {
  const double sum = high + low;
  return {sum, low - (sum - high)};
}

}  // namespace

Weights::Weights(const Tiling& tiling, const WeightWindow& window) {
  const Dims& result = result_ = tiling.result();
  if (window.kind == Kind::array) {
    check_weights(window.array, 1, element_count(result));
    array_ = window.array;
  } else if (window.kind == Kind::axes) {
    if (static_cast<int>(window.axes.size()) != result.size())
      fail(ErrorCode::length, op_merge, "window", "must have a list of weights for each tiled axis", window.axes.size(),
           result.size());
    for (int i = 0; i < result.size(); ++i)
      check_weights(window.axes[static_cast<std::size_t>(i)], result.size(), result[i]);
    axes_ = window.axes;
  } else {
    if (!is_enumerator(window.kind))
      fail(ErrorCode::value, op_merge, "window", "must be " + listed_words<Kind>(), static_cast<int>(window.kind));
    // The window has as many samples as the longest result: a single partial tile may be much shorter than a whole tile.
    Dims lengths;
    for (int i = 0; i < result.size(); ++i)
      lengths.push_back(tiling.grid()[i] > 0 ? tiling.span(i, tiling.longest(i)).result : 0);
    Checked samples = 0;
    for (const std::int64_t length : lengths) samples = samples + length;
    if (!samples.value() || *samples.value() > most_samples)
      fail(ErrorCode::limit, op_merge, "window", "must have at most 2^26 weights along all axes together", lengths);
    for (int i = 0; i < result.size(); ++i) axes_.push_back(first_samples(window, result[i], lengths[i]));
  }
  const auto look = [this](const std::vector<double>& weights) {
    for (const double weight : weights) {
      has_zero_ |= weight == 0;
      is_ones_ &= weight == 1;
      are_flags_ &= weight == 0 || weight == 1;
    }
  };
  look(array_);
  for (const auto& axis : axes_) look(axis);
}

Pair operator*(Pair a, double b) noexcept {
  const Pair product = two_product(a.high, b);
  return normal(product.high, product.low + a.low * b);
}

Pair operator+(Pair a, Pair b) noexcept {
  const Pair high = two_sum(a.high, b.high);
  return normal(high.high, high.low + (a.low + b.low));
}

double quotient(Pair a, Pair b) noexcept {
  const double first = a.high / b.high;
  const Pair product = b * first;
  const double rest = ((a.high - product.high) - product.low) + a.low;
  return first + rest / b.high;
}

const double* Weights::place(const Dims& begin, const Dims& axes, Dims& strides) const noexcept {
  const double* first = array_.data();
  std::int64_t stride = 1;
  for (int i = result_.size() - 1; i >= 0; --i) {
    strides[static_cast<int>(axes[i])] = stride;
    first += begin[i] * stride;
    stride *= result_[i];
  }
  return first;
}

Pair Weights::at(const Dims& begin, const Dims& at) const noexcept {
  if (is_separable()) {
    Pair weight{1, 0};
    for (int i = 0; i < begin.size(); ++i)
      weight = weight * axes_[static_cast<std::size_t>(i)][static_cast<std::size_t>(begin[i] + at[i])];
    return weight;
  }
  std::int64_t index = 0;
  for (int i = 0; i < begin.size(); ++i) index = index * result_[i] + begin[i] + at[i];
  return {array_[static_cast<std::size_t>(index)], 0};
}

}  // namespace tiling
}  // namespace patchfold
