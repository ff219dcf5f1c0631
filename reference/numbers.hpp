// SPDX-License-Identifier: Apache-2.0
// Small floating-point formats, and the bytes of a fill value.
#pragma once

#include "reference/reference.hpp"

namespace reference {

/// A floating-point format of at most 16 bits.
struct Format {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  enum class Special {
    ieee,           ///< the highest exponent holds infinities and NaN
    one_nan,        ///< no infinities; all ones is NaN
    unsigned_zero,  ///< no infinities, no -0; its code is NaN
  } special;
};

/// The format of float16, bfloat16 and the float8 types.
Format format_of(DType dtype);
/// Exact.
double decode(const Format& format, unsigned code);
/// To nearest, ties to even.
unsigned encode(const Format& format, double value);

/// A number in an element type; zero bytes for opaque elements.
std::vector<std::byte> element_of(const Number& number, DType dtype, std::size_t element_size);

}  // namespace reference
