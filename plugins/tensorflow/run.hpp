// SPDX-License-Identifier: Apache-2.0
// The interface between the plug-in for TensorFlow and patchfold's Python module, which holds the operators.
#pragma once

#include <cstddef>
#include <cstdint>

namespace patchfold::plugins::tensorflow {

enum class Fault : std::int32_t { invalid_argument, out_of_memory, internal };

/// One run of a call on a tensor; python/native/linear.hpp defines calls.
struct Run {
  const char* call;
  std::size_t call_size;
  const void* data;
  const std::int64_t* extents;
  std::int32_t rank;
  std::size_t element_size;
  void* context;
  /// Returns memory for a result with these extents. If there is none, calls `refuse` and returns nullptr.
  void* (*allocate)(void* context, const std::int64_t* extents, std::int32_t rank);
  void (*refuse)(void* context, Fault fault, const char* message);
};
using RunFunction = void(const Run&) noexcept;

}  // namespace patchfold::plugins::tensorflow
