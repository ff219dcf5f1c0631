// SPDX-License-Identifier: Apache-2.0
#include "formats/stream.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "formats/row_codecs.hpp"

namespace patchfold::formats {
namespace {

/// Descriptors that are closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

struct Stored {
  Descriptor file;
  std::int64_t size = 0;
};

/// 0 at the end; throws Error(file_open).
std::size_t read_some(int stream, std::byte* dst, std::size_t bytes, const Subject& subject) {
  while (true) {
    const auto count = ::read(stream, dst, bytes);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EAGAIN) {
      pollfd ready{stream, POLLIN, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      subject.fail_system(ErrorCode::file_open, "cannot be read", errno);
    }
  }
}

void append(int file, const std::byte* data, std::size_t bytes, const Subject& subject) {
  while (bytes > 0) {
    const auto count = ::write(file, data, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) subject.fail_system(ErrorCode::file_write, "cannot be stored in a temporary file", errno);
    data += count;
    bytes -= static_cast<std::size_t>(count);
  }
}

Stored store(int stream, const Subject& subject) {
  constexpr std::size_t longest_signature = 8;
  Stored stored{Descriptor(open_unnamed_file(subject))};
  std::vector<std::byte> buffer(std::size_t{1} << 18);
  std::size_t held = 0;
  while (true) {
    const std::size_t count = read_some(stream, buffer.data() + held, buffer.size() - held, subject);
    held += count;
    const bool is_begin = stored.size == 0;
    if (count > 0 && is_begin && held < longest_signature) continue;
    append(stored.file.get(), buffer.data(), held, subject);
    stored.size += static_cast<std::int64_t>(held);
    const std::string_view begin(reinterpret_cast<const char*>(buffer.data()), held);
    // What no reader takes may have no end.
    if (count == 0 || (is_begin && !begins_a_file(begin))) return stored;
    held = 0;
  }
}

}  // namespace

int standard_descriptor(std::string_view path, int dash) noexcept {
  if (path == "-") return dash;
  if (path == "/dev/stdin") return STDIN_FILENO;
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int number = -1;
    const char* last = path.data() + path.size();
    const auto [end, error] = std::from_chars(path.data() + folder.size(), last, number);
    if (error == std::errc() && end == last) return number;
  }
  return -1;
}

std::string kind_of_file(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

int open_unnamed_file(const Subject& subject) {
  const char* chosen = std::getenv("TMPDIR");
  const std::string folder = chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
  int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
    std::string name = folder + "/patchfold-XXXXXX";
    file = ::mkostemp(name.data(), O_CLOEXEC);
    if (file >= 0) ::unlink(name.c_str());
  }
  if (file < 0) subject.fail_system(ErrorCode::file_write, "needs a temporary file in " + folder + " ($TMPDIR)", errno);
  return file;
}

int open_stream(const Subject& reader, int stream, std::int64_t& size) {
  const std::filesystem::path name = reader.path == "-" ? "standard input" : reader.path;
  const Subject subject{reader.op, name};
  const auto own = [&](int descriptor) {
    const int result = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (result < 0) subject.fail_system(ErrorCode::file_open, "cannot be read", errno);
    return result;
  };
  struct stat status;
  if (::fstat(stream, &status) != 0) subject.fail_system(ErrorCode::file_open, "cannot be read", errno);
  if (S_ISREG(status.st_mode) && ::lseek(stream, 0, SEEK_CUR) == 0) {
    size = status.st_size;
    return own(stream);
  }
  if (S_ISDIR(status.st_mode)) subject.fail(ErrorCode::file_open, "must be a file or a pipe", kind_of_file(status.st_mode));
  if (::isatty(stream) == 1)
    subject.fail(ErrorCode::file_open, "must be a file or a pipe", "a terminal", "COMMAND | patchfold .., or < FILE");

  static std::mutex mutex;
  static std::map<int, Stored> all;
  const std::lock_guard lock(mutex);
  auto stored = all.find(stream);
  if (stored == all.end()) stored = all.emplace(stream, store(stream, subject)).first;
  size = stored->second.size;
  return own(stored->second.file.get());
}

}  // namespace patchfold::formats
