// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "tests/formats/support.hpp"

namespace patchfold::formats::test {
namespace {

rlimit size_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  return limit;
}

void set_size_limit(std::uint64_t bytes) {
  const rlimit limit{bytes, size_limit().rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

}  // namespace

Unprivileged::Unprivileged() : was_root_(::geteuid() == 0) {
  if (was_root_ && ::seteuid(65534) != 0) throw std::runtime_error("root cannot become nobody");
}

Unprivileged::~Unprivileged() {
  if (was_root_ && ::seteuid(0) != 0) std::abort();
}

FileSizeLimit::FileSizeLimit(std::uint64_t bytes) : before_(size_limit().rlim_cur), handler_(std::signal(SIGXFSZ, SIG_IGN)) {
  set_size_limit(bytes);
}

FileSizeLimit::~FileSizeLimit() {
  set_size_limit(before_);
  std::signal(SIGXFSZ, handler_);
}

void make_pipe(const std::filesystem::path& path) {
  if (::mkfifo(path.c_str(), 0600) != 0) throw std::runtime_error("no pipe");
}

}  // namespace patchfold::formats::test
