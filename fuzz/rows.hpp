// SPDX-License-Identifier: Apache-2.0
// Checks that reading row by row gives the same elements as reading the whole file, or that both are refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "formats/npy.hpp"

namespace patchfold::fuzz {

/// Returns the elements, row-major, without gaps.
std::vector<std::byte> elements_of(const ConstTensorView& tensor);

/// Reads as many rows at a time as `rows_at_a_time` and compares them with `whole`.
void check_rows(const std::filesystem::path& path, std::optional<int> page, std::int64_t rows_at_a_time,
                const formats::LoadedTensor& whole);

}  // namespace patchfold::fuzz
