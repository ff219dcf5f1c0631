// SPDX-License-Identifier: Apache-2.0
#include "system/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

namespace patchfold::system {
namespace {

constexpr int stops[] = {SIGINT, SIGTERM, SIGHUP};
std::atomic<int> received = 0;
static_assert(std::atomic<int>::is_always_lock_free);
struct sigaction before[3];  // the earlier handlers, which the only StopRequests object restores

void receive(int signal) {
  received.store(signal, std::memory_order_relaxed);
}

}  // namespace

void prepare_process() noexcept {
  // Opens closed standard streams: else the next opened file would get the number of such a stream, and receive messages.
  for (int descriptor = 0; descriptor <= 2; ++descriptor)
    if (::fcntl(descriptor, F_GETFD) < 0) ::open("/dev/null", O_RDONLY);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void end_if_nothing_reads() noexcept {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  if (::poll(&output, 1, 0) != 1 || (output.revents & (POLLERR | POLLHUP)) == 0) return;
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
}

std::vector<std::string> arguments(int argc, char** argv) {
  return {argv + 1, argv + argc};
}

StopRequests::StopRequests(bool noted) noexcept : noted_(noted) {
  received = 0;
  if (!noted_) return;
  for (int i = 0; i < 3; ++i) {
    struct sigaction action {};
    action.sa_handler = receive;
    action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
    sigaction(stops[i], nullptr, &before[i]);
    if (before[i].sa_handler != SIG_IGN) sigaction(stops[i], &action, nullptr);
  }
}

StopRequests::~StopRequests() {
  if (!noted_) return;
  for (int i = 0; i < 3; ++i) sigaction(stops[i], &before[i], nullptr);
  if (have_come()) raise(received);
}

bool StopRequests::have_come() noexcept {
  return received.load(std::memory_order_relaxed) != 0;
}

}  // namespace patchfold::system
