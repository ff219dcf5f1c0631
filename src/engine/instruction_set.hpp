// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace patchfold::engine {

/// Makes the plans that threads keep for repeated calls stale.
void forget_plans() noexcept;

}  // namespace patchfold::engine
