// SPDX-License-Identifier: Apache-2.0
// Files of the operating system, by descriptors. Names in strings are the system's bytes; on Windows, whose names are
// UTF-16, they are UTF-8. Unless they say otherwise, functions return -1, nullptr or false where the system cannot, with
// errno; none is ended early by a signal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace patchfold::system {

/// Descriptors that every process has.
inline constexpr int standard_input = 0, standard_output = 1, standard_error = 2;

enum class FileKind : std::uint8_t { regular, folder, pipe, socket, device };

struct FileStatus {
  FileKind kind = FileKind::regular;
  std::int64_t size = 0;
  unsigned permissions = 0;  ///< what set_permissions takes
};

/// Opens at once, also a pipe that nobody writes into.
int open_to_read(const std::filesystem::path& path) noexcept;
/// Opens what is there already and is no regular file: a pipe or a device.
int open_to_write(const std::filesystem::path& path) noexcept;
/// A new file, to be read and written; EEXIST where there is one.
int create(const std::filesystem::path& path) noexcept;
/// The folder for temporary files: what TMPDIR says, or what the system has.
std::string temporary_folder();
/// A file that is gone once it is closed.
int create_unnamed(const std::string& folder);
/// A descriptor beside the standard ones for the same file or stream.
int duplicate(int descriptor) noexcept;
/// Returns 0 or the error number; the descriptor is closed in any case.
int close(int descriptor) noexcept;

bool get_status(const std::filesystem::path& path, FileStatus& status) noexcept;
bool get_status(int descriptor, FileStatus& status) noexcept;
/// Whether an existing file may be written.
bool may_write(const std::filesystem::path& path) noexcept;
/// Does what it can.
void set_permissions(int descriptor, unsigned permissions) noexcept;
/// Whether the next byte that is read is the first one of the file.
bool is_at_start(int descriptor) noexcept;

/// Waits for bytes; 0 at the end.
std::int64_t read(int descriptor, void* dst, std::size_t bytes) noexcept;
std::int64_t write(int descriptor, const void* src, std::size_t bytes) noexcept;
/// At any place of a regular file. On Windows one thread at a time: the position that read() and write() have moves
/// meanwhile.
std::int64_t read_at(int descriptor, void* dst, std::size_t bytes, std::int64_t offset) noexcept;
std::int64_t write_at(int descriptor, const void* src, std::size_t bytes, std::int64_t offset) noexcept;
/// Makes the file `bytes` long with space on the disk for all of them: a full disk must be an error here, not a signal when
/// the mapped file is touched. Returns 0 or the error number.
int reserve(int descriptor, std::size_t bytes) noexcept;

/// Gives a file the name `to` in one step, also if another file has it.
bool replace(const std::filesystem::path& from, const std::filesystem::path& to) noexcept;
void remove(const std::filesystem::path& path) noexcept;
/// The names of all entries of a folder, in any order, behind those that are there. Returns 0 or the error number.
/// std::filesystem would end the program where memory runs out: libstdc++ makes entries in functions that must not throw.
int list_folder(const std::filesystem::path& folder, std::vector<std::string>& names);

}  // namespace patchfold::system
