// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace patchfold::engine {

/// Applies PATCHFOLD_INSTRUCTION_SET, once. Throws Error(value) if it names none that is there.
void apply_environment();

/// Makes plans that threads keep for repeated calls stale.
void forget_plans() noexcept;

}  // namespace patchfold::engine
