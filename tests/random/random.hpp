// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same on every machine.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

namespace patchfold::testing {

/// A generator of random numbers. They come from SplitMix64 with a seed, or from given bytes and then from SplitMix64 with a
/// fixed seed. Each number uses only as many of the bytes as its range needs, so that one changed byte changes one decision.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  explicit Random(std::span<const std::uint8_t> bytes) : state_(0), bytes_(bytes) {}

  std::uint64_t next() { return draw(sizeof(std::uint64_t)); }
  /// Returns a number from first to last, both included.
  std::int64_t between(std::int64_t first, std::int64_t last) {
    const auto count = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first) + 1;
    if (count == 0) return static_cast<std::int64_t>(next());
    const auto bits = static_cast<std::size_t>(std::bit_width(count - 1));
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(first) + draw((bits + 7) / 8) % count);
  }
  bool chance(int percent) { return between(0, 99) < percent; }
  template <class List>
  auto pick(const List& list) {
    return list[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(std::size(list)) - 1))];
  }

 private:
  /// Returns a number of `size` bytes from the given bytes; after the last byte, a number of 64 bits.
  std::uint64_t draw(std::size_t size) {
    if (!bytes_.empty()) {
      std::uint64_t value = 0;
      size = std::min(size, bytes_.size());
      for (std::size_t i = 0; i < size; ++i) value = value << 8 | bytes_[i];
      bytes_ = bytes_.subspan(size);
      return value;
    }
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
  std::span<const std::uint8_t> bytes_{};
};

/// Returns PATCHFOLD_SEED, or a fixed number.
inline std::uint64_t seed_of_run() {
  const char* text = std::getenv("PATCHFOLD_SEED");
  return text == nullptr ? 20240607u : std::strtoull(text, nullptr, 10);
}

/// Returns PATCHFOLD_CASES, a factor for the number of cases: 10 runs ten times as many cases, 0.1 a tenth. Without it,
/// returns 1.
inline double scale_of_run() {
  const char* text = std::getenv("PATCHFOLD_CASES");
  return text == nullptr ? 1.0 : std::strtod(text, nullptr);
}

/// Returns the hash FNV-1a of the bytes, continued from the hash `before`.
inline std::uint64_t hash_of(std::string_view bytes, std::uint64_t before = 0xCBF29CE484222325u) {
  for (const char c : bytes) before = (before ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return before;
}

/// Returns the seed of one case, which depends on no other case.
inline std::uint64_t seed_of_case(std::uint64_t run, std::string_view name, int number) {
  return Random(run ^ hash_of(name) ^ (static_cast<std::uint64_t>(number) << 40)).next();
}

}  // namespace patchfold::testing
