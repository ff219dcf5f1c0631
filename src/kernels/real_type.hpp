// SPDX-License-Identifier: Apache-2.0
// Chooses a blend by the type of its elements.
#pragma once

#include <type_traits>

#include "kernels/blend.hpp"
#include "tensor/held.hpp"

namespace patchfold::kernels {

/// Returns f.template operator()<T>() for the type of the elements; null for opaque and complex elements.
template <class F>
Blend with_real_type(DType dtype, F f) {
  return visit_held(dtype, [&]<class T>(std::type_identity<T>) -> Blend {
    if constexpr (ComplexNumber<T> || std::is_same_v<T, Opaque>)
      return nullptr;
    else
      return f.template operator()<T>();
  });
}

}  // namespace patchfold::kernels
