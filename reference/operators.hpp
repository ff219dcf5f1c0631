// SPDX-License-Identifier: Apache-2.0
// Registers operators for the reference, and declares the neutral operators. Only fold reads `held`, the content of the output
// before the call.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "reference/reference.hpp"

namespace reference {

using Function = std::function<Array(const Array&, const Arguments&)>;
/// Operators by their names in the table of the library.
using Functions = std::map<std::string, Function>;

/// An object that adds operators to the table of run(). Each dialect's file has one such object, which is made before main()
/// starts.
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
