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

/// What part of the positions of an extract have windows that lie inside the image: 0 to 1.
double inside_share(const Problem& problem) noexcept;

}  // namespace patchfold::engine
