// SPDX-License-Identifier: Apache-2.0
// Turns one number into the bytes of an element.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "patchfold/tensor.hpp"

namespace patchfold {

/// Returns the bytes of `scalar` as an element of type `dtype`, in the first size_of(dtype) bytes of the result. For opaque the
/// number must be 0, which becomes zero bytes. Throws Error(value) if the type cannot hold the number: an integer out of range, or
/// a fraction or NaN for an integer type. An imaginary part for a real type, and infinity for a float8 without infinity, are
/// the same error. Floating-point types round to nearest even, in every rounding mode. A number that rounds beyond the
/// largest number becomes infinity; in a type without infinity it is an error.
std::array<std::byte, 16> encode(const Scalar& scalar, DType dtype, std::string_view op, std::string_view argument);

}  // namespace patchfold
