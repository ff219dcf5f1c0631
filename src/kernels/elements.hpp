// SPDX-License-Identifier: Apache-2.0
// How one element of each summable type is added: widened to its accumulator, added, rounded once. sum.cpp, and panel.cpp
// where there are no vectors, loop over them; panel.cpp says the same for vectors.
#pragma once

#include <cstdint>

#include "kernels/half.hpp"

namespace patchfold::kernels {

/// Elements that are their own accumulators; integers are summed as unsigned, so they wrap.
template <class T>
struct PlainElement {
  using Element = T;
  using Accumulator = T;
  static T widen(T value) { return value; }
  static T narrow(T value) { return value; }
  static T plus(T a, T b) { return static_cast<T>(a + b); }
};

struct BooleanElement {
  using Element = std::uint8_t;
  using Accumulator = std::uint8_t;
  static std::uint8_t widen(std::uint8_t value) { return value != 0; }
  static std::uint8_t narrow(std::uint8_t value) { return value; }
  static std::uint8_t plus(std::uint8_t a, std::uint8_t b) { return a | b; }
};

struct Float16Element {
  using Element = std::uint16_t;
  using Accumulator = float;
  static float widen(std::uint16_t bits) { return float16_to_float(bits); }
  static std::uint16_t narrow(float value) { return float_to_float16(value); }
  static float plus(float a, float b) { return a + b; }
};

struct Bfloat16Element {
  using Element = std::uint16_t;
  using Accumulator = float;
  static float widen(std::uint16_t bits) { return bfloat16_to_float(bits); }
  static std::uint16_t narrow(float value) { return float_to_bfloat16(value); }
  static float plus(float a, float b) { return a + b; }
};

}  // namespace patchfold::kernels
