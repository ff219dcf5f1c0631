// SPDX-License-Identifier: Apache-2.0
// What the build puts into the library: the texts of the kernels, and compiled kernels.
#pragma once

#include <span>
#include <string_view>

namespace patchfold::device {

/// Returns the text of a file of kernels/, or of half.h: "move" for move.h.
std::string_view text_of_kernels(std::string_view name);
/// Return kernels that nvcc compiled, as one image for cuModuleLoadData: machine code for every architecture, or PTX. Empty
/// in a build without nvcc.
std::span<const unsigned char> cubins();
std::span<const unsigned char> ptx();

}  // namespace patchfold::device
