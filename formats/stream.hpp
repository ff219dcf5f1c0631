// SPDX-License-Identifier: Apache-2.0
// Opens standard input and other open streams as files that can be read at any offset.
#pragma once

#include <cstdint>
#include <string>

#include "formats/file.hpp"
#include "system/file.hpp"

namespace patchfold::formats {

/// Returns a new descriptor for the bytes of a stream; `size` gets their number. A stream that cannot be read at any offset is
/// first stored, once for the process. Throws Error(file_open, file_write).
int open_stream(const Subject& subject, int stream, std::int64_t& size);

/// Writes at `offset`; without one, at the file's position. Throws Error(file_write) with the rule.
void write_all(int descriptor, const std::byte* data, std::size_t bytes, const Subject& subject,
               std::string_view rule = "cannot be written", std::optional<std::int64_t> offset = std::nullopt);

/// Returns the kind in words: "a folder", "a pipe", "a socket" or "a device".
std::string kind_of_file(system::FileKind kind);

}  // namespace patchfold::formats
