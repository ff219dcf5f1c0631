// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace patchfold::engine {

/// Forbids further use of the plans that threads keep for repeated calls.
void forget_plans() noexcept;

}  // namespace patchfold::engine
