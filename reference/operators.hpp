// SPDX-License-Identifier: Apache-2.0
// How an operator enters the reference, and the neutral operators. `held` is used by fold alone.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "reference/reference.hpp"

namespace reference {

using Function = std::function<Array(const Array&, const Arguments&)>;
/// Operators by the names that the table of the library gives them.
using Functions = std::map<std::string, Function>;

/// Adds operators to those that run() knows. Each file of a dialect has one, which is made before main() starts.
struct Listed {
  explicit Listed(Functions functions);
};

// windows.cpp
Array unfold(const Array& image, const Arguments& arguments);
Array fold(const Array& columns, const Arguments& arguments, const Array* held);
Array coverage(const Array& type, const Arguments& arguments);

// blocks.cpp
Array reorder(const Array& columns, const Arguments& arguments);
Array copied(const Array& tensor, const Arguments& arguments);
Array space_to_batch(const Array& image, const Arguments& arguments);
Array batch_to_space(const Array& batches, const Arguments& arguments);
Array space_to_depth(const Array& image, const Arguments& arguments);
Array depth_to_space(const Array& deep, const Arguments& arguments);

}  // namespace reference
