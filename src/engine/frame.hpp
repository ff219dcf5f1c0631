// SPDX-License-Identifier: Apache-2.0
// Which positions of an extract have their windows inside the image.
#pragma once

#include "engine/problem.hpp"

namespace patchfold::engine {

/// The positions [from, end) of one window whose taps all lie inside.
struct Inside {
  std::int64_t from = 0;
  std::int64_t end = 0;
};
Inside inside_of(const Window& window) noexcept;

/// Whether an extract has so many positions inside that they are worth a plan of their own.
bool has_inside(const Problem& problem) noexcept;

}  // namespace patchfold::engine
