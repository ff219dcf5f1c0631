// SPDX-License-Identifier: Apache-2.0
// The instruction set that the kernels of each file run on now. It is not the one that was chosen if the file was compiled
// without that.
#pragma once

namespace patchfold::kernels {

const char* blend_target() noexcept;
const char* blocks_target() noexcept;
const char* stream_target() noexcept;
const char* sum_target() noexcept;
const char* tile_target() noexcept;

}  // namespace patchfold::kernels
