// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <sstream>
#include <utility>

namespace patchfold::testing {

namespace {

/// Returns the axes in memory order, the slowest first.
std::vector<int> random_order(Random& random, int rank, bool permute) {
  std::vector<int> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  if (permute)
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i) - 1))]);
  return order;
}

}  // namespace

Arrangement random_arrangement(Random& random, const Dims& shape, std::size_t element_size, bool source,
                               Features& features) {
  const bool contiguous = random.chance(40);
  const bool permute = !contiguous && random.chance(50);
  const bool gaps = !contiguous && random.chance(50);
  const bool mirror = !contiguous && random.chance(40);
  const bool broadcast = !contiguous && source && random.chance(20);
  const bool odd_strides = !contiguous && random.chance(20);
  const auto size = static_cast<std::int64_t>(element_size);
  const std::string side = source ? "src " : "dst ";

  Arrangement result{shape, Dims::filled(shape.size(), 0), element_size, 0, 0};
  std::int64_t step = size;
  std::int64_t lowest = 0;
  std::int64_t highest = size;
  const auto order = random_order(random, shape.size(), permute);
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    const std::int64_t extent = shape[*axis];
    std::int64_t& stride = result.strides[*axis];
    if (gaps && random.chance(50)) {
      const std::int64_t gap = random.chance(50) ? size * random.between(1, 3) : random.between(1, 9);
      step += gap;
      if (extent > 1) features.insert(side + "gaps");
    }
    stride = step;
    if (broadcast && extent > 1 && random.chance(40)) {
      stride = 0;
      features.insert(side + "zero stride");
      continue;
    }
    if (mirror && random.chance(50)) {
      stride = -step;
      if (extent > 1) features.insert(side + "negative stride");
    }
    if (extent <= 1) {
      if (odd_strides && extent == 1) stride = random.pick(std::vector<std::int64_t>{0, 1, -7, 12345, size + 1});
      if (odd_strides && extent == 1) features.insert(side + "odd stride of extent 1");
      continue;
    }
    (stride < 0 ? lowest : highest) += stride * (extent - 1);
    step = random.chance(50) ? step * extent : highest - lowest;  // the second leaves no gap after the last element
  }
  for (const auto extent : shape)
    if (extent == 0) lowest = 0, highest = size;  // no elements, hardly any bytes
  if (permute) features.insert(side + "permuted");
  if (result.strides == contiguous_strides(shape, element_size)) features.insert(side + "contiguous");
  std::int64_t slack = 0;
  if (random.chance(30)) {
    slack = random.between(1, 15);
    features.insert(side + "misaligned");
  }
  result.origin = static_cast<std::size_t>(slack - lowest);
  result.bytes = static_cast<std::size_t>(highest - lowest + slack);
  return result;
}

void scatter(const Arrangement& arrangement, std::span<const std::byte> elements, std::span<std::byte> range) {
  std::size_t next = 0;
  arrangement.for_each([&](std::size_t at) {
    std::memcpy(range.data() + at, elements.data() + next, arrangement.element_size);
    next += arrangement.element_size;
  });
}

std::vector<std::byte> gather(const Arrangement& arrangement, std::span<const std::byte> range) {
  std::vector<std::byte> elements;
  arrangement.for_each([&](std::size_t at) {
    elements.insert(elements.end(), range.begin() + static_cast<std::ptrdiff_t>(at),
                    range.begin() + static_cast<std::ptrdiff_t>(at + arrangement.element_size));
  });
  return elements;
}

std::optional<std::string> difference(const Arrangement& arrangement, DType dtype, bool sums,
                                      std::span<const std::byte> actual, std::span<const std::byte> expected) {
  if (std::ranges::equal(actual, expected)) return std::nullopt;
  std::vector<std::byte> rest(actual.begin(), actual.end());
  std::ostringstream message;
  message << std::hex;
  std::int64_t element = 0;
  std::int64_t wrong = 0;
  arrangement.for_each([&](std::size_t at) {
    const bool same = std::memcmp(&actual[at], &expected[at], arrangement.element_size) == 0 ||
                      (sums && equal_up_to_nan(dtype, &actual[at], &expected[at]));
    if (!same && ++wrong == 1) {
      message << "element " << std::dec << element << std::hex << " (bytes, lowest first): got";
      for (std::size_t i = 0; i < arrangement.element_size; ++i) message << ' ' << static_cast<unsigned>(actual[at + i]);
      message << ", expected";
      for (std::size_t i = 0; i < arrangement.element_size; ++i) message << ' ' << static_cast<unsigned>(expected[at + i]);
    }
    std::memcpy(&rest[at], &expected[at], arrangement.element_size);
    ++element;
  });
  if (wrong != 0) {
    message << "; " << std::dec << wrong << " of " << element << " elements differ";
    return message.str();
  }
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == expected[i]) continue;
    message << "a byte that belongs to no element was written, " << std::dec
            << static_cast<std::ptrdiff_t>(i - arrangement.origin) << " bytes from element 0";
    return message.str();
  }
  return std::nullopt;
}

}  // namespace patchfold::testing
