// SPDX-License-Identifier: Apache-2.0
// Serves tests. Each function returns the instruction set on which the kernels of one file run now. The returned set differs from
// the chosen set if the file was compiled without the chosen set.
#pragma once

namespace patchfold::kernels {

const char* blend_target() noexcept;
const char* blocks_target() noexcept;
const char* extract_map_target() noexcept;
const char* mean_target() noexcept;
const char* mean_map_target() noexcept;
const char* stream_target() noexcept;
const char* sum_target() noexcept;
const char* sum_map_target() noexcept;
const char* plane_target() noexcept;
const char* weigh_target() noexcept;

}  // namespace patchfold::kernels
