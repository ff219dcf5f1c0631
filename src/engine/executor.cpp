// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "base/fail.hpp"
#include "engine/sharing.hpp"
#include "engine/thread_sanitizer.hpp"
#include "patchfold/plan.hpp"
#include "tensor/lasting.hpp"

#ifdef PATCHFOLD_WITH_TBB
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>

#include "system/processors.hpp"
#endif

namespace patchfold {

Executor::~Executor() = default;

namespace {

/// Runs all pieces on the calling thread.
class SerialExecutor final : public Executor {
 public:
  int threads() const noexcept override { return 1; }
  bool run(std::int64_t pieces, Body body, void* context) noexcept override {
    for (std::int64_t piece = 0; piece < pieces; ++piece) body(context, piece);
    return true;
  }
};

constinit Lasting<SerialExecutor> serial;

/// The calling thread's ThreadLimit; 0: there is none.
constinit thread_local int limit_of_thread = 0;

#ifdef PATCHFOLD_WITH_TBB

/// Runs pieces in lanes. A lane runs on one thread; it takes its own share of the pieces, and then pieces of other lanes. So
/// at most as many pieces as lanes run at the same time, whatever the number of threads. If a run is repeated, each lane
/// gets the same share again, and finds the share in the cache of its processor.
class Lanes {
 public:
  static constexpr std::int64_t most = 256;  ///< arbitrary; limited since lanes lie on the stack: run() must not allocate

  Lanes(std::int64_t lanes, std::int64_t pieces, Executor::Body body, void* context)
      : lanes_(lanes), body_(body), context_(context) {
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      Share& share = shares_[static_cast<std::size_t>(lane)];
      const auto [first, last] = engine::rows_of_piece(lane, lanes, pieces);
      share.next.store(first, std::memory_order_relaxed);
      share.end = last;
    }
  }

  void run(std::int64_t lane) noexcept {
    for (std::int64_t k = 0; k < lanes_; ++k) {
      Share& share = shares_[static_cast<std::size_t>((lane + k) % lanes_)];
      for (std::int64_t piece; (piece = share.next.fetch_add(1, std::memory_order_relaxed)) < share.end;)
        body_(context_, piece);
    }
  }

 private:
  /// The pieces [next, end) of one lane, which no lane has begun yet. A Share has a cache line of its own, since other lanes
  /// change `next`.
  struct alignas(64) Share {
    std::atomic<std::int64_t> next = 0;
    std::int64_t end = 0;
  };
  std::array<Share, most> shares_;
  std::int64_t lanes_;
  Executor::Body body_;
  void* context_;
};

/// Returns the number of processors that this process may use, as oneTBB counts them. oneTBB is not called, because its answer
/// allocates memory. The processors are counted once, because counting takes longer than running a small plan.
int machine_threads() noexcept {
  static constinit std::atomic<int> known{0};
  int threads = known.load(std::memory_order_relaxed);
  if (threads == 0) known = threads = system::count_processors();
  return threads;
}

/// Runs pieces on oneTBB, in an arena of its own, so that set_num_threads() affects this library only.
///
/// oneTBB would wait for ever in two situations. A child that was forked after oneTBB had started threads lacks these threads, so
/// nothing releases the arena's slots, the locks and the tasks that they held. If memory ran out while oneTBB started, oneTBB waits
/// for threads that never started. In either situation `unusable_` is set, and the calling thread does the work.
class TbbExecutor final : public Executor {
 public:
  int threads() const noexcept override {
    const int limit = limit_of_thread;
    return limit > 0 ? std::min(limit, all_threads()) : all_threads();
  }
  void set_threads(int threads) {
    const std::lock_guard lock(mutex_);
    threads_.store(threads, std::memory_order_relaxed);
    if (!unusable_.load(std::memory_order_relaxed)) arena_.reset();
  }
  bool run(std::int64_t pieces, Body body, void* context) noexcept override {
    const std::int64_t lanes = std::min({std::int64_t{threads()}, pieces, Lanes::most});
    if (lanes <= 1) return serial.value.run(pieces, body, context);
    return run_lanes(lanes, pieces, body, context);
  }

