// SPDX-License-Identifier: Apache-2.0
// Random elements of every type, with special values among them.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "patchfold/tensor.hpp"
#include "random.hpp"
#include "reference/reference.hpp"

namespace patchfold::testing {

using Features = std::set<std::string>;

struct ElementType {
  DType dtype = DType::float32;
  std::size_t size = 4;
};

/// Returns every element type, with opaque elements of 3, 5, 16 and 24 bytes.
std::vector<ElementType> all_types();
std::vector<ElementType> summable_types();
/// Returns the name of the type, such as "float32" or "opaque24".
std::string name_of(const ElementType& type);

reference::DType reference_type(DType dtype);

/// Returns elements of one kind: small integers, any bits, extremes or special values. Adds the features "-0.0", "NaN" and "Inf" if
/// such elements occur.
std::vector<std::byte> random_elements(Random& random, const ElementType& type, std::int64_t count, Features& features);

/// Returns a value that the type can hold.
Scalar random_scalar(Random& random, DType dtype);
reference::Number reference_number(const Scalar& scalar);

/// Replaces every NaN, and every NaN part of a complex number, by the same bits.
void make_nans_alike(DType dtype, std::span<std::byte> elements);

/// Returns whether two elements have equal bits; any two NaNs count as equal.
bool equal_up_to_nan(DType dtype, const std::byte* a, const std::byte* b);

}  // namespace patchfold::testing
