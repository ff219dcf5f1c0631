// SPDX-License-Identifier: Apache-2.0
// Running: executors, plans, and the choice of instruction set.
//
// Every function may be called from any number of threads at once, even while other threads change settings, while the
// process is forked, and while it ends. The caller must ensure that
//   - two threads do not write one destination at once,
//   - no thread assigns to a Plan, Merger or other object while another thread uses it,
//   - a child that was forked while another thread was inside a Merger, or inside the caller's own executor, does not use
//     that object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "patchfold/error.hpp"
#include "patchfold/tensor.hpp"
#if defined(__MINGW32__) && !defined(__clang__)
#include <pthread.h>
#endif

namespace patchfold {

/// The result of running a plan. Running a plan throws nothing.
enum class Status { ok, null_data, overlap, out_of_memory, executor_failed, scratch_too_small };

/// The meaning of a status, as a sentence.
PATCHFOLD_API std::string_view describe(Status status) noexcept;

/// Runs pieces of work on threads. Derive from it to use your own threads. Its functions must not throw.
class PATCHFOLD_API Executor {
 public:
  using Body = void (*)(void* context, std::int64_t piece) noexcept;

  virtual ~Executor();
  /// How many pieces can run at the same time, at least 1.
  virtual int threads() const noexcept = 0;
  /// Calls body(context, piece) exactly once for each piece in [0, pieces), from any thread, in any order, and returns
  /// when all of these calls have ended. Returns false if it could not; the destination's content is then unspecified.
  virtual bool run(std::int64_t pieces, Body body, void* context) noexcept = 0;
};

/// Runs pieces on oneTBB with `get_num_threads()` threads, or on the calling thread if the library was built without oneTBB.
/// A forked child whose parent had used oneTBB also runs them on the calling thread, since threads do not survive a fork.
PATCHFOLD_API Executor& default_executor() noexcept;
/// Runs pieces on the calling thread.
PATCHFOLD_API Executor& serial_executor() noexcept;
/// Sets the number of threads of the default executor. 0 means as many as the machine has; more than that never run at the
/// same time. Running calls keep their number. Throws Error(value) for a negative number.
PATCHFOLD_API void set_num_threads(int threads);
/// The number of threads that a call of this thread would use.
PATCHFOLD_API int get_num_threads() noexcept;

/// While it lives, calls of its thread run on at most so many threads of the default executor at the same time: what a
/// worker needs that is one of many. set_num_threads() and other threads do not notice. Of limits inside each other the
/// smallest holds. Throws Error(value) for a number below 1.
class PATCHFOLD_API ThreadLimit {
 public:
  explicit ThreadLimit(int threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  int before_;
};
/// Sets that limit for the calling thread until it is set again; 0: none. Returns the limit until now. Throws Error(value)
/// for a negative number.
PATCHFOLD_API int set_thread_limit(int threads);

/// An executor from a callable `f(pieces, task)` that calls `task(piece)` for every piece. An exception that f throws
/// becomes Status::executor_failed.
template <class F>
class CallableExecutor final : public Executor {
 public:
  CallableExecutor(int threads, F f) : threads_(threads), f_(std::move(f)) {}
  int threads() const noexcept override { return threads_; }
  bool run(std::int64_t pieces, Body body, void* context) noexcept override {
    try {
      f_(pieces, [=](std::int64_t piece) noexcept { body(context, piece); });
      return true;
    } catch (...) {
      return false;
    }
  }

 private:
  int threads_;
  F f_;
};

namespace engine {
class Compiled;
}

/// A checked problem together with the strategy that runs it. A plan is immutable: copy it freely and run it from many
/// threads at once. It holds no pointers to the caller's data. A default-constructed plan does nothing.
class PATCHFOLD_API Plan {
 public:
  Plan() = default;
  explicit Plan(std::shared_ptr<const engine::Compiled> compiled) : compiled_(std::move(compiled)) {}

  /// Runs the plan. `src` and `dst` point at the elements with index 0 on every axis. `scratch` is memory of any alignment,
  /// at least scratch_bytes(executor.threads()) bytes; the run then allocates nothing. Without it, the run uses memory that
  /// the library keeps for the calling thread.
  Status run(const void* src, void* dst, Executor& executor = default_executor(),
             const std::optional<std::span<std::byte>>& scratch = std::nullopt) const noexcept;
  Status run(const void* src, void* dst, std::span<std::byte> scratch,
             Executor& executor = default_executor()) const noexcept {
    return run(src, dst, executor, scratch);
  }
  /// Bytes of scratch memory that a run with this many threads needs.
  std::size_t scratch_bytes(int threads) const noexcept;
  /// Strategy, normal form, pieces and bytes moved.
  std::string describe() const;
  /// Name of the strategy, as in describe().
  std::string_view strategy() const noexcept;

