// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <optional>

#include "patchfold/error.hpp"
#include "tests/random/random.hpp"
#include "tests/sanitizers.hpp"

namespace {

// These variables are initialized at compile time, so that they exist before the first allocation.
constinit std::atomic<bool> is_counting{false};
constinit std::atomic<bool> is_lasting{false};
constinit std::atomic<std::int64_t> failing{-1};
constinit std::atomic<std::int64_t> counted{0};
constinit std::atomic<std::int64_t> failed{0};
constinit std::atomic<std::int64_t> live{0};

bool refuses() noexcept {
  if (!is_counting.load(std::memory_order_relaxed)) return false;
  const std::int64_t number = counted.fetch_add(1, std::memory_order_relaxed);
  const std::int64_t n = failing.load(std::memory_order_relaxed);
  if (n < 0 || (number != n && !(is_lasting.load(std::memory_order_relaxed) && number > n))) return false;
  failed.fetch_add(1, std::memory_order_relaxed);
  errno = ENOMEM;
  return true;
}

void* taken(void* block) noexcept {
  if (block != nullptr) live.fetch_add(1, std::memory_order_relaxed);
  return block;
}

}  // namespace

#ifdef PATCHFOLD_SANITIZED

// In builds with sanitizers, which define malloc themselves, this program can make only operator new fail.
namespace {

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (refuses()) return nullptr;
  bytes = std::max<std::size_t>(1, bytes);
  return taken(alignment == 0 ? std::malloc(bytes)
                              : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment));
}
void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  if (void* block = allocate(bytes, alignment)) return block;
  throw std::bad_alloc();
}
void release(void* block) noexcept {
  if (block != nullptr) live.fetch_sub(1, std::memory_order_relaxed);
  std::free(block);
}

}  // namespace

using Size = std::size_t;
using Alignment = std::align_val_t;
using Nothrow = const std::nothrow_t&;
void* operator new(Size n) {
  return allocate_or_throw(n, 0);
}
void* operator new[](Size n) {
  return allocate_or_throw(n, 0);
}
void* operator new(Size n, Alignment a) {
  return allocate_or_throw(n, static_cast<Size>(a));
}
void* operator new[](Size n, Alignment a) {
  return allocate_or_throw(n, static_cast<Size>(a));
}
void* operator new(Size n, Nothrow) noexcept {
  return allocate(n, 0);
}
void* operator new[](Size n, Nothrow) noexcept {
  return allocate(n, 0);
}
void* operator new(Size n, Alignment a, Nothrow) noexcept {
  return allocate(n, static_cast<Size>(a));
}
void* operator new[](Size n, Alignment a, Nothrow) noexcept {
  return allocate(n, static_cast<Size>(a));
}
void operator delete(void* p) noexcept {
  release(p);
}
void operator delete[](void* p) noexcept {
  release(p);
}
void operator delete(void* p, Size) noexcept {
  release(p);
}
void operator delete[](void* p, Size) noexcept {
  release(p);
}
void operator delete(void* p, Alignment) noexcept {
  release(p);
}
void operator delete[](void* p, Alignment) noexcept {
  release(p);
}
void operator delete(void* p, Size, Alignment) noexcept {
  release(p);
}
void operator delete[](void* p, Size, Alignment) noexcept {
  release(p);
}
void operator delete(void* p, Nothrow) noexcept {
  release(p);
}
void operator delete[](void* p, Nothrow) noexcept {
  release(p);
}

#else

// These definitions replace those of the C library, in this program and in every library that it loads. All forms of new
// call these functions.
extern "C" {

void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* block);

void* malloc(std::size_t bytes) {
  return refuses() ? nullptr : taken(__libc_malloc(bytes));
}
void* calloc(std::size_t count, std::size_t bytes) {
  return refuses() ? nullptr : taken(__libc_calloc(count, bytes));
}
void* realloc(void* block, std::size_t bytes) {
  if (bytes > 0 && refuses()) return nullptr;
  void* const grown = __libc_realloc(block, bytes);
  if (block == nullptr) return taken(grown);
  if (bytes == 0) live.fetch_sub(1, std::memory_order_relaxed);
  return grown;
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  return refuses() ? nullptr : taken(__libc_memalign(alignment, bytes));
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return memalign(alignment, bytes);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  void* const made = memalign(alignment, bytes);
  if (made == nullptr) return ENOMEM;
  *block = made;
  return 0;
}
void free(void* block) {
  if (block == nullptr) return;
  live.fetch_sub(1, std::memory_order_relaxed);
  __libc_free(block);
}
}

#endif

