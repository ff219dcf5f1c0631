// SPDX-License-Identifier: Apache-2.0
// Checks that a file gives the same elements row by row and as a whole, or is refused in both ways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "formats/npy.hpp"

namespace patchfold::fuzz {

/// Returns the elements of a tensor, row-major, without gaps.
std::vector<std::byte> elements_of(const ConstTensorView& tensor);

/// Reads a file, `rows_at_a_time` rows at a time, and compares it with `whole`.
void check_rows(const std::filesystem::path& path, std::optional<int> page, std::int64_t rows_at_a_time,
                const formats::LoadedTensor& whole);

}  // namespace patchfold::fuzz
