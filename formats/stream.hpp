// SPDX-License-Identifier: Apache-2.0
// Opens standard input and other open streams as files that can be read at any offset.
#pragma once

#include <cstdint>
#include <string>

#include "formats/file.hpp"
#include "system/file.hpp"

namespace patchfold::formats {

/// Returns a new descriptor for the bytes of a stream, and their number in `size`. A stream that cannot be read at any offset is
/// first stored, once for the process. Throws Error(file_open, file_write).
int open_stream(const Subject& subject, int stream, std::int64_t& size);

/// Returns "a folder", "a pipe", "a socket" or "a device".
std::string kind_of_file(system::FileKind kind);

}  // namespace patchfold::formats