 private:
  std::shared_ptr<const engine::Compiled> compiled_;
};

/// Makes the plan of an operator for tensors of these shapes, strides and types. Ignores the data pointers.
template <class Op>
Plan plan(const Op& op, const ConstTensorView& src, const TensorView& dst) {
  return op.plan(src, dst);
}

/// Throws the Error of a status other than ok.
PATCHFOLD_API void throw_if_failed(Status status, std::string_view op, std::string_view output = "output");

namespace detail {

/// A number that changes whenever an older plan may differ from a new one, for example after use_instruction_set().
PATCHFOLD_API std::uint64_t plan_generation() noexcept;

/// The calling thread's own T, or null where there is none any more: after the thread has destroyed it, destructors of older
/// thread-local objects, and of static objects in the first thread, may still call the library.
template <class T>
T* of_this_thread() {
#if defined(__MINGW32__) && !defined(__clang__)
  // There, GCC frees the memory of a thread's objects before their destructors run. This T goes after them, and calls that
  // come still later get a new one.
  struct Key {
    pthread_key_t key{};
    bool is_there = pthread_key_create(&key, [](void* held) { delete static_cast<T*>(held); }) == 0;
  };
  static const Key made;
  if (!made.is_there) return nullptr;
  if (void* const held = pthread_getspecific(made.key)) return static_cast<T*>(held);
  T* const held = new (std::nothrow) T{};
  if (pthread_setspecific(made.key, held) == 0) return held;
  delete held;
  return nullptr;
#else
  thread_local bool is_gone = false;
  if (is_gone) return nullptr;
  struct Held {
    T value{};
    ~Held() { is_gone = true; }
  };
  thread_local Held held;
  return &held.value;
#endif
}

/// A tensor without its data.
struct Form {
  Dims shape{};
  Dims strides{};
  DType dtype = DType::float32;
  std::size_t element_size = 0;
  friend bool operator==(const Form&, const Form&) = default;
};

/// The plan of an operator: one of the last few plans of this thread, or a new one. Planning a small call takes longer than
/// running it.
template <class Op>
Plan recent_plan(const Op& op, const ConstTensorView& src, const TensorView& dst) {
  struct Recent {
    Op op{};
    Form src{};
    Form dst{};
    std::uint64_t generation = 0;
    Plan plan{};
  };
  constexpr std::size_t most = 4;
  struct Kept {
    std::vector<Recent> recent{};
    std::size_t next = 0;
  };
  Kept* const kept = of_this_thread<Kept>();
  if (kept == nullptr) return op.plan(src, dst);
  auto& [recent, next] = *kept;
  const std::uint64_t generation = plan_generation();
  const auto same = [](const Form& form, const auto& view) {
    return form.dtype == view.dtype && form.element_size == view.element_size && form.shape == view.shape &&
           form.strides == view.strides;
  };
  for (const Recent& one : recent)
    if (one.generation == generation && same(one.src, src) && same(one.dst, dst) && one.op == op) return one.plan;
  Recent made{op,
              {src.shape, src.strides, src.dtype, src.element_size},
              {dst.shape, dst.strides, dst.dtype, dst.element_size},
              generation,
              op.plan(src, dst)};
  Plan plan = made.plan;
  try {
    if (recent.size() < most)
      recent.push_back(std::move(made));
    else
      recent[next++ % most] = std::move(made);
  } catch (const std::bad_alloc&) {  // it is made anew then
  }
  return plan;
}

}  // namespace detail

/// Checks, plans and runs an operator. Each thread keeps the plans of its last calls.
template <class Op>
void run(const Op& op, const ConstTensorView& src, const TensorView& dst, Executor& executor = default_executor()) {
  throw_if_failed(detail::recent_plan(op, src, dst).run(src.data, dst.data, executor), Op::name);
}

/// Instruction sets that this build contains and this processor has, best first ("AVX3", "AVX2", "SSE4", ..).
PATCHFOLD_API std::vector<std::string> instruction_sets();
/// Selects one of them for every thread; "" selects the best. Throws Error(value) for any other name. Results are identical
/// on every set. Running calls and existing plans may switch midway. Only plans of the strategy "sum panels" keep their set,
/// because their tables fit its vectors; `run` never uses such a plan after a change. The environment variable
/// PATCHFOLD_INSTRUCTION_SET selects a set at the first use. PATCHFOLD_CACHES, three sizes in bytes such as
/// 32768,524288,33554432, plans for a machine with such caches. PATCHFOLD_ONLY_ROW names the strategy that plans whatever it
/// fits, PATCHFOLD_WITHOUT one that plans nothing.
PATCHFOLD_API void use_instruction_set(std::string_view name);

}  // namespace patchfold
