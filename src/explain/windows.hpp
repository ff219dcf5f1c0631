// SPDX-License-Identifier: Apache-2.0
// The patches along each spatial axis, with the formula filled in.
#pragma once

#include "explain/lines.hpp"
#include "explain/subject.hpp"

namespace patchfold::explaining {

/// Writes the patches of each spatial axis; nothing for an operator without spatial axes.
void write_windows(Text& text, const Subject& subject);

}  // namespace patchfold::explaining
