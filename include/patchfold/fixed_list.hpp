// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cassert>
#include <cstddef>

#include "patchfold/standard.hpp"

namespace patchfold {

/// A list of at most `capacity` items that lives in place. Never allocates.
template <class T, int capacity>
class FixedList {
 public:
  using value_type = T;
  using const_iterator = const T*;

  int size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T& operator[](int i) noexcept { return items_[static_cast<std::size_t>(i)]; }
  const T& operator[](int i) const noexcept { return items_[static_cast<std::size_t>(i)]; }
  T* begin() noexcept { return items_.data(); }
  T* end() noexcept { return items_.data() + size_; }
  const T* begin() const noexcept { return items_.data(); }
  const T* end() const noexcept { return items_.data() + size_; }
  void push_back(const T& item) noexcept {
    assert(size_ < capacity);
    items_[static_cast<std::size_t>(size_++)] = item;
  }
  void erase(int i) noexcept {
    for (--size_; i < size_; ++i) (*this)[i] = (*this)[i + 1];
  }

 private:
  std::array<T, static_cast<std::size_t>(capacity)> items_{};
  int size_ = 0;
};

}  // namespace patchfold
