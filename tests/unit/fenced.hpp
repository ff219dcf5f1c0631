// SPDX-License-Identifier: Apache-2.0
// Memory that notices reads and writes outside of it, and random numbers, for tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "system/memory.hpp"

namespace patchfold::kernels {

/// Bytes that end directly before a page that cannot be read, or begin directly after such a page.
class Fenced {
 public:
  explicit Fenced(std::size_t size, bool at_end = true) : size_(size) {
    const std::size_t page = system::page_size();
    const std::size_t inner = (size / page + 1) * page;
    mapped_ = inner + 2 * page;
    mapping_ = system::allocate_pages(mapped_);
    if (mapping_ == nullptr) throw std::bad_alloc();
    auto* inside = static_cast<std::byte*>(mapping_) + page;
    if (!system::forbid_pages(mapping_, page) || !system::forbid_pages(inside + inner, page)) throw std::bad_alloc();
    first_ = at_end ? inside + inner - size : inside;
  }
  ~Fenced() { system::free_pages(mapping_, mapped_); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;

  std::byte* data() const { return first_; }
  std::byte* end() const { return first_ + size_; }
  std::span<std::byte> bytes() const { return {first_, size_}; }

 private:
  void* mapping_;
  std::size_t mapped_;
  std::byte* first_;
  std::size_t size_;
};

/// A destination that begins `shift` bytes after the start of a cache line, between bytes that must not change.
class Target {
 public:
  Target(std::int64_t size, std::int64_t shift)
      : bytes_(static_cast<std::size_t>(size + shift + 4 * line), std::byte{0xa5}), size_(size) {
    const auto at = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(bytes_.data()) % line);
    origin_ = line + (line - at) % line + shift;
    expected_ = bytes_;
  }
  std::byte* data() { return bytes_.data() + origin_; }
  /// Returns the expected final content of data().
  std::byte* expected() { return expected_.data() + origin_; }
  void reset() { std::fill(bytes_.begin(), bytes_.end(), std::byte{0xa5}); }
  /// Returns an empty text if all bytes are as expected, otherwise a text about the first wrong byte.
  std::string wrong() const {
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      if (bytes_[i] != expected_[i])
        return "byte " + std::to_string(static_cast<std::int64_t>(i) - origin_) + " of " + std::to_string(size_) + " is " +
               std::to_string(static_cast<int>(bytes_[i])) + ", not " + std::to_string(static_cast<int>(expected_[i]));
    return {};
  }

 private:
  static constexpr std::int64_t line = 64;
  std::vector<std::byte> bytes_, expected_{};
  std::int64_t size_;
  std::int64_t origin_ = 0;
};

/// A generator of random numbers that gives the same numbers on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : generator_(seed) {}
  /// Returns a number from first to last, both included.
  std::int64_t between(std::int64_t first, std::int64_t last) {
    return first + static_cast<std::int64_t>(generator_() % static_cast<std::uint64_t>(last - first + 1));
  }
  bool chance(int percent) { return between(0, 99) < percent; }
  template <class List>
  auto pick(const List& list) {
    return list[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(std::size(list)) - 1))];
  }
  void fill(std::span<std::byte> bytes) {
    for (auto& byte : bytes) byte = static_cast<std::byte>(generator_() >> 32);
  }

 private:
  std::mt19937_64 generator_;
};

}  // namespace patchfold::kernels
