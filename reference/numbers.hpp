// SPDX-License-Identifier: Apache-2.0
// Numbers in memory, small floating-point formats, and the bytes of a fill value.
#pragma once

#include <cassert>
#include <cstring>

#include "reference/reference.hpp"

namespace reference {

template <class T>
T load(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

template <class T>
void save(std::byte* element, T value) {
  std::memcpy(element, &value, sizeof(T));
}

/// Calls f with a 0 of the C++ type that has the size and sign of an integer type.
template <class F>
void with_integer(const Type& type, F f) {
  const bool is_signed = type.kind == Kind::signed_integer;
  switch (type.size) {
    case 1: return is_signed ? f(std::int8_t{}) : f(std::uint8_t{});
    case 2: return is_signed ? f(std::int16_t{}) : f(std::uint16_t{});
    case 4: return is_signed ? f(std::int32_t{}) : f(std::uint32_t{});
    case 8: return is_signed ? f(std::int64_t{}) : f(std::uint64_t{});
    default: assert(false);
  }
}

/// Returns the exact value of a code (the bits of a number in the format).
double decode(const Format& format, unsigned code);
/// Returns the code of the nearest value, ties to even.
unsigned encode(const Format& format, double value);

/// Returns the exact value of a small float in memory.
double load_small(const Type& type, const std::byte* element);
/// Stores a small float, rounded as encode() does.
void save_small(const Type& type, std::byte* element, double value);

/// Returns a number in an element type; zero bytes for opaque elements.
std::vector<std::byte> element_of(const Number& number, DType dtype, std::size_t element_size);

}  // namespace reference
