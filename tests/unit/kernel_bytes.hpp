// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests of kernels: reads of elements at any address, and the two ways to store.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

#include "kernels/stream.hpp"

namespace patchfold::kernels {

inline constexpr Store stores[] = {Store::plain, Store::past_cache};

inline std::string_view name_of(Store store) {
  return store == Store::plain ? "plain" : "past the cache";
}

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace patchfold::kernels
