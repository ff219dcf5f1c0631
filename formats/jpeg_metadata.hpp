// SPDX-License-Identifier: Apache-2.0
// Metadata of JPEG files.
#pragma once

#include <cstdio>

// jpeglib.h needs <cstdio> before it.
#include <jpeglib.h>

#include <string>
#include <utility>
#include <vector>

#include "formats/metadata.hpp"

namespace patchfold::formats {

/// Returns the metadata in the markers APP1, APP2 and COM. Before the codec read the header, it must have been told to keep
/// these markers.
Metadata jpeg_metadata(const jpeg_decompress_struct& codec);
/// Sets the resolution. Call this function after the codec's defaults are set and before the codec starts.
void set_jpeg_resolution(jpeg_compress_struct& codec, const Metadata& metadata);
/// Returns the markers with the metadata: the kind and the bytes of each, in the order in which a file has them before its pixels.
std::vector<std::pair<int, std::string>> jpeg_markers(const Metadata& metadata);

}  // namespace patchfold::formats
