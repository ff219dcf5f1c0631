// SPDX-License-Identifier: Apache-2.0
// The process of a program: its start, and requests to end it.
#pragma once

#include <string>
#include <vector>

namespace patchfold::system {

/// Ensures that all standard streams exist and carry bytes unchanged, and that writing to a closed pipe or beyond the largest file
/// size is an error, not a signal.
void prepare_process() noexcept;
/// Returns the words after the program's name, in UTF-8 on every system.
std::vector<std::string> arguments(int argc, char** argv);

/// While the object lives, the first request to stop the process (SIGINT, SIGTERM or SIGHUP; Ctrl-C, Ctrl-Break or the end of the
/// console) is only recorded. The request ends the process when the object is destroyed. A second request ends the process at once.
/// At most one object may exist.
class StopRequests {
 public:
  /// Begins to record requests. If `noted` is false, records nothing, and requests end the process as usual.
  explicit StopRequests(bool noted) noexcept;
  StopRequests(const StopRequests&) = delete;
  StopRequests& operator=(const StopRequests&) = delete;
  ~StopRequests();

  /// Returns whether a request has been received since the last object was made.
  static bool have_come() noexcept;

 private:
  bool noted_;
};

}  // namespace patchfold::system