namespace patchfold::faults {
namespace {

/// Returns the code of the error that the action throws, out_of_memory for std::bad_alloc, or nothing if it succeeds. Other
/// exceptions are test failures.
std::optional<ErrorCode> code_of(const std::string& where, const std::function<void()>& action, std::int64_t n, bool lasting,
                                 bool& has_failed) {
  bool is_other = false;
  std::optional<ErrorCode> code;
  {
    const FailingMemory memory(n, lasting);
    try {
      action();
    } catch (const Error& error) {
      code = error.code();
    } catch (const std::bad_alloc&) {
      code = ErrorCode::out_of_memory;
    } catch (const std::exception&) {
      is_other = true;
    }
    has_failed = memory.has_failed();
  }
  if (is_other) ADD_FAILURE() << where << ": threw neither an Error nor std::bad_alloc";
  return code;
}

}  // namespace

std::int64_t live_blocks() noexcept {
  return live.load(std::memory_order_relaxed);
}

FailingMemory::FailingMemory(std::int64_t n, bool lasting) noexcept {
  counted = 0;
  failed = 0;
  failing = n;
  is_lasting = lasting;
  is_counting = true;
}
FailingMemory::~FailingMemory() {
  is_counting = false;
}
std::int64_t FailingMemory::count() const noexcept {
  return counted.load(std::memory_order_relaxed);
}
bool FailingMemory::has_failed() const noexcept {
  return failed.load(std::memory_order_relaxed) > 0;
}

std::int64_t fail_each_allocation(const std::string& name, const std::function<void()>& action,
                                  const Expectation& expectation) {
  action();  // allocates the memory that only a first run allocates
  std::int64_t count = 0;
  {
    const FailingMemory memory;
    action();
    count = memory.count();
  }
  const auto most = static_cast<double>(expectation.most_failures) * testing::scale_of_run();
  const double step = std::max(1.0, static_cast<double>(count) / most);
  for (const bool lasting : {false, true})
    for (double at = 0; static_cast<std::int64_t>(at) < count; at += step) {
      const auto n = static_cast<std::int64_t>(at);
      const std::string where = name + ": allocation " + std::to_string(n) + " of " + std::to_string(count) +
                                (lasting ? " and all later ones" : "");
      if (expectation.before) expectation.before();
      const std::int64_t before = live_blocks();
      bool has_failed = false;
      const auto code = code_of(where, action, n, lasting, has_failed);
      const std::int64_t lost = live_blocks() - before;
      EXPECT_LE(std::abs(lost), expectation.kept) << where << ": memory is lost";
      EXPECT_EQ(code.value_or(ErrorCode::out_of_memory), ErrorCode::out_of_memory) << where;
      EXPECT_TRUE(has_failed || !code) << where;
      if (expectation.after) expectation.after(code.has_value());
      try {
        action();
      } catch (const std::exception& error) {
        ADD_FAILURE() << where << ": cannot be done afterwards: " << error.what();
        return count;
      }
      if (::testing::Test::HasFailure()) return count;
    }
  return count;
}

namespace {

/// How a child process with a failing allocation has ended.
enum Ending { nothing_failed, good, memory, other, another_exception, not_afterwards, crashed };

/// Runs the action in a child process, with the n-th allocation failing; with `again`, runs it once more without faults.
Ending run_child(const std::function<void()>& action, std::int64_t n, bool lasting, bool again) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // a hanging child counts as a crash
    bool has_failed = false;
    Ending ending = good;
    try {
      const FailingMemory failing_memory(n, lasting);
      try {
        action();
      } catch (const Error& error) {
        ending = error.code() == ErrorCode::out_of_memory ? memory : other;
      } catch (const std::bad_alloc&) {
        ending = memory;
      }
      has_failed = failing_memory.has_failed();
    } catch (...) {
      ::_exit(another_exception);
    }
    try {
      if (again) action();
    } catch (...) {
      ::_exit(not_afterwards);
    }
    ::_exit(::testing::Test::HasFailure() ? other : has_failed ? ending : nothing_failed);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? static_cast<Ending>(WEXITSTATUS(status)) : crashed;
}

}  // namespace

void fail_each_first_allocation(const std::string& name, const std::function<void()>& action) {
  // Lets single allocations fail, at growing distances from each other, so that a few hundred processes are enough.
  for (std::int64_t n = 0;; n += 1 + static_cast<std::int64_t>(static_cast<double>(n) / (25 * testing::scale_of_run()))) {
    const Ending ending = run_child(action, n, false, true);
    ASSERT_LE(ending, memory) << name << ": allocation " << n;
    if (ending == nothing_failed) return;
  }
}

Outcomes try_each_allocation(const std::function<void()>& action, const Expectation& expectation) {
  action();
  std::int64_t count = 0;
  {
    const FailingMemory memory;
    action();
    count = memory.count();
  }
  Outcomes outcomes;
  const double step =
      std::max(1.0, static_cast<double>(count) / (static_cast<double>(expectation.most_failures) * testing::scale_of_run()));
  for (const bool lasting : {false, true})
    for (double at = 0; static_cast<std::int64_t>(at) < count; at += step) {
      if (expectation.before) expectation.before();
      const Ending ending = run_child(action, static_cast<std::int64_t>(at), lasting, false);
      EXPECT_NE(ending, another_exception);
      outcomes.good += ending == good;
      outcomes.memory += ending == memory;
      outcomes.other += ending == other;
      outcomes.crashed += ending == crashed;
      if (expectation.after) expectation.after(ending != good);
    }
  return outcomes;
}

}  // namespace patchfold::faults
