// SPDX-License-Identifier: Apache-2.0
// Files of the operating system, by descriptors. Names in strings are the system's bytes; on Windows, whose names are UTF-16,
// strings are UTF-8. If the system fails, functions return -1, nullptr or false and set errno, unless a comment says otherwise. A
// signal does not interrupt these functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace patchfold::system {

/// The descriptors that every process has.
inline constexpr int standard_input = 0, standard_output = 1, standard_error = 2;

enum class FileKind : std::uint8_t { regular, folder, pipe, socket, device };

struct FileStatus {
  FileKind kind = FileKind::regular;
  std::int64_t size = 0;
  unsigned permissions = 0;  ///< in the form that set_permissions() takes
};

/// Opens a file to read, without waiting: even a named pipe to which nobody writes.
int open_to_read(const std::filesystem::path& path) noexcept;
/// Opens an existing pipe or device to write.
int open_to_write(const std::filesystem::path& path) noexcept;
/// Creates a new file to read and write, which is locked until all its descriptors are closed. A file that exists is removed
/// first if no process of this machine has it locked, since the process that made it was killed; otherwise fails with EEXIST.
int create(const std::filesystem::path& path) noexcept;
/// Returns this machine's name in its network.
std::string host_name();
/// Returns the folder for temporary files: TMPDIR, or the system's default.
std::string temporary_folder();
/// Creates a file without a name, which disappears when it is closed.
int create_unnamed(const std::string& folder);
/// Returns a new descriptor for the same file or stream, above the numbers of the standard descriptors.
int duplicate(int descriptor) noexcept;
/// Closes the descriptor, even if it returns an error. Returns 0 or the error number.
int close(int descriptor) noexcept;

bool get_status(const std::filesystem::path& path, FileStatus& status) noexcept;
bool get_status(int descriptor, FileStatus& status) noexcept;
/// Returns whether this process may write an existing file.
bool may_write(const std::filesystem::path& path) noexcept;
/// Sets the permissions of a file as far as the system allows; failures are ignored.
void set_permissions(int descriptor, unsigned permissions) noexcept;
/// Returns whether the next byte that read() would return is the first byte of the file.
bool is_at_start(int descriptor) noexcept;

/// Waits for bytes and reads them. Returns their number; 0 at the end of the file.
std::int64_t read(int descriptor, void* dst, std::size_t bytes) noexcept;
std::int64_t write(int descriptor, const void* src, std::size_t bytes) noexcept;
/// Reads at any offset of a regular file. On Windows only one thread at a time may call read_at(), because it moves the position
/// that read() and write() use, and then restores it.
std::int64_t read_at(int descriptor, void* dst, std::size_t bytes, std::int64_t offset) noexcept;
std::int64_t write_at(int descriptor, const void* src, std::size_t bytes, std::int64_t offset) noexcept;
/// Makes the file `bytes` long and reserves its space on the disk. So a full disk is an error here, and not a signal when the
/// mapped file is written. Returns 0 or the error number.
int reserve(int descriptor, std::size_t bytes) noexcept;

/// Renames a file to `to` in one step, in place of any file with this name.
bool replace(const std::filesystem::path& from, const std::filesystem::path& to) noexcept;
void remove(const std::filesystem::path& path) noexcept;
/// Appends the names of all entries of a folder, in any order. Returns 0 or the error number. std::filesystem would end the program
/// if memory ran out: libstdc++ allocates entries in functions that must not throw.
int list_folder(const std::filesystem::path& folder, std::vector<std::string>& names);

}  // namespace patchfold::system
