// SPDX-License-Identifier: Apache-2.0
// Walks over all index tuples of a box, row-major: the last axis runs fastest. A box without axes has one index tuple.
#pragma once

#include <cstdint>

#include "patchfold/tensor.hpp"

namespace patchfold {

/// Steps to the next index of the box [begin, end), whose extents must be at least 1. After the last index, advance()
/// returns false and starts again at `begin`:
///   Dims index = begin;
///   do .. while (advance(index, begin, end));
inline bool advance(Dims& index, const Dims& begin, const Dims& end) noexcept {
  for (int axis = index.size() - 1; axis >= 0; --axis) {
    if (++index[axis] < end[axis]) return true;
    index[axis] = begin[axis];
  }
  return false;
}

/// Steps to the next index of a box that begins at 0; returns false after the last index.
inline bool advance(Dims& index, const Dims& extents) noexcept {
  for (int axis = index.size() - 1; axis >= 0; --axis) {
    if (++index[axis] < extents[axis]) return true;
    index[axis] = 0;
  }
  return false;
}

/// Returns the index whose row-major number is `number`.
inline Dims index_at(std::int64_t number, const Dims& extents) noexcept {
  Dims index = Dims::filled(extents.size(), 0);
  for (int axis = extents.size() - 1; axis >= 0; --axis) {
    index[axis] = number % extents[axis];
    number /= extents[axis];
  }
  return index;
}

/// Returns the row-major number of an index.
inline std::int64_t number_at(const Dims& index, const Dims& extents) noexcept {
  std::int64_t number = 0;
  for (int axis = 0; axis < index.size(); ++axis) number = number * extents[axis] + index[axis];
  return number;
}

}  // namespace patchfold
