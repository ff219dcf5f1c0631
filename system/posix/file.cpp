// SPDX-License-Identifier: Apache-2.0
#include "system/file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace patchfold::system {
namespace {

FileStatus status_of(const struct stat& found) noexcept {
  const auto mode = found.st_mode;
  const FileKind kind = S_ISREG(mode)    ? FileKind::regular
                        : S_ISDIR(mode)  ? FileKind::folder
                        : S_ISFIFO(mode) ? FileKind::pipe
                        : S_ISSOCK(mode) ? FileKind::socket
                                         : FileKind::device;
  return {kind, found.st_size, static_cast<unsigned>(mode & 0777)};
}

/// Returns whether the path names the regular file of the descriptor, and not another file that replaced it.
bool is_at(const std::filesystem::path& path, int descriptor) noexcept {
  struct stat named, opened;
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(descriptor, &opened) == 0 && S_ISREG(opened.st_mode) &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

/// Removes a file that a killed process left. Only the process that holds the lock removes or renames a file.
void remove_unlocked(const std::filesystem::path& path) noexcept {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return;
  if (::flock(file, LOCK_EX | LOCK_NB) == 0 && is_at(path, file)) ::unlink(path.c_str());
  ::close(file);
}

struct FolderCloser {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

}  // namespace

int open_to_read(const std::filesystem::path& path) noexcept {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

int open_to_write(const std::filesystem::path& path) noexcept {
  return ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
}

int create(const std::filesystem::path& path) noexcept {
  // open() applies the umask to the permissions; mkstemp() would not.
  const auto make = [&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666); };
  int file = make();
  if (file < 0 && errno == EEXIST) {
    remove_unlocked(path);
    file = make();
  }
  if (file < 0) return -1;
  // Before the lock was there, another process may have taken the file for one that a killed process left. File systems
  // without locks fail with other errors, and then nobody removes the file.
  const bool is_other = ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (!is_other && is_at(path, file)) return file;
  ::close(file);
  return errno = EEXIST, -1;
}

std::string host_name() {
  char name[256] = "";
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

std::string temporary_folder() {
  const char* chosen = std::getenv("TMPDIR");
  return chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
}

int create_unnamed(const std::string& folder) {
#ifdef O_TMPFILE
  const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)) return file;
#endif
  std::string name = folder + "/patchfold-XXXXXX";
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

int duplicate(int descriptor) noexcept {
  return ::fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
}

int close(int descriptor) noexcept {
  return ::close(descriptor) == 0 || errno == EINTR ? 0 : errno;
}

bool get_status(const std::filesystem::path& path, FileStatus& status) noexcept {
  struct stat found;
  if (::stat(path.c_str(), &found) != 0) return false;
  status = status_of(found);
  return true;
}

bool get_status(int descriptor, FileStatus& status) noexcept {
  struct stat found;
  if (::fstat(descriptor, &found) != 0) return false;
  status = status_of(found);
  return true;
}

bool may_write(const std::filesystem::path& path) noexcept {
  return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

void set_permissions(int descriptor, unsigned permissions) noexcept {
  ::fchmod(descriptor, static_cast<mode_t>(permissions));
}

bool is_at_start(int descriptor) noexcept {
  return ::lseek(descriptor, 0, SEEK_CUR) == 0;
}

std::int64_t read(int descriptor, void* dst, std::size_t bytes) noexcept {
  while (true) {
    const auto count = ::read(descriptor, dst, bytes);
    if (count >= 0) return count;
    if (errno == EAGAIN) {
      pollfd ready{descriptor, POLLIN, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return -1;
    }
  }
}

std::int64_t write(int descriptor, const void* src, std::size_t bytes) noexcept {
  while (true) {
    const auto count = ::write(descriptor, src, bytes);
    if (count >= 0 || errno != EINTR) return count;
  }
}

std::int64_t read_at(int descriptor, void* dst, std::size_t bytes, std::int64_t offset) noexcept {
  while (true) {
    const auto count = ::pread(descriptor, dst, bytes, offset);
    if (count >= 0 || errno != EINTR) return count;
  }
}

std::int64_t write_at(int descriptor, const void* src, std::size_t bytes, std::int64_t offset) noexcept {
  while (true) {
    const auto count = ::pwrite(descriptor, src, bytes, offset);
    if (count >= 0 || errno != EINTR) return count;
  }
}

int reserve(int descriptor, std::size_t bytes) noexcept {
  const auto length = static_cast<off_t>(bytes);
  int error = EOPNOTSUPP;
#ifndef __APPLE__
  do error = ::posix_fallocate(descriptor, 0, length);
  while (error == EINTR);
#endif
  if (error == EOPNOTSUPP || error == ENOSYS || error == EINVAL) error = ::ftruncate(descriptor, length) == 0 ? 0 : errno;
  return error;
}

bool replace(const std::filesystem::path& from, const std::filesystem::path& to) noexcept {
  return ::rename(from.c_str(), to.c_str()) == 0;
}

void remove(const std::filesystem::path& path) noexcept {
  ::unlink(path.c_str());
}

int list_folder(const std::filesystem::path& folder, std::vector<std::string>& names) {
  const std::unique_ptr<DIR, FolderCloser> opened(::opendir(folder.c_str()));
  if (!opened) return errno;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(opened.get());
    if (entry == nullptr) return errno;
    names.emplace_back(entry->d_name);
    if (names.back() == "." || names.back() == "..") names.pop_back();
  }
}

}  // namespace patchfold::system
