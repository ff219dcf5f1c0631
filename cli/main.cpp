// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "cli/program.hpp"

namespace {

/// A standard stream that is closed would lend its number to the next file that is opened, and messages would go there.
void hold_standard_streams() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor)
    if (::fcntl(descriptor, F_GETFD) < 0) ::open("/dev/null", O_RDONLY);
}

}  // namespace

int main(int argc, char** argv) {
  hold_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe and a file that grows too long are errors like others
  std::signal(SIGXFSZ, SIG_IGN);
  return patchfold::cli::run_program({argv + 1, argv + argc});
}
