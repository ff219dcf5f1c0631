// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/program.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace patchfold::cli_test {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Whether a file is there, or something lies in a pipe.
bool has_come(const std::filesystem::path& path) {
  if (!std::filesystem::is_fifo(path)) return std::filesystem::exists(path);
  const int pipe = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  int bytes = 0;
  ::ioctl(pipe, FIONREAD, &bytes);
  ::close(pipe);
  return bytes > 0;
}

/// Whether it is time for the signal.
bool is_time(const std::filesystem::path& folder, const Setting& setting) {
  if (!setting.signal_once.empty()) return has_come(folder / setting.signal_once);
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".tmp") return true;
  return false;
}

/// What the child does before it becomes the program; only calls that are safe after fork.
void prepare_child(const char* folder, const Setting& setting, int in, int out, int err) {
  if (::chdir(folder) != 0) ::_exit(126);
  if (in >= 0) {
    ::dup2(in, 0);
  } else {
    const int file = ::open(setting.input.empty() ? "/dev/null" : setting.input.c_str(), O_RDONLY);
    if (file < 0) ::_exit(126);
    ::dup2(file, 0);
    ::close(file);
  }
  if (setting.close_output)
    ::close(1);
  else
    ::dup2(out, 1);
  ::dup2(err, 2);
  if (setting.largest_file) {
    const rlimit limit{*setting.largest_file, *setting.largest_file};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (setting.unprivileged && ::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(126);
}

int open_anonymous() {
  char name[] = "/tmp/patchfold-test-XXXXXX";
  const int descriptor = ::mkostemp(name, O_CLOEXEC);
  ::unlink(name);
  return descriptor;
}

struct Terminal {
  int ours = -1;
  int program = -1;
};

Terminal open_terminal(int columns = 0) {
  const int ours = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (ours < 0 || ::grantpt(ours) != 0 || ::unlockpt(ours) != 0) throw std::runtime_error("no terminal");
  winsize size{};
  size.ws_col = static_cast<unsigned short>(columns);
  if (columns > 0) ::ioctl(ours, TIOCSWINSZ, &size);
  return {ours, ::open(::ptsname(ours), O_RDWR | O_NOCTTY | O_CLOEXEC)};
}

/// What a terminal shows, once its other end is closed.
std::string drain_terminal(int descriptor) {
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = ::read(descriptor, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  ::close(descriptor);
  return text;
}

/// The end of a pipe that a process of ours fills; it ends when nobody reads any more.
int open_filled_pipe(const std::string& bytes, pid_t& writer) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  writer = ::fork();
  if (writer == 0) {
    ::close(ends[0]);
    for (std::size_t at = 0; at < bytes.size();) {
      const ssize_t count = ::write(ends[1], bytes.data() + at, bytes.size() - at);
      if (count <= 0) break;
      at += static_cast<std::size_t>(count);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  return ends[0];
}

std::string drain(int descriptor) {
  std::string text;
  char buffer[4096];
  ::lseek(descriptor, 0, SEEK_SET);
  for (ssize_t count; (count = ::read(descriptor, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  ::close(descriptor);
  return text;
}

/// The text between quotes, or the balanced list, that follows `key`.
std::string header_entry(std::string_view header, std::string_view key) {
  auto at = header.find(key);
  if (at == std::string_view::npos) return {};
  at = header.find_first_not_of(" :", at + key.size());
  if (header[at] == '\'') return std::string(header.substr(at + 1, header.find('\'', at + 1) - at - 1));
  int depth = 0;
  auto end = at;
  do {
    depth += header[end] == '[' || header[end] == '(';
    depth -= header[end] == ']' || header[end] == ')';
  } while (++end < header.size() && depth > 0);
  return std::string(header.substr(at, end - at));
}

}  // namespace

std::vector<std::string> words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> result{std::istream_iterator<std::string>(stream), {}};
  std::replace(result.begin(), result.end(), std::string("''"), std::string());
  return result;
}

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "patchfold-test-XXXXXX").string();
  if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void Folder::write(std::string_view name, std::string_view bytes) const {
  std::filesystem::create_directories(path(name).parent_path());
  std::ofstream(path(name), std::ios::binary) << bytes;
}

std::string Folder::read(std::string_view name) const {
  return read_file(path(name));
}

std::string Folder::entries() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

Outcome Folder::run(const std::vector<std::string>& arguments, const Setting& setting) const {
  std::vector<char*> argv{const_cast<char*>(PATCHFOLD_PROGRAM)};
  for (const auto& word : arguments) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const Terminal terminal = setting.terminal ? open_terminal(setting.columns) : Terminal{};
  const int err = setting.terminal ? terminal.program : open_anonymous();
  pid_t writer = 0;
  Terminal input;
  if (setting.piped) input.program = open_filled_pipe(*setting.piped, writer);
  if (setting.input_terminal) input = open_terminal();
  const Terminal screen = setting.output_terminal ? open_terminal() : Terminal{};
  int out = screen.program;
  if (setting.break_pipe) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    ::close(ends[0]);
    out = ends[1];
  } else if (!setting.output_terminal) {
    out = open_anonymous();
  }

  std::vector<std::string> variables = setting.environment;
  for (const char* standard : {"TERM=xterm", "NO_COLOR="}) variables.emplace_back(standard);
  const auto same_name = [](std::string_view a, std::string_view b) {
    return a.substr(0, a.find('=')) == b.substr(0, b.find('='));
  };
  std::vector<char*> environment;
  const auto add = [&](char* variable) {
    for (const char* other : environment)
      if (same_name(other, variable)) return;
    environment.push_back(variable);
  };
  for (std::string& variable : variables) add(variable.data());
  for (char** variable = environ; *variable != nullptr; ++variable) add(*variable);
  environment.push_back(nullptr);

  // Opened here: another user may not be able to reach it by its path.
  const int program = ::open(PATCHFOLD_PROGRAM, O_PATH | O_CLOEXEC);
  const pid_t child = ::fork();
  if (child == 0) {
    prepare_child(path_.c_str(), setting, input.program, out, err);
    ::fexecve(program, argv.data(), environment.data());
    ::_exit(127);
  }
  ::close(program);
  if (input.program >= 0) ::close(input.program);
  int status = 0;
  rusage usage{};
  pid_t ended = 0;
  while (setting.signal != 0 && ended == 0) {
    if (is_time(path_, setting)) break;
    ::usleep(1000);
    ended = ::wait4(child, &status, WNOHANG, &usage);
  }
  if (ended == 0 && setting.signal != 0) ::kill(child, setting.signal);
  if (ended == 0) ::wait4(child, &status, 0, &usage);

  Outcome outcome;
  if (WIFEXITED(status)) outcome.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  if (writer > 0) ::waitpid(writer, nullptr, 0);
  if (input.ours >= 0) ::close(input.ours);
  if (setting.break_pipe)
    ::close(out);
  else
    outcome.out = setting.output_terminal ? (::close(out), drain_terminal(screen.ours)) : drain(out);
  outcome.err = setting.terminal ? (::close(err), drain_terminal(terminal.ours)) : drain(err);
  outcome.peak_bytes = usage.ru_maxrss * std::int64_t{1024};
  return outcome;
}

std::string npy_bytes(const Npy& npy) {
  std::string shape;
  for (const auto extent : npy.shape) shape += std::to_string(extent) + ",";
  const std::string descr = npy.descr.starts_with('[') ? npy.descr : "'" + npy.descr + "'";
  std::string header = "{'descr': " + descr + ", 'fortran_order': " + (npy.fortran_order ? "True" : "False") +
                       ", 'shape': (" + shape + "), }";
  header.append(63 - (header.size() + 10) % 64, ' ');
  header += '\n';
  const auto size = static_cast<std::uint16_t>(header.size());
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(size & 255) + static_cast<char>(size >> 8) + header +
         npy.data;
}

Npy npy_of(std::string_view bytes) {
  if (bytes.size() < 12 || bytes.substr(1, 5) != "NUMPY") return {};
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
  const bool wide = byte(6) > 1;
  const std::size_t start = wide ? 12 : 10;
  const std::size_t size = byte(8) + byte(9) * 256 + (wide ? byte(10) * 65536 + byte(11) * 16777216 : 0);
  const auto header = bytes.substr(start, size);
  Npy npy;
  npy.descr = header_entry(header, "'descr'");
  npy.fortran_order = header.find("True") != std::string_view::npos;
  std::string shape = header_entry(header, "'shape'");
  std::replace_if(
      shape.begin(), shape.end(), [](char c) { return c < '0' || c > '9'; }, ' ');
  std::istringstream extents(shape);
  for (std::int64_t extent; extents >> extent;) npy.shape.push_back(extent);
  npy.data = bytes.substr(start + size);
  return npy;
}

Npy counting(const std::vector<std::int64_t>& shape) {
  std::size_t count = 1;
  for (const auto extent : shape) count *= static_cast<std::size_t>(extent);
  std::vector<std::int64_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::int64_t>(i) + 1;
  return npy("<i8", shape, values);
}

}  // namespace patchfold::cli_test
