// SPDX-License-Identifier: Apache-2.0
#include "formats/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>

#include "src/tensor/checked.hpp"

namespace patchfold::formats {
namespace {

/// Closes a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  int get() const noexcept { return value_; }

 private:
  int value_;
};

std::string kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

/// For file systems that cannot map a file.
FileBytes read_whole(int descriptor, std::int64_t size, const Subject& subject) {
  auto memory = allocate(size, subject);
  std::int64_t done = 0;
  while (done < size) {
    const auto count = ::read(descriptor, memory.get() + done, static_cast<std::size_t>(size - done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) subject.fail_system(ErrorCode::file_open, "cannot be read", errno);
    if (count == 0) break;
    done += count;
  }
  return {{memory.get(), static_cast<std::size_t>(done)}, memory};
}

}  // namespace

void Subject::fail(ErrorCode code, std::string rule, std::string given, std::string expected) const {
  throw Error({code, std::string(op), path.string(), std::move(rule), std::move(given), std::move(expected)});
}

void Subject::fail_system(ErrorCode code, std::string_view rule, int error_number) const {
  fail(code, std::string(rule) + ": " + std::generic_category().message(error_number));
}

FileBytes open_file(const Subject& subject) {
  // Without O_NONBLOCK opening a pipe would wait for somebody to write into it.
  const Descriptor file(::open(subject.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) subject.fail_system(ErrorCode::file_open, "cannot be opened", errno);
  struct stat status;
  if (::fstat(file.get(), &status) != 0) subject.fail_system(ErrorCode::file_open, "cannot be read", errno);
  if (!S_ISREG(status.st_mode)) subject.fail(ErrorCode::file_open, "must be a regular file", kind_of(status.st_mode));
  if (status.st_size == 0) return {};
  const auto size = static_cast<std::size_t>(status.st_size);
  void* mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (mapping == MAP_FAILED) return read_whole(file.get(), status.st_size, subject);
  std::shared_ptr<const void> owner(mapping, [size](const void* data) { ::munmap(const_cast<void*>(data), size); });
  return {{static_cast<const std::byte*>(mapping), size}, std::move(owner)};
}

std::shared_ptr<std::byte> allocate(std::int64_t bytes, const Subject& subject) {
  const auto pages = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES));
  const auto page = static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE));
  std::byte* memory = nullptr;
  if (pages <= 0 || page <= 0 || bytes / page <= pages)
    memory = new (std::nothrow) std::byte[static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1))];
  if (memory == nullptr)
    subject.fail(ErrorCode::out_of_memory, "needs more memory than there is", bytes_text(static_cast<std::uint64_t>(bytes)));
  return {memory, std::default_delete<std::byte[]>()};
}

std::optional<std::int64_t> byte_count(const Dims& shape, std::size_t element_size) {
  Checked bytes(static_cast<std::int64_t>(element_size));
  bool empty = false;
  for (const auto extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0)
      empty = true;
    else
      bytes = bytes * extent;
  }
  return empty && bytes.value() ? 0 : bytes.value();
}

Dims dense_strides(const Dims& shape, std::size_t element_size, bool fortran_order) {
  const int rank = shape.size();
  Dims strides = Dims::filled(rank, 0);
  auto stride = static_cast<std::int64_t>(element_size);
  for (int i = 0; i < rank; ++i) {
    const int axis = fortran_order ? i : rank - 1 - i;
    strides[axis] = stride;
    stride *= std::max<std::int64_t>(shape[axis], 1);
  }
  return strides;
}

std::string excerpt(std::string_view text) {
  std::string printable(text.substr(0, 40));
  for (char& c : printable)
    if (c < ' ' || c > '~') c = '?';
  return printable;
}

std::string bytes_text(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

}  // namespace patchfold::formats
