// SPDX-License-Identifier: Apache-2.0
// Metadata of TIFF files.
#pragma once

#include <tiffio.h>

#include "formats/metadata.hpp"

namespace patchfold::formats {

/// Reads the metadata of the file's current page.
Metadata tiff_metadata(TIFF* tiff);
/// Sets the fields of a page that is being written; returns false if libtiff refused a field.
bool set_tiff_metadata(TIFF* tiff, const Metadata& metadata);
/// Returns the number of bytes of the fields in a file.
std::size_t metadata_bytes(const Metadata& metadata) noexcept;

}  // namespace patchfold::formats
