// SPDX-License-Identifier: Apache-2.0
// The process: what a program does at its start, and requests to end it.
#pragma once

#include <string>
#include <vector>

namespace patchfold::system {

/// Ensures that all standard streams exist and carry bytes unchanged. Writing to a closed pipe, or beyond the largest file size,
/// becomes an error instead of a signal.
void prepare_process() noexcept;
/// Ends the process by SIGPIPE, as other programs end, if nothing reads standard output any more. Returns otherwise, and always
/// on Windows, which has no such signal.
void end_if_nothing_reads() noexcept;
/// Returns the words after the program's name, in UTF-8 on every system.
std::vector<std::string> arguments(int argc, char** argv);

/// While this object lives, the first request to end the process is only noted; it ends the process when the object is
/// destroyed. Requests are SIGINT, SIGTERM and SIGHUP, and on Windows Ctrl-C, Ctrl-Break and the end of the console. A
/// second request ends the process at once. At most one object may exist.
class StopRequests {
 public:
  /// Begins to note requests. If `noted` is false, requests end the process as usual.
  explicit StopRequests(bool noted) noexcept;
  StopRequests(const StopRequests&) = delete;
  StopRequests& operator=(const StopRequests&) = delete;
  ~StopRequests();

  /// Returns whether a request has come since the last object was made.
  static bool have_come() noexcept;

 private:
  bool noted_;
};

}  // namespace patchfold::system
