// SPDX-License-Identifier: Apache-2.0
// What all readers and writers share: files as bytes, memory, and errors that name the file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "patchfold/tensor.hpp"

namespace patchfold::formats {

/// Who reads or writes which file, as errors name them.
struct Subject {
  std::string_view op;
  const std::filesystem::path& path;

  [[noreturn]] void fail(ErrorCode code, std::string rule, std::string given = {}, std::string expected = {}) const;
  /// The same for a failed system call: "RULE: what errno means".
  [[noreturn]] void fail_system(ErrorCode code, std::string_view rule, int error_number) const;
};

/// The bytes of a whole file. They are the file itself, mapped: nobody may shorten it while it is read.
struct FileBytes {
  std::span<const std::byte> bytes{};
  std::shared_ptr<const void> owner{};
};

/// Opens a regular file; anything else (a folder, a pipe, a device) is Error(file_open).
FileBytes open_file(const Subject& subject);

/// Memory without initial values. Throws Error(out_of_memory), also for more than the machine has.
std::shared_ptr<std::byte> allocate(std::int64_t bytes, const Subject& subject);

/// Bytes of a tensor; nothing if an extent is negative, or if the product of those that are not 0 exceeds 63 bits.
std::optional<std::int64_t> byte_count(const Dims& shape, std::size_t element_size);

/// Byte strides of a tensor without gaps whose size byte_count() has checked: the last axis is the innermost one, or, with
/// `fortran_order`, the first.
Dims dense_strides(const Dims& shape, std::size_t element_size, bool fortran_order = false);

/// At most the first 40 characters, with '?' for what is not printable ASCII.
std::string excerpt(std::string_view text);
/// "1 byte", "7 bytes".
std::string bytes_text(std::uint64_t count);

}  // namespace patchfold::formats
