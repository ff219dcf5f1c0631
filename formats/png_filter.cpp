// SPDX-License-Identifier: Apache-2.0
// PNG's filters. A filter replaces the bytes of a row by their differences from neighbouring bytes.
#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "formats/picture_codec.hpp"

namespace patchfold::formats {
namespace {

/// The filters of a byte x: `a` is the byte left of it (one pixel before), `b` the byte above it, `c` the byte above `a`.
struct None {
  static int of(int x, int, int, int) noexcept { return x; }
};
struct Sub {
  static int of(int x, int a, int, int) noexcept { return x - a; }
};
struct Up {
  static int of(int x, int, int b, int) noexcept { return x - b; }
};
struct Average {
  static int of(int x, int a, int b, int) noexcept { return x - (a + b) / 2; }
};
struct Paeth {
  static int of(int x, int a, int b, int c) noexcept {
    const int to_a = std::abs(b - c);
    const int to_b = std::abs(a - c);
    const int to_c = std::abs(a + b - 2 * c);
    const int nearer = to_b <= to_c ? b : c;
    return x - (to_a <= to_b && to_a <= to_c ? a : nearer);
  }
};

/// The length of a part of a row; the sum of its bytes fits into 32 bits.
constexpr std::size_t piece = 1 << 16;

template <class Filter>
std::uint64_t cost(const std::uint8_t* row, const std::uint8_t* above, std::size_t bytes, std::size_t pixel) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t begin = 0; begin < bytes; begin += piece) {
    std::uint32_t part = 0;
    const std::size_t end = std::min(bytes, begin + piece);
    const std::uint8_t* const left = row - pixel;
    const std::uint8_t* const above_left = above - pixel;
    for (std::size_t i = begin; i < end; ++i) {
      const auto value = static_cast<std::int8_t>(Filter::of(row[i], left[i], above[i], above_left[i]));
      part += static_cast<std::uint32_t>(value < 0 ? -value : value);
    }
    sum += part;
  }
  return sum;
}

template <class Filter>
void apply(const std::uint8_t* row, const std::uint8_t* above, std::size_t bytes, std::size_t pixel,
           std::uint8_t* __restrict dst) noexcept {
  const std::uint8_t* const left = row - pixel;
  const std::uint8_t* const above_left = above - pixel;
  for (std::size_t i = 0; i < bytes; ++i)
    dst[i] = static_cast<std::uint8_t>(Filter::of(row[i], left[i], above[i], above_left[i]));
}

struct Choice {
  std::uint64_t (*cost)(const std::uint8_t*, const std::uint8_t*, std::size_t, std::size_t) noexcept;
  void (*apply)(const std::uint8_t*, const std::uint8_t*, std::size_t, std::size_t, std::uint8_t*) noexcept;
};
/// The filters, at the indices that are their numbers in PNG files.
constexpr Choice choices[] = {{cost<None>, apply<None>},
                              {cost<Sub>, apply<Sub>},
                              {cost<Up>, apply<Up>},
                              {cost<Average>, apply<Average>},
                              {cost<Paeth>, apply<Paeth>}};

}  // namespace

void filter_png_row(const std::uint8_t* row, const std::uint8_t* above, std::size_t bytes, std::size_t pixel,
                    std::uint8_t* dst) noexcept {
  // A filter must make the sum a tenth smaller than that of the row itself: filters hide repetitions, which compress well.
  std::uint8_t best = 0;
  std::uint64_t least = cost<None>(row, above, bytes, pixel) / 10 * 9;
  for (std::uint8_t i = 1; i < std::size(choices); ++i) {
    const std::uint64_t sum = choices[i].cost(row, above, bytes, pixel);
    if (sum < least) {
      least = sum;
      best = i;
    }
  }
  *dst = best;
  choices[best].apply(row, above, bytes, pixel, dst + 1);
}

}  // namespace patchfold::formats
