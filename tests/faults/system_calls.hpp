// SPDX-License-Identifier: Apache-2.0
// System calls that fail on a test's request. The linker replaces the calls in formats/ and cli/ by functions of
// system_calls.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace patchfold::faults {

enum class Kind : std::uint8_t { error, part, nothing, signal };

/// The calls that fail, and how they fail.
struct CallFault {
  std::string call{};   ///< "write", or "any" for all calls
  std::int64_t n = -1;  ///< the call that fails, counted from 0; -1: none
  Kind kind = Kind::error;
  int number = 0;        ///< errno, or the signal that the process gets before the call
  bool lasting = false;  ///< all later calls fail, too
};

/// Counts system calls while the object lives, and lets those of the fault fail.
class FailingCalls {
 public:
  explicit FailingCalls(const CallFault& fault);
  FailingCalls(const FailingCalls&) = delete;
  FailingCalls& operator=(const FailingCalls&) = delete;
  ~FailingCalls();

  /// Returns the number of calls with the name `fault.call`, failed or not.
  std::int64_t count() const noexcept;
  bool has_failed() const noexcept;
};

/// Returns the fault of a text such as "write:3:ENOSPC", the form of the environment variable PATCHFOLD_FAULT. Calls are counted
/// from the start of the program. The last part is an errno, part, nothing, SIGKILL, SIGTERM or SIGINT.
CallFault fault_of(std::string_view text);

}  // namespace patchfold::faults
