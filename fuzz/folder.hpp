// SPDX-License-Identifier: Apache-2.0
// A folder for the files of one target, in memory where the system has such a file system.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

namespace patchfold::fuzz {

/// Returns a folder, made empty by the first call and removed with its content when the program ends.
const std::filesystem::path& folder();
/// Removes the files and folders in the folder.
void clear_folder();
/// Writes a file of that name (a relative path) and returns its path.
std::filesystem::path put_file(std::string_view name, std::span<const std::uint8_t> content);

}  // namespace patchfold::fuzz
