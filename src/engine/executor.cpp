// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

#include "patchfold/plan.hpp"
#include "tensor/fail.hpp"

#ifdef PATCHFOLD_WITH_TBB
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#endif

namespace patchfold {

Executor::~Executor() = default;

namespace {

class SerialExecutor final : public Executor {
 public:
  int threads() const noexcept override { return 1; }
  bool run(std::int64_t pieces, Body body, void* context) noexcept override {
    for (std::int64_t piece = 0; piece < pieces; ++piece) body(context, piece);
    return true;
  }
};

#ifdef PATCHFOLD_WITH_TBB

/// Asked once: the answer takes the C library four system calls, longer than a small plan runs.
int machine_threads() noexcept {
  static const int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return threads;
}

/// An arena of its own, so that the number of threads is this library's and nobody else's.
class TbbExecutor final : public Executor {
 public:
  int threads() const noexcept override {
    const int wanted = threads_.load(std::memory_order_relaxed);
    return wanted > 0 ? wanted : machine_threads();
  }
  void set_threads(int threads) {
    const std::lock_guard lock(mutex_);
    threads_.store(threads, std::memory_order_relaxed);
    arena_.reset();
  }
  bool run(std::int64_t pieces, Body body, void* context) noexcept override {
    try {
      const std::shared_ptr<tbb::task_arena> arena = get_arena();
      arena->execute([&] {
        tbb::parallel_for(
            std::int64_t{0}, pieces, [=](std::int64_t piece) { body(context, piece); }, tbb::simple_partitioner());
      });
      return true;
    } catch (...) {
      return false;
    }
  }

 private:
  std::shared_ptr<tbb::task_arena> get_arena() {
    const std::lock_guard lock(mutex_);
    // oneTBB has no more workers than the machine has processors, and prints a warning when asked for more.
    if (!arena_) arena_ = std::make_shared<tbb::task_arena>(std::min(threads(), tbb::info::default_concurrency()));
    return arena_;
  }

  std::atomic<int> threads_ = 0;
  std::mutex mutex_;
  std::shared_ptr<tbb::task_arena> arena_;
};

TbbExecutor& shared_executor() noexcept {
  // Never destroyed: other static objects may still run plans while the program ends.
  alignas(TbbExecutor) static std::byte storage[sizeof(TbbExecutor)];
  static auto* executor = new (storage) TbbExecutor;
  return *executor;
}

#else

SerialExecutor& shared_executor() noexcept {
  static SerialExecutor executor;
  return executor;
}

#endif

}  // namespace

Executor& serial_executor() noexcept {
  static SerialExecutor executor;
  return executor;
}

Executor& default_executor() noexcept {
  return shared_executor();
}

void set_num_threads(int threads) {
  if (threads < 0) fail(ErrorCode::value, "set_num_threads", "threads", "must be at least 0", threads);
#ifdef PATCHFOLD_WITH_TBB
  shared_executor().set_threads(threads);
#endif
}

int get_num_threads() noexcept {
  return default_executor().threads();
}

}  // namespace patchfold
