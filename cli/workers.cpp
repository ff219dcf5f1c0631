// SPDX-License-Identifier: Apache-2.0
#include "cli/workers.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <mutex>

#include "patchfold/plan.hpp"

namespace patchfold::cli {
namespace {

using Function = std::function<void(std::int64_t, std::int64_t)>;

/// What all workers share.
struct Work {
  const InterruptGuard& guard;
  const Function& f;
  std::int64_t next;
  std::int64_t end;
  std::mutex mutex{};
  std::int64_t failed = std::numeric_limits<std::int64_t>::max();
  std::exception_ptr failure{};  ///< the exception of the lowest failed index

  void run(std::int64_t worker) noexcept {
    while (true) {
      std::unique_lock lock(mutex);
      if (next == end || failure || guard.interrupted()) return;
      const std::int64_t index = next++;
      lock.unlock();
      try {
        f(index, worker);
      } catch (...) {
        lock.lock();
        if (index > failed) return;
        failed = index;
        failure = std::current_exception();
      }
    }
  }
};

}  // namespace

std::int64_t pieces_in_memory(std::int64_t bytes, std::int64_t threads) noexcept {
  constexpr std::int64_t most_bytes = std::int64_t{64} << 20;
  return std::max<std::int64_t>(1, std::min(threads, most_bytes / std::max<std::int64_t>(1, bytes)));
}

void for_each_index(std::string_view op, InterruptGuard& guard, std::int64_t workers, std::int64_t begin, std::int64_t end,
                    const Function& f) {
  Work work{guard, f, begin, end};
  const auto body = [](void* context, std::int64_t worker) noexcept { static_cast<Work*>(context)->run(worker); };
  const bool done = guard.executor().run(std::min(workers, end - begin), body, &work);
  guard.check();
  if (work.failure) std::rethrow_exception(work.failure);
  if (!done) throw_if_failed(Status::executor_failed, op);
}

}  // namespace patchfold::cli
