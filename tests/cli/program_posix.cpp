// SPDX-License-Identifier: Apache-2.0
// Runs the program with the settings of a test, by functions of POSIX.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "tests/cli/program.hpp"

namespace patchfold::cli_test {
namespace {

/// Returns whether the file exists and, if it is a pipe, has content.
bool has_come(const std::filesystem::path& path) {
  if (!std::filesystem::is_fifo(path)) return std::filesystem::exists(path);
  const int pipe = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  int bytes = 0;
  ::ioctl(pipe, FIONREAD, &bytes);
  ::close(pipe);
  return bytes > 0;
}

/// Returns whether it is time to send the signal: `signal_once` exists (a pipe also has content) or, without `signal_once`,
/// a temporary file is in the folder.
bool is_time(const std::filesystem::path& folder, const Setting& setting) {
  if (!setting.signal_once.empty()) return has_come(folder / setting.signal_once);
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".tmp") return true;
  return false;
}

/// Prepares the child process before it executes the program. Makes only calls that are safe after fork.
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

/// Returns the content of a terminal after its other end is closed.
std::string drain_terminal(int descriptor) {
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = ::read(descriptor, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  ::close(descriptor);
  return text;
}

/// Returns the reading end of a pipe that a child process fills. The child ends when the reading end is closed.
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

}  // namespace

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

  // The program is opened before the child changes its user, since the new user may be unable to reach the program by its
  // path.
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

}  // namespace patchfold::cli_test
