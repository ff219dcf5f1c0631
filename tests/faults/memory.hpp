// SPDX-License-Identifier: Apache-2.0
// Allocations that fail when a test says so, in this program and in every library that it loads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace patchfold::faults {

/// Returns the number of blocks that are allocated and not freed.
std::int64_t live_blocks() noexcept;

/// A fault while it lives: allocations of all threads are counted. The n-th, from 0, fails, and with `lasting` all later ones. A
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

/// The conditions that must hold.
struct Expectation {
  std::function<void()> before{};  ///< runs before each failure, without faults
  /// Checked after each failure, without faults; `failed` says whether the action threw.
  std::function<void(bool failed)> after{};
  std::int64_t kept = 0;             ///< blocks more or fewer that may live after a failure
  std::int64_t most_failures = 150;  ///< the number of failing allocations, evenly spread, at PATCHFOLD_CASES=1
};

/// Runs `action` until nothing fails any more: its first allocation fails, then its second, and so on; each alone, and with all
/// later ones. Every run must throw std::bad_alloc or Error(out_of_memory), or give the right result, which it checks itself. It
/// must lose no memory, and succeed when it runs again. Returns the number of its allocations.
std::int64_t fail_each_allocation(const std::string& name, const std::function<void()>& action,
                                  const Expectation& expectation = {});

/// Tests an action whose effects happen once in a process: each failure has its own child process, where `action` then succeeds.
void fail_each_first_allocation(const std::string& name, const std::function<void()>& action);

/// Counts of the endings of child processes.
struct Outcomes {
  int good = 0;     ///< right result without the failed memory
  int memory = 0;   ///< std::bad_alloc or Error(out_of_memory)
  int other = 0;    ///< another Error
  int crashed = 0;  ///< ended by a signal
};
/// Tries each failure in a child process of its own, for libraries that crash. `after` runs after each child.
Outcomes try_each_allocation(const std::function<void()>& action, const Expectation& expectation);

}  // namespace patchfold::faults
