// SPDX-License-Identifier: Apache-2.0
// Allocations that fail when a test says so, in this program and in every library that it loads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace patchfold::faults {

/// Blocks that are allocated and not freed.
std::int64_t live_blocks() noexcept;

/// While it lives, allocations of all threads are counted. The n-th, from 0, fails; so do all later ones where `lasting`. A
/// negative n fails none.
class FailingMemory {
 public:
  explicit FailingMemory(std::int64_t n = -1, bool lasting = false) noexcept;
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;
  ~FailingMemory();

  std::int64_t count() const noexcept;
  bool has_failed() const noexcept;
};

/// What must hold.
struct Expectation {
  std::function<void()> before{};  ///< done before each failure, without faults
  /// Checked after each failure, without faults; `failed` says whether the action threw.
  std::function<void(bool failed)> after{};
  std::int64_t kept = 0;             ///< blocks more or fewer that may live after a failure
  std::int64_t most_failures = 150;  ///< so many allocations, evenly spread, at PATCHFOLD_CASES=1
};

/// Runs `action` until nothing fails any more: its first allocation fails, then its second, and so on; each time alone, and
/// with all that follow. Every time it must throw std::bad_alloc or Error(out_of_memory), or do without that memory and have
/// the right result, which it checks itself; it must lose no memory, and succeed when it is run again. Returns how many
/// allocations it makes.
std::int64_t fail_each_allocation(const std::string& name, const std::function<void()>& action,
                                  const Expectation& expectation = {});

/// The same for what happens once in a process: each failure has a child process of its own, in which `action` then
/// succeeds.
void fail_each_first_allocation(const std::string& name, const std::function<void()>& action);

/// What became of child processes.
struct Outcomes {
  int good = 0;     ///< done without that memory
  int memory = 0;   ///< std::bad_alloc or Error(out_of_memory)
  int other = 0;    ///< another Error
  int crashed = 0;  ///< ended by a signal
};
/// Each failure in a child process of its own, whatever becomes of it: for libraries that crash. `after` is done after each.
Outcomes try_each_allocation(const std::function<void()>& action, const Expectation& expectation);

}  // namespace patchfold::faults
