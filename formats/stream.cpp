// SPDX-License-Identifier: Apache-2.0
#include "formats/stream.hpp"

#include <cerrno>
#include <charconv>
#include <map>
#include <mutex>
#include <vector>

#include "formats/row_codecs.hpp"
#include "system/terminal.hpp"

namespace patchfold::formats {
namespace {

struct Stored {
  Descriptor file;
  std::int64_t size = 0;
};

Stored store(int stream, const Subject& subject) {
  constexpr std::size_t longest_signature = 8;
  Stored stored{Descriptor(open_unnamed_file(subject))};
  std::vector<std::byte> buffer(std::size_t{1} << 18);
  std::size_t held = 0;
  while (true) {
    const auto count = system::read(stream, buffer.data() + held, buffer.size() - held);
    if (count < 0) subject.fail_system(ErrorCode::file_open, "cannot be read", errno);
    held += static_cast<std::size_t>(count);
    const bool is_begin = stored.size == 0;
    if (count > 0 && is_begin && held < longest_signature) continue;
    write_all(stored.file.get(), buffer.data(), held, subject, "cannot be stored in a temporary file");
    stored.size += static_cast<std::int64_t>(held);
    const std::string_view begin(reinterpret_cast<const char*>(buffer.data()), held);
    // A stream of unknown format may be endless, so reading ends after its first bytes.
    if (count == 0 || (is_begin && !begins_a_file(begin))) return stored;
    held = 0;
  }
}

}  // namespace

int standard_descriptor(std::string_view path, int dash) noexcept {
  if (path == "-") return dash;
  if (path == "/dev/stdin") return system::standard_input;
  if (path == "/dev/stdout") return system::standard_output;
  if (path == "/dev/stderr") return system::standard_error;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int number = -1;
    const char* last = path.data() + path.size();
    const auto [end, error] = std::from_chars(path.data() + folder.size(), last, number);
    if (error == std::errc() && end == last) return number;
  }
  return -1;
}

bool is_device_name(std::string_view path) noexcept {
  return path.starts_with("/dev/");
}

std::string kind_of_file(system::FileKind kind) {
  switch (kind) {
    case system::FileKind::folder: return "a folder";
    case system::FileKind::pipe: return "a pipe";
    case system::FileKind::socket: return "a socket";
    default: return "a device";
  }
}

int open_unnamed_file(const Subject& subject) {
  const std::string folder = system::temporary_folder();
  const int file = system::create_unnamed(folder);
  if (file < 0) subject.fail_system(ErrorCode::file_write, "needs a temporary file in " + folder + " ($TMPDIR)", errno);
  return file;
}

int open_stream(const Subject& reader, int stream, std::int64_t& size) {
  const std::filesystem::path name = reader.path == "-" ? "standard input" : reader.path;
  const Subject subject{reader.op, name};
  const auto own = [&](int descriptor) {
    const int result = system::duplicate(descriptor);
    if (result < 0) subject.fail_system(ErrorCode::file_open, "cannot be read", errno);
    return result;
  };
  system::FileStatus status;
  if (!system::get_status(stream, status)) subject.fail_system(ErrorCode::file_open, "cannot be read", errno);
  if (status.kind == system::FileKind::regular && system::is_at_start(stream)) {
    size = status.size;
    return own(stream);
  }
  if (status.kind == system::FileKind::folder)
    subject.fail(ErrorCode::file_open, "must be a file or a pipe", kind_of_file(status.kind));
  if (system::is_terminal(stream))
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
