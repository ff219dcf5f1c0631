// SPDX-License-Identifier: Apache-2.0
// Walks over the index tuples of axes, the last fastest.
#pragma once

#include <array>
#include <cstdint>

#include "engine/problem.hpp"

namespace patchfold::engine {

using DimList = FixedList<Dim, 2 * max_rank>;

/// Returns the index of the last dim for which wanted(dim) is true; -1 if there is none.
inline int find(const DimList& dims, auto&& wanted) {
  for (int i = dims.size() - 1; i >= 0; --i)
    if (wanted(dims[i])) return i;
  return -1;
}

/// Removes dim i from the list and returns it; for i = -1 returns a dim of extent 1.
inline Dim take(DimList& dims, int i) {
  if (i < 0) return {};
  const Dim dim = dims[i];
  dims.erase(i);
  return dim;
}

/// Returns the product of the extents. The product fits into 64 bits, since the destination has at least as many elements.
std::int64_t count_tuples(const auto& axes) noexcept {
  std::int64_t count = 1;
  for (const auto& axis : axes) count *= axis.extent;
  return count;
}

/// Counts through the index tuples of axes, the last axis fastest. Every extent must be at least 1.
template <class List>
class Odometer {
 public:
  Odometer(const List& axes, std::int64_t start) noexcept : axes_(axes) {
    for (int i = axes.size() - 1; i >= 0; --i) {
      index_[static_cast<std::size_t>(i)] = start % axes[i].extent;
      start /= axes[i].extent;
    }
  }
  std::int64_t operator[](int axis) const noexcept { return index_[static_cast<std::size_t>(axis)]; }
  /// Steps to the next tuple. Calls moved(axis, steps) for each axis whose index changes by `steps`.
  void next(auto&& moved) noexcept {
    for (int i = axes_.size() - 1; i >= 0; --i) {
      auto& index = index_[static_cast<std::size_t>(i)];
      if (++index < axes_[i].extent) return moved(axes_[i], 1);
      index = 0;
      moved(axes_[i], 1 - axes_[i].extent);
    }
  }
  void next() noexcept {
    next([](const auto&, std::int64_t) {});
  }

 private:
  const List& axes_;
  std::array<std::int64_t, 2 * max_rank> index_;
};

/// Counts through the index tuples of dims, the last dim fastest, and keeps the tuple's offsets on both sides.
class Counter : Odometer<DimList> {
 public:
  Counter(const DimList& dims, std::int64_t start) noexcept : Odometer(dims, start) {
    for (int i = 0; i < dims.size(); ++i) move(dims[i], (*this)[i]);
  }
  void next() noexcept {
    Odometer::next([this](const Dim& dim, std::int64_t steps) { move(dim, steps); });
  }

  std::int64_t src = 0;
  std::int64_t dst = 0;

 private:
  void move(const Dim& dim, std::int64_t steps) noexcept {
    src += steps * dim.src_stride;
    dst += steps * dim.dst_stride;
  }
};

}  // namespace patchfold::engine
