// SPDX-License-Identifier: Apache-2.0
// The process of a program: how it starts, and who ends it.
#pragma once

#include <string>
#include <vector>

namespace patchfold::system {

/// Standard streams that are there and carry bytes as they are. A closed pipe and a file that grows too long become errors
/// like others.
void prepare_process() noexcept;
/// The words behind the program's name, in UTF-8 where the system has them in another form.
std::vector<std::string> arguments(int argc, char** argv);

/// While it lives, the first request to stop the process (SIGINT, SIGTERM or SIGHUP; Ctrl-C, Ctrl-Break or the end of the
/// console) is only noted; the process ends by it when this object is destroyed. A second one ends it at once. At most one
/// object may exist.
class StopRequests {
 public:
  /// Not `noted`: requests end the process as ever.
  explicit StopRequests(bool noted) noexcept;
  StopRequests(const StopRequests&) = delete;
  StopRequests& operator=(const StopRequests&) = delete;
  ~StopRequests();

  /// Whether one has come since the last object was made.
  static bool have_come() noexcept;

 private:
  bool noted_;
};

}  // namespace patchfold::system
