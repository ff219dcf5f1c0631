// SPDX-License-Identifier: Apache-2.0
#include "pictures/weights.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/floats.hpp"

namespace patchfold::pictures {
namespace {

double sinc(double x) {
  return x == 0 ? 1 : std::sin(x * std::numbers::pi) / (x * std::numbers::pi);
}

double cubic(double x) {
  constexpr double a = -0.5;
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

double hamming(double x) {
  // Results of Pillow agree with constants that are rounded to float32 only.
  return x < 1 ? sinc(x) * (0.54F + 0.46F * std::cos(x * std::numbers::pi)) : 0;
}

double value_of(Filter filter, double x) {
  const double size = std::abs(x);
  switch (filter) {
    case Filter::nearest: break;
    case Filter::box: return x > -0.5 && x <= 0.5 ? 1 : 0;
    case Filter::bilinear: return size < 1 ? 1 - size : 0;
    case Filter::hamming: return hamming(size);
    case Filter::bicubic: return cubic(size);
    case Filter::lanczos: return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0;
  }
  return 0;
}

double support_of(Filter filter) {
  switch (filter) {
    case Filter::nearest: break;
    case Filter::box: return 0.5;
    case Filter::bilinear:
    case Filter::hamming: return 1;
    case Filter::bicubic: return 2;
    case Filter::lanczos: return 3;
  }
  return 0;
}

constexpr int pillow_bits = 22;

/// Returns the number rounded to the nearest integer; halves are rounded away from 0.
std::int32_t rounded(double value) {
  return static_cast<std::int32_t>(value < 0 ? value - 0.5 : value + 0.5);
}

/// Returns the most bits behind the point, up to 22, with which the weight takes no more than 16 bits.
int torch_bits(double largest) {
  int bits = 0;
  while (bits < pillow_bits && rounded(largest * static_cast<double>(2 << bits)) < 1 << 15) ++bits;
  return bits;
}

/// Takes one pixel for each place. Places are added up, as Pillow does, so their rounding grows along the axis.
AxisOfWeights nearest(const ResizedAxis& axis) {
  AxisOfWeights result;
  result.bits = pillow_bits;
  result.weights.push_back(1 << pillow_bits);
  const double ratio = static_cast<double>(axis.end - axis.begin) / static_cast<double>(axis.to);
  double place = axis.begin + ratio * 0.5;
  for (std::int64_t i = 0; i < axis.to; ++i, place += ratio) {
    const auto pixel = static_cast<std::int64_t>(place);
    result.taps.push_back({pixel, pixel < axis.from ? 1 : 0, 0});
  }
  return result;
}

}  // namespace

AxisOfWeights weights_of(const ResizedAxis& axis, Filter filter, FixedPoint fixed_point) {
  const engine::DefaultFloats floats;
  if (filter == Filter::nearest) return nearest(axis);
  AxisOfWeights result;
  const double ratio = static_cast<double>(axis.end - axis.begin) / static_cast<double>(axis.to);
  const double stretch = std::max(ratio, 1.0);
  const double support = support_of(filter) * stretch;
  const double narrow = 1 / stretch;
  std::vector<double> exact;
  double largest = 0;
  result.taps.reserve(static_cast<std::size_t>(axis.to));
  for (std::int64_t i = 0; i < axis.to; ++i) {
    const double middle = axis.begin + (static_cast<double>(i) + 0.5) * ratio;
    const auto first = std::max<std::int64_t>(0, static_cast<std::int64_t>(middle - support + 0.5));
    const auto last = std::min(axis.from, static_cast<std::int64_t>(middle + support + 0.5));
    result.taps.push_back({first, std::max<std::int64_t>(0, last - first), exact.size()});
    double sum = 0;
    for (std::int64_t k = first; k < last; ++k) {
      exact.push_back(value_of(filter, (static_cast<double>(k) - middle + 0.5) * narrow));
      sum += exact.back();
    }
    for (std::size_t k = result.taps.back().weights; k < exact.size(); ++k) {
      if (sum != 0) exact[k] /= sum;
      largest = std::max(largest, exact[k]);
    }
  }
  result.bits = fixed_point == FixedPoint::torch ? torch_bits(largest) : pillow_bits;
  result.weights.reserve(exact.size());
  for (const double weight : exact) result.weights.push_back(rounded(weight * static_cast<double>(1 << result.bits)));
  return result;
}

}  // namespace patchfold::pictures
