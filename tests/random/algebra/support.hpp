// SPDX-License-Identifier: Apache-2.0
// Tensors and random geometry for tests of properties.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "patchfold/patchfold.hpp"

namespace patchfold::testing {

/// A contiguous tensor; comparisons compare its bytes.
template <class T>
struct Tensor {
  Dims shape{};
  std::vector<T> values{};

  friend bool operator==(const Tensor& a, const Tensor& b) {
    return a.shape == b.shape && a.values.size() == b.values.size() &&
           (a.values.empty() || std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(T)) == 0);
  }
};

template <class T>
std::ostream& operator<<(std::ostream& out, const Tensor<T>& tensor) {
  out << to_string(tensor.shape) << " {";
  for (const auto& value : tensor.values) out << ' ' << value;
  return out << " }";
}

template <class T>
Tensor<T> filled(const Dims& shape, T value) {
  return {shape, std::vector<T>(static_cast<std::size_t>(element_count(shape)), value)};
}

/// Returns a tensor of random integers, all different with high probability; of floats, multiples of 1/8 whose sums are rounded.
template <class T>
Tensor<T> arbitrary(const Dims& shape) {
  Tensor<T> tensor = filled(shape, T{});
  auto state = *rc::gen::noShrink(rc::gen::arbitrary<std::uint64_t>());
  for (auto& value : tensor.values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    if constexpr (std::is_floating_point_v<T>)
      value = static_cast<T>(static_cast<std::int32_t>(state >> 32)) / 8;
    else
      value = static_cast<T>(state >> 16);
  }
  return tensor;
}

/// Returns the output of an operator; `held` is the output's content before the call.
template <class Op, class T>
Tensor<T> apply(const Op& op, const Tensor<T>& input, const Tensor<T>* held = nullptr) {
  Tensor<T> output = filled(op.output_shape(input.shape), T{});
  if (held != nullptr) output = *held;
  run(op, view(input.values.data(), input.shape), view(output.values.data(), output.shape));
  return output;
}

struct Limits {
  int lowest_rank = 1;
  int highest_rank = 4;
  std::int64_t lowest_extent = 0;
  std::int64_t lowest_pad = -2;
  std::int64_t lowest_dilation = 0;
  bool symmetric = false;
};

struct Geometry {
  int rank = 0;
  Dims image{};
  Dims kernel{};
  Dims stride{};
  Dims dilation{};
  PadsList pads{};
  std::int64_t batch = 1;
  std::int64_t channels = 1;

  std::int64_t positions(int d) const {
    const std::int64_t slack = image[d] + pads[d].begin + pads[d].end - (kernel[d] - 1) * dilation[d] - 1;
    return slack < 0 ? 0 : slack / stride[d] + 1;
  }
  std::int64_t all_positions() const {
    std::int64_t count = 1;
    for (int d = 0; d < rank; ++d) count *= positions(d);
    return count;
  }
  Dims channels_first() const {
    Dims shape = {batch, channels};
    shape.append(image);
    return shape;
  }
  Dims channels_last() const {
    Dims shape = {batch};
    shape.append(image);
    shape.push_back(channels);
    return shape;
  }
  Dims flat_columns() const { return {batch, channels * element_count(kernel), all_positions()}; }
  Dims begins() const {
    Dims list;
    for (int d = 0; d < rank; ++d) list.push_back(pads[d].begin);
    return list;
  }
  Dims ends() const {
    Dims list;
    for (int d = 0; d < rank; ++d) list.push_back(pads[d].end);
    return list;
  }
};

/// Returns a number from first to last, both included.
inline std::int64_t between(std::int64_t first, std::int64_t last) {
  return *rc::gen::inRange(first, last + 1);
}

inline bool flip() {
  return *rc::gen::arbitrary<bool>();
}

inline Geometry random_geometry(const Limits& limits) {
  constexpr std::int64_t longest[] = {0, 40, 10, 6, 4};
  Geometry g;
  g.rank = static_cast<int>(between(limits.lowest_rank, limits.highest_rank));
  for (int d = 0; d < g.rank; ++d) {
    g.image.push_back(between(limits.lowest_extent, longest[g.rank]));
    g.kernel.push_back(between(1, g.rank > 2 ? 2 : 4));
    g.stride.push_back(between(1, 4));
    g.dilation.push_back(between(limits.lowest_dilation, 3));
    const std::int64_t begin = between(limits.lowest_pad, 4);
    g.pads.push_back({begin, limits.symmetric ? begin : between(limits.lowest_pad, 4)});
  }
  g.batch = between(1, 2);
  g.channels = between(1, 3);
  RC_LOG() << "image " << to_string(g.channels_first()) << " kernel " << to_string(g.kernel) << " stride "
           << to_string(g.stride) << " dilation " << to_string(g.dilation) << " pads " << to_string(g.begins())
           << to_string(g.ends()) << '\n';
  return g;
}

inline Layout random_layout() {
  return flip() ? Layout::channels_last : Layout::channels_first;
}
inline Order random_order() {
  return flip() ? Order::kernel : Order::channel;
}
inline Positions random_positions() {
  return flip() ? Positions::grid : Positions::flat;
}

/// An Unfold and a Fold with the same geometry.
struct Pair {
  Unfold unfold{};
  Fold fold{};
  Dims image{};  ///< shape of the image
};

inline Pair random_pair(const Geometry& g) {
  Pair pair;
  pair.unfold = {.kernel_size = g.kernel,
                 .stride = g.stride,
                 .dilation = g.dilation,
                 .padding = g.pads,
                 .layout = random_layout(),
                 .order = random_order(),
                 .positions = random_positions(),
                 .allow_empty = true};
  pair.fold = {.output_size = g.image,
               .kernel_size = g.kernel,
               .stride = g.stride,
               .dilation = g.dilation,
               .padding = g.pads,
               .layout = pair.unfold.layout,
               .order = pair.unfold.order,
               .positions = pair.unfold.positions};
  pair.image = pair.unfold.layout == Layout::channels_last ? g.channels_last() : g.channels_first();
  return pair;
}

}  // namespace patchfold::testing
