// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engine/compiled.hpp"

namespace patchfold::engine {

/// The inverses of block operators where the image takes a part of the outermost blocks only. Null for anything else.
std::unique_ptr<Compiled> make_cropped(const Problem& problem);

}  // namespace patchfold::engine
