// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>

#include "patchfold/standard.hpp"

namespace patchfold {

/// A list of at most `capacity` items, stored in place. A FixedList never allocates. Copying one touches only its items, not all
/// `capacity` places.
template <class T, int capacity>
class FixedList {
 public:
  using value_type = T;
  using const_iterator = const T*;

  FixedList() noexcept {}
  FixedList(const FixedList& other) noexcept { *this = other; }
  FixedList& operator=(const FixedList& other) noexcept {
    if (this == &other) return *this;
    clear();
    for (const T& item : other) push_back(item);
    return *this;
  }
  ~FixedList() { clear(); }

  int size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T& operator[](int i) noexcept { return items_[i]; }
  const T& operator[](int i) const noexcept { return items_[i]; }
  T* begin() noexcept { return items_; }
  T* end() noexcept { return items_ + size_; }
  const T* begin() const noexcept { return items_; }
  const T* end() const noexcept { return items_ + size_; }
  void push_back(const T& item) noexcept {
    assert(size_ < capacity);
    std::construct_at(items_ + size_++, item);
  }
  void erase(int i) noexcept {
    for (; i + 1 < size_; ++i) items_[i] = items_[i + 1];
    std::destroy_at(items_ + --size_);
  }
  void clear() noexcept {
    std::destroy(begin(), end());
    size_ = 0;
  }

 private:
  union {
    T items_[static_cast<std::size_t>(capacity)];
  };
  int size_ = 0;
};

}  // namespace patchfold
