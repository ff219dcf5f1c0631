// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace patchfold::testing {

/// SplitMix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// From first to last, both included.
  std::int64_t between(std::int64_t first, std::int64_t last) {
    return first + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(last - first + 1));
  }
  bool chance(int percent) { return between(0, 99) < percent; }
  template <class List>
  auto pick(const List& list) {
    return list[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(std::size(list)) - 1))];
  }

 private:
  std::uint64_t state_;
};

/// PATCHFOLD_SEED, or a fixed number.
inline std::uint64_t seed_of_run() {
  const char* text = std::getenv("PATCHFOLD_SEED");
  return text == nullptr ? 20240607u : std::strtoull(text, nullptr, 10);
}

/// PATCHFOLD_CASES, a factor of the number of cases: 10 runs ten times as many, 0.1 a tenth.
inline double scale_of_run() {
  const char* text = std::getenv("PATCHFOLD_CASES");
  return text == nullptr ? 1.0 : std::strtod(text, nullptr);
}

/// The seed of one case: it depends on no other case.
inline std::uint64_t seed_of_case(std::uint64_t run, std::string_view name, int number) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return Random(run ^ hash ^ (static_cast<std::uint64_t>(number) << 40)).next();
}

}  // namespace patchfold::testing
