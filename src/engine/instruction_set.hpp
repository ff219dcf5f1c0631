// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace patchfold::engine {

/// Makes later calls plan anew: they no longer use the plans that threads have kept for repeated calls.
void forget_plans() noexcept;

}  // namespace patchfold::engine