  /// Takes the lock before a fork, so that no other thread holds it while the process is copied.
  void before_fork() { mutex_.lock(); }
  void in_parent() { mutex_.unlock(); }
  void in_child() {
    if (had_arena_) unusable_ = true;
    mutex_.unlock();
  }

 private:
  int all_threads() const noexcept {
    if (unusable_.load(std::memory_order_relaxed)) return 1;
    const int wanted = threads_.load(std::memory_order_relaxed);
    return wanted > 0 ? wanted : machine_threads();
  }
  bool run_lanes(std::int64_t count, std::int64_t pieces, Body body, void* context) noexcept {
    std::atomic<bool> has_begun = false;
    try {
      const std::shared_ptr<tbb::task_arena> arena = get_arena();
      Lanes lanes(count, pieces, body, context);
      engine::note_release(&lanes);
      arena->execute([&] {
        const auto run_lane = [&](std::int64_t lane) {
          has_begun.store(true, std::memory_order_relaxed);
          engine::note_acquire(&lanes);
          lanes.run(lane);
          engine::note_release(&has_begun);
        };
        tbb::parallel_for(std::int64_t{0}, count, run_lane, tbb::static_partitioner());
      });
      engine::note_acquire(&has_begun);
      has_worked_ = true;
      return true;
    } catch (...) {
      // oneTBB throws if it lacks memory for threads. If no lane has begun, the calling thread does the work.
      if (has_worked_)
        forget_arena();
      else
        unusable_ = true;
      return !has_begun && serial_executor().run(pieces, body, context);
    }
  }

  std::shared_ptr<tbb::task_arena> get_arena() {
    const std::lock_guard lock(mutex_);
    had_arena_ = true;
    // oneTBB has at most as many workers as processors that the process may use, and warns if an arena asks for more.
    if (!arena_) arena_ = std::make_shared<tbb::task_arena>(std::min(all_threads(), machine_threads()));
    return arena_;
  }

  /// Drops an arena that failed to start, since the next run in it would wait for ever.
  void forget_arena() {
    const std::lock_guard lock(mutex_);
    arena_.reset();
  }

  std::atomic<int> threads_ = 0;
  std::atomic<bool> unusable_ = false;
  std::atomic<bool> has_worked_ = false;
  std::mutex mutex_;
  bool had_arena_ = false;
  std::shared_ptr<tbb::task_arena> arena_;
};

constinit Lasting<TbbExecutor> shared;

[[maybe_unused]] const int handlers_set = system::call_at_fork(
    [] { shared.value.before_fork(); }, [] { shared.value.in_parent(); }, [] { shared.value.in_child(); });

#endif

}  // namespace

Executor& serial_executor() noexcept {
  return serial.value;
}

Executor& default_executor() noexcept {
#ifdef PATCHFOLD_WITH_TBB
  return shared.value;
#else
  return serial.value;
#endif
}

void set_num_threads(int threads) {
  if (threads < 0) fail(ErrorCode::value, "set_num_threads", "threads", "must be at least 0", threads);
#ifdef PATCHFOLD_WITH_TBB
  shared.value.set_threads(threads);
#endif
}

int get_num_threads() noexcept {
  return default_executor().threads();
}

int set_thread_limit(int threads) {
  if (threads < 0) fail(ErrorCode::value, "thread_limit", "threads", "must be at least 0", threads);
  return std::exchange(limit_of_thread, threads);
}

ThreadLimit::ThreadLimit(int threads) : before_(limit_of_thread) {
  if (threads < 1) fail(ErrorCode::value, "thread_limit", "threads", "must be at least 1", threads);
  limit_of_thread = before_ > 0 ? std::min(before_, threads) : threads;
}

ThreadLimit::~ThreadLimit() {
  limit_of_thread = before_;
}

}  // namespace patchfold
