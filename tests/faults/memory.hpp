// SPDX-License-Identifier: Apache-2.0
// Allocations that fail on a test's request, in this program and in every library that it loads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace patchfold::faults {

/// Returns the number of blocks that are allocated and not freed.
std::int64_t live_blocks() noexcept;

/// A fault of memory that lasts as long as the object. The allocations of all threads are counted from 0. Allocation n fails
/// and, with `lasting`, all later allocations. If n is negative, no allocation fails.
class FailingMemory {
 public:
  explicit FailingMemory(std::int64_t n = -1, bool lasting = false) noexcept;
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;
  ~FailingMemory();

  std::int64_t count() const noexcept;
  bool has_failed() const noexcept;
};

/// What is done around each failing run, and what a run may leave behind.
struct Expectation {
  std::function<void()> before{};  ///< runs before each failure, without faults
  /// Runs after each failure, without faults, and checks the state; `failed` is true if the action threw.
  std::function<void(bool failed)> after{};
  std::int64_t kept = 0;             ///< how many blocks more or fewer may be live after a failure
  std::int64_t most_failures = 150;  ///< the number of failing allocations, evenly spread, at PATCHFOLD_CASES=1
};

/// Runs `action` twice for each of its allocations, or for `most_failures` of them. In the first run only this allocation
/// fails; in the second all later ones fail too. Every run must throw std::bad_alloc or Error(out_of_memory), or give the
/// right result, which `action` itself checks. No run may leak memory, and after each run `action` must succeed without
/// faults. Returns the number of allocations of the action.
std::int64_t fail_each_allocation(const std::string& name, const std::function<void()>& action,
                                  const Expectation& expectation = {});

/// Tests an action that allocates some memory only in its first run in a process. Each failure gets its own child process,
/// in which `action` must succeed afterwards.
void fail_each_first_allocation(const std::string& name, const std::function<void()>& action);

/// How many child processes have ended in each way.
struct Outcomes {
  int good = 0;     ///< the right result in spite of the failure
  int memory = 0;   ///< std::bad_alloc or Error(out_of_memory)
  int other = 0;    ///< another Error
  int crashed = 0;  ///< ended by a signal
};
/// Runs each failure in its own child process, for libraries that crash. Calls expectation.after when the child has ended.
Outcomes try_each_allocation(const std::function<void()>& action, const Expectation& expectation);

}  // namespace patchfold::faults
