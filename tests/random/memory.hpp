// SPDX-License-Identifier: Apache-2.0
// Tensors in random memory layouts, of every kind that is legal.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "elements.hpp"
#include "unit/fenced.hpp"

namespace patchfold::testing {

/// A shape with byte strides, within a range of bytes.
struct Arrangement {
  Dims shape{};
  Dims strides{};
  std::size_t element_size = 0;
  std::size_t origin = 0;  ///< offset of element 0 from the first byte of the range
  std::size_t bytes = 0;   ///< size of the range

  /// Calls f(offset from the first byte of the range) for every element, in row-major order.
  template <class F>
  void for_each(F f) const;
};

/// Returns a contiguous, permuted, gapped or mirrored layout; the layout of a source may also repeat elements, by strides of
/// 0. Adds a feature such as "src permuted".
Arrangement random_arrangement(Random& random, const Dims& shape, std::size_t element_size, bool source, Features& features);

/// Copies contiguous elements to their places in the range; gather() copies them back.
void scatter(const Arrangement& arrangement, std::span<const std::byte> elements, std::span<std::byte> range);
std::vector<std::byte> gather(const Arrangement& arrangement, std::span<const std::byte> range);

/// Returns nothing if `actual` equals `expected`, in the elements and in the bytes between them; with `sums`, all NaNs are
/// equal.
std::optional<std::string> difference(const Arrangement& arrangement, DType dtype, bool sums,
                                      std::span<const std::byte> actual, std::span<const std::byte> expected);

template <class F>
void Arrangement::for_each(F f) const {
  for (const auto extent : shape)
    if (extent == 0) return;
  Dims index = Dims::filled(shape.size(), 0);
  auto at = static_cast<std::ptrdiff_t>(origin);
  while (true) {
    f(static_cast<std::size_t>(at));
    int d = shape.size() - 1;
    for (; d >= 0 && ++index[d] == shape[d]; --d) {
      at -= (shape[d] - 1) * strides[d];
      index[d] = 0;
    }
    if (d < 0) return;
    at += strides[d];
  }
}

}  // namespace patchfold::testing
