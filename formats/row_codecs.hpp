// SPDX-License-Identifier: Apache-2.0
// The functions with which rows.cpp opens and creates a file of each format.
#pragma once

#include "formats/rows.hpp"

namespace patchfold::formats {

/// Returns whether the bytes may begin a file of a known format; true if they are too few to tell.
bool begins_a_file(std::string_view first) noexcept;

std::unique_ptr<RowReader> open_npy(InputFile file, const std::filesystem::path& path);
std::unique_ptr<RowReader> open_png(InputFile file, const std::filesystem::path& path);
std::unique_ptr<RowReader> open_jpeg(InputFile file, const std::filesystem::path& path);
std::unique_ptr<RowReader> open_tiff(InputFile file, const std::filesystem::path& path, std::optional<int> page,
                                     int level);
/// Opens a PNG, JPEG or TIFF file. If the file is none of these, the error has the op "picture".
std::unique_ptr<RowReader> open_picture(const std::filesystem::path& path, std::optional<int> page, int level);

std::unique_ptr<RowWriter> create_npy(const std::filesystem::path& path, const Dims& shape, const ElementType& type);
std::unique_ptr<RowWriter> create_png(const std::filesystem::path& path, const Dims& shape, const ElementType& type,
                                      const WriteOptions& options);
std::unique_ptr<RowWriter> create_jpeg(const std::filesystem::path& path, const Dims& shape, const ElementType& type,
                                       const WriteOptions& options);
std::unique_ptr<RowWriter> create_tiff(const std::filesystem::path& path, const Dims& shape, const ElementType& type,
                                       const WriteOptions& options);

}  // namespace patchfold::formats
