// SPDX-License-Identifier: Apache-2.0
#include "formats/output_file.hpp"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "formats/stream.hpp"
#include "system/memory.hpp"

namespace patchfold::formats {

void write_all(int descriptor, const std::byte* data, std::size_t bytes, const Subject& subject, std::string_view rule,
               std::optional<std::int64_t> offset) {
  while (bytes > 0) {
    const auto count = offset ? system::write_at(descriptor, data, bytes, *offset) : system::write(descriptor, data, bytes);
    if (count < 0) subject.fail_system(ErrorCode::file_write, rule, errno);
    data += count;
    if (offset) *offset += count;
    bytes -= static_cast<std::size_t>(count);
  }
}

OutputFile::OutputFile(std::filesystem::path path, std::string_view writer, Kind kind)
    : path_(std::move(path)), writer_(writer) {
  const Subject subject{writer_, path_};
  // A standard stream is written through its descriptor: if it is a redirected file, opening it again would lose the position.
  if (const int standard = standard_descriptor(path_.string(), system::standard_output); standard >= 0) {
    const int stream = system::duplicate(standard);
    if (stream < 0) subject.fail_system(ErrorCode::file_write, "cannot be written", errno);
    descriptor_ = stream;
    if (kind == Kind::regular) {
      descriptor_ = open_unnamed_file(subject);
      stream_ = stream;
    }
    return;
  }
  system::FileStatus status;
  const bool exists = system::get_status(path_, status);
  if (!exists && errno != ENOENT) subject.fail_system(ErrorCode::file_write, "cannot be written", errno);
  if ((exists && status.kind == system::FileKind::folder) || !path_.has_filename())
    subject.fail(ErrorCode::file_write, "must be the name of a file, not of a folder");
  if (exists && status.kind != system::FileKind::regular) {
    if (kind == Kind::regular)
      subject.fail(ErrorCode::file_write, "must be a regular file: it is not written from its first byte to its last");
    descriptor_ = system::open_to_write(path_);
    if (descriptor_ < 0) subject.fail_system(ErrorCode::file_write, "cannot be written", errno);
    return;
  }
  target_ = path_;
  if (exists) {
    // Renaming would replace even a write-protected file, so write protection is checked first.
    if (!system::may_write(path_)) subject.fail_system(ErrorCode::file_write, "cannot be written", errno);
    std::error_code error;
    target_ = std::filesystem::canonical(path_, error);
    if (error) subject.fail_system(ErrorCode::file_write, "cannot be written", error.default_error_condition().value());
  }
  create_temporary();
  if (exists) system::set_permissions(descriptor_, status.permissions);
}

OutputFile::~OutputFile() {
  unmap();
  if (stream_ >= 0) system::close(stream_);
  if (descriptor_ < 0) return;
  if (!temporary_.empty()) system::remove(temporary_);
  system::close(descriptor_);
}

void OutputFile::unmap() noexcept {
  if (mapping_ == nullptr) return;
  is_buffer_ ? system::free_pages(mapping_, mapped_bytes_) : system::unmap(mapping_, mapped_bytes_);
  mapping_ = nullptr;
}

void OutputFile::create_temporary() {
  const Subject subject{writer_, path_};
  // The dot hides the temporary file. The name is cut, since with dot and ending it may have at most 255 bytes. A killed
  // process leaves its file. The next process with the same output takes the same name, and so removes that file. The name
  // tells machines apart, since on some network file systems a machine does not see the locks of others.
  const std::string name = target_.filename().string();
  std::size_t length = std::min<std::size_t>(name.size(), 200);
  // Windows and macOS refuse names that end within a character of UTF-8.
  while (length > 0 && length < name.size() && (static_cast<unsigned char>(name[length]) & 0xC0U) == 0x80U) --length;
  std::string stem = "." + name.substr(0, length);
  stem += "." + std::to_string(std::hash<std::string>()(system::host_name())) + ".";
  std::random_device random;
  constexpr int numbered = 64;  // more files for the same output at the same time get random numbers
  for (int attempt = 0; attempt < 100 && descriptor_ < 0; ++attempt) {
    const auto number = attempt < numbered ? static_cast<unsigned>(attempt) : random();
    temporary_ = target_.parent_path() / (stem + std::to_string(number) + ".tmp");
    descriptor_ = system::create(temporary_);
    if (descriptor_ < 0 && errno != EEXIST && errno != EINTR) break;
  }
  if (descriptor_ < 0) subject.fail_system(ErrorCode::file_write, "cannot be written", errno);
}

void OutputFile::write(const void* data, std::size_t bytes) {
  write_all(descriptor_, static_cast<const std::byte*>(data), bytes, {writer_, path_});
}

void OutputFile::write_at(std::int64_t offset, const void* data, std::size_t bytes) {
  write_all(descriptor_, static_cast<const std::byte*>(data), bytes, {writer_, path_}, "cannot be written", offset);
}

std::size_t OutputFile::read_at(std::int64_t offset, void* dst, std::size_t bytes) {
  const auto count = system::read_at(descriptor_, dst, bytes, offset);
  if (count < 0) Subject{writer_, path_}.fail_system(ErrorCode::file_write, "cannot be read back", errno);
  return static_cast<std::size_t>(count);
}

std::byte* OutputFile::map(std::size_t bytes) {
  const Subject subject{writer_, path_};
  if (bytes == 0) return nullptr;
  void* mapping = nullptr;
  if (!temporary_.empty()) {
    if (const int error = system::reserve(descriptor_, bytes))
      subject.fail_system(ErrorCode::file_write, "cannot be made " + bytes_text(bytes) + " long", error);
    mapping = system::map_to_write(descriptor_, bytes);
  }
  if (mapping == nullptr) {  // not a regular file, or the file system cannot map it
    mapping = system::allocate_pages(bytes);
    if (mapping == nullptr) subject.fail(ErrorCode::out_of_memory, "needs more memory than there is", bytes_text(bytes));
    is_buffer_ = true;
  }
  mapping_ = mapping;
  mapped_bytes_ = bytes;
  return static_cast<std::byte*>(mapping);
}

void OutputFile::copy_to_stream() {
  const Subject subject{writer_, path_};
  std::vector<std::byte> buffer(std::size_t{1} << 18);
  std::int64_t at = 0;
  while (const std::size_t count = read_at(at, buffer.data(), buffer.size())) {
    write_all(stream_, buffer.data(), count, subject);
    at += static_cast<std::int64_t>(count);
  }
  system::close(std::exchange(descriptor_, std::exchange(stream_, -1)));
}

void OutputFile::commit() {
  if (descriptor_ < 0) return;
  const Subject subject{writer_, path_};
  if (is_buffer_) write_all(descriptor_, static_cast<const std::byte*>(mapping_), mapped_bytes_, subject);
  unmap();
  if (stream_ >= 0) copy_to_stream();
  const int locked = temporary_.empty() ? -1 : system::duplicate(descriptor_);
  int error = system::close(std::exchange(descriptor_, -1));
  if (temporary_.empty()) {
    if (error != 0) subject.fail_system(ErrorCode::file_write, "cannot be written", error);
    return;
  }
  if (error == 0 && !system::replace(temporary_, target_)) error = errno;
  if (error != 0) system::remove(temporary_);
  if (locked >= 0) system::close(locked);  // only now, since other processes may remove an unlocked temporary file
  if (error == 0) return;
  subject.fail_system(ErrorCode::file_write, "cannot be written", error);
}

}  // namespace patchfold::formats
