// SPDX-License-Identifier: Apache-2.0
// Conversion from one element type to another.
#pragma once

#include <string>

#include "formats/file.hpp"
#include "formats/npy.hpp"

namespace patchfold::cli {

/// Returns the tensor with its elements converted, in the same order in memory. A number that the type cannot hold becomes the
/// nearest number that it can hold: floating-point values are rounded to nearest, ties to even, and integers are clipped to their
/// range. NaN becomes 0 in an integer type. As a boolean, every number except 0 is true. Complex numbers convert to complex types
/// only. Throws Error(dtype, out_of_memory) that names the subject.
formats::LoadedTensor convert(const formats::LoadedTensor& tensor, DType dtype, const formats::Subject& subject);

}  // namespace patchfold::cli
