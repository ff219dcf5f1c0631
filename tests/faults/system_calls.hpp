// SPDX-License-Identifier: Apache-2.0
// System calls that fail when a test says so. The linker puts these in place of those that formats/ and cli/ name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace patchfold::faults {

enum class Kind : std::uint8_t { error, part, nothing, signal };

/// What happens to one call.
struct CallFault {
  std::string call{};   ///< "write"; "any" is each of them
  std::int64_t n = -1;  ///< which, from 0
  Kind kind = Kind::error;
  int number = 0;        ///< errno, or the signal that the process gets before the call
  bool lasting = false;  ///< all later ones too
};

/// While it lives, calls are counted and one of them fails.
class FailingCalls {
 public:
  explicit FailingCalls(const CallFault& fault);
  FailingCalls(const FailingCalls&) = delete;
  FailingCalls& operator=(const FailingCalls&) = delete;
  ~FailingCalls();

  /// Calls of the kind that fails, so far.
  std::int64_t count() const noexcept;
  bool has_failed() const noexcept;
};

/// "write:3:ENOSPC": a fault as the environment variable PATCHFOLD_FAULT gives it to a program, which counts from its start.
/// The last part is an errno, part, nothing, SIGKILL, SIGTERM or SIGINT.
CallFault fault_of(std::string_view text);

}  // namespace patchfold::faults
