// SPDX-License-Identifier: Apache-2.0
#include "formats/output_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "formats/file.hpp"

namespace patchfold::formats {
namespace {

/// Writes at `offset`, or where the file's position is.
void write_all(int descriptor, const std::byte* data, std::size_t bytes, const Subject& subject,
               std::optional<off_t> offset = std::nullopt) {
  while (bytes > 0) {
    const auto count = offset ? ::pwrite(descriptor, data, bytes, *offset) : ::write(descriptor, data, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) subject.fail_system(ErrorCode::file_write, "cannot be written", errno);
    data += count;
    if (offset) *offset += count;
    bytes -= static_cast<std::size_t>(count);
  }
}

/// Makes the file `bytes` long with blocks on the disk for all of them: a full disk must be an error here, not a signal when
/// the mapped file is touched.
void reserve(int descriptor, std::size_t bytes, const Subject& subject) {
  const auto length = static_cast<off_t>(bytes);
  int error = EINTR;
  while (error == EINTR) error = ::posix_fallocate(descriptor, 0, length);
  if (error == EOPNOTSUPP || error == ENOSYS || error == EINVAL) error = ::ftruncate(descriptor, length) == 0 ? 0 : errno;
  if (error != 0) subject.fail_system(ErrorCode::file_write, "cannot be made " + bytes_text(bytes) + " long", error);
}

}  // namespace

OutputFile::OutputFile(std::filesystem::path path, std::string_view writer, Kind kind)
    : path_(std::move(path)), writer_(writer) {
  const Subject subject{writer_, path_};
  const auto check_direct = [&] {
    if (kind == Kind::regular)
      subject.fail(ErrorCode::file_write, "must be a regular file: it is not written from its first byte to its last");
  };
  // Opening it anew would lose the position of a redirected file.
  if (const int standard = standard_descriptor(path_.native(), STDOUT_FILENO); standard >= 0) {
    const int stream = ::fcntl(standard, F_DUPFD_CLOEXEC, 0);
    if (stream < 0) subject.fail_system(ErrorCode::file_write, "cannot be written", errno);
    descriptor_ = stream;
    if (kind == Kind::regular) {
      descriptor_ = open_unnamed_file(subject);
      stream_ = stream;
    }
    return;
  }
  struct stat status;
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) subject.fail_system(ErrorCode::file_write, "cannot be written", errno);
  if ((exists && S_ISDIR(status.st_mode)) || !path_.has_filename())
    subject.fail(ErrorCode::file_write, "must be the name of a file, not of a folder");
  if (exists && !S_ISREG(status.st_mode)) {
    check_direct();
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) subject.fail_system(ErrorCode::file_write, "cannot be written", errno);
    return;
  }
  target_ = path_;
  if (exists) {
    // Renaming would replace a write-protected file without asking.
    if (::faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) != 0)
      subject.fail_system(ErrorCode::file_write, "cannot be written", errno);
    std::error_code error;
    target_ = std::filesystem::canonical(path_, error);
    if (error) subject.fail_system(ErrorCode::file_write, "cannot be written", error.value());
  }
  create_temporary();
  if (exists) ::fchmod(descriptor_, status.st_mode & 0777);
}

OutputFile::~OutputFile() {
  if (mapping_ != nullptr) ::munmap(mapping_, mapped_bytes_);
  if (stream_ >= 0) ::close(stream_);
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::create_temporary() {
  const Subject subject{writer_, path_};
  // A dot hides it, and a long name is cut so that it stays within the 255 bytes that a name may have.
  std::string stem = ".";
  stem.append(target_.filename().string(), 0, 200).append(".");
  std::random_device random;
  for (int attempt = 0; attempt < 100 && descriptor_ < 0; ++attempt) {
    temporary_ = target_.parent_path() / (stem + std::to_string(random()) + ".tmp");
    // The kernel applies the umask, which mkstemp would not.
    descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST && errno != EINTR) break;
  }
  if (descriptor_ < 0) subject.fail_system(ErrorCode::file_write, "cannot be written", errno);
}

void OutputFile::write(const void* data, std::size_t bytes) {
  write_all(descriptor_, static_cast<const std::byte*>(data), bytes, {writer_, path_});
}

void OutputFile::write_at(std::int64_t offset, const void* data, std::size_t bytes) {
  write_all(descriptor_, static_cast<const std::byte*>(data), bytes, {writer_, path_}, offset);
}

std::size_t OutputFile::read_at(std::int64_t offset, void* dst, std::size_t bytes) {
  while (true) {
    const auto count = ::pread(descriptor_, dst, bytes, offset);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) Subject{writer_, path_}.fail_system(ErrorCode::file_write, "cannot be read back", errno);
  }
}

std::byte* OutputFile::map(std::size_t bytes) {
  const Subject subject{writer_, path_};
  if (bytes == 0) return nullptr;
  void* mapping = MAP_FAILED;
  if (!temporary_.empty()) {
    reserve(descriptor_, bytes, subject);
    mapping = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  }
  if (mapping == MAP_FAILED) {  // not a file, or on a file system that cannot map it
    mapping = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) subject.fail(ErrorCode::out_of_memory, "needs more memory than there is", bytes_text(bytes));
    is_buffer_ = true;
  }
  mapping_ = mapping;
  mapped_bytes_ = bytes;
  return static_cast<std::byte*>(mapping);
}

void OutputFile::copy_to_stream() {
  const Subject subject{writer_, path_};
  std::vector<std::byte> buffer(std::size_t{1} << 18);
  off_t at = 0;
  while (const std::size_t count = read_at(at, buffer.data(), buffer.size())) {
    write_all(stream_, buffer.data(), count, subject);
    at += static_cast<off_t>(count);
  }
  ::close(std::exchange(descriptor_, std::exchange(stream_, -1)));
}

void OutputFile::commit() {
  if (descriptor_ < 0) return;
  const Subject subject{writer_, path_};
  if (is_buffer_) write_all(descriptor_, static_cast<const std::byte*>(mapping_), mapped_bytes_, subject);
  if (mapping_ != nullptr) ::munmap(mapping_, mapped_bytes_);
  mapping_ = nullptr;
  if (stream_ >= 0) copy_to_stream();
  const int closed = ::close(std::exchange(descriptor_, -1));
  int error = closed == 0 || errno == EINTR ? 0 : errno;
  if (temporary_.empty()) {
    if (error != 0) subject.fail_system(ErrorCode::file_write, "cannot be written", error);
    return;
  }
  if (error == 0 && ::rename(temporary_.c_str(), target_.c_str()) != 0) error = errno;
  if (error == 0) return;
  ::unlink(temporary_.c_str());
  subject.fail_system(ErrorCode::file_write, "cannot be written", error);
}

}  // namespace patchfold::formats
