// SPDX-License-Identifier: Apache-2.0
// Running: executors, plans, and the choice of instruction set.
//
// Every function may be called from any number of threads at once, also while others change settings, while the process is
// forked, and while it ends. What is not allowed: two threads that write one destination at once, or assign to one Plan,
// Merger or other object while another uses it; a child that is forked while another thread is inside a Merger or inside the
// caller's own executor must not use that object.
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

#include "patchfold/tensor.hpp"

namespace patchfold {

/// What a plan's run returns. Nothing is thrown while a plan runs.
enum class Status { ok, null_data, overlap, out_of_memory, executor_failed, scratch_too_small };

/// A sentence for each status.
PATCHFOLD_API std::string_view describe(Status status) noexcept;

/// Runs pieces of work. Supply your own to use your own threads. Must not throw.
class PATCHFOLD_API Executor {
 public:
  using Body = void (*)(void* context, std::int64_t piece) noexcept;

  virtual ~Executor();
  /// How many pieces can run at the same time, at least 1.
  virtual int threads() const noexcept = 0;
  /// Calls body(context, piece) exactly once for each piece in [0, pieces), from any thread, in any order, and returns
  /// when all have ended. Returns false if it could not; the destination's content is then unspecified.
  virtual bool run(std::int64_t pieces, Body body, void* context) noexcept = 0;
};

/// oneTBB with `get_num_threads()` threads, or the calling thread if the library was built without oneTBB. The calling
/// thread too in a process that was forked from one that had shared work: oneTBB's threads do not come along.
PATCHFOLD_API Executor& default_executor() noexcept;
/// The calling thread.
PATCHFOLD_API Executor& serial_executor() noexcept;
/// Threads of the default executor; 0 means as many as the machine has, and no more than those run at the same time. Calls
/// that have begun keep what they began with. Throws Error(value) for a negative number.
PATCHFOLD_API void set_num_threads(int threads);
PATCHFOLD_API int get_num_threads() noexcept;

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

/// A checked, normalised problem together with the way to run it. Immutable: copy it freely, run it from many threads at
/// once. It holds no pointers to the caller's data. A default-constructed plan runs nothing.
class PATCHFOLD_API Plan {
 public:
  Plan() = default;
  explicit Plan(std::shared_ptr<const engine::Compiled> compiled) : compiled_(std::move(compiled)) {}

  /// Runs in `scratch`, at least scratch_bytes(executor.threads()) bytes of any alignment, and allocates nothing; without
  /// it, in scratch memory that the calling thread keeps.
  Status run(const void* src, void* dst, Executor& executor = default_executor(),
             const std::optional<std::span<std::byte>>& scratch = std::nullopt) const noexcept;
  Status run(const void* src, void* dst, std::span<std::byte> scratch,
             Executor& executor = default_executor()) const noexcept {
    return run(src, dst, executor, scratch);
  }
  /// Bytes of scratch that a run with so many threads needs.
  std::size_t scratch_bytes(int threads) const noexcept;
  /// Strategy, normal form, pieces and bytes moved.
  std::string describe() const;
  /// Name of the strategy, as in describe().
  std::string_view strategy() const noexcept;

 private:
  std::shared_ptr<const engine::Compiled> compiled_;
};

/// Makes the plan of an operator for tensors of these shapes, strides and types. Data pointers are not looked at.
template <class Op>
Plan plan(const Op& op, const ConstTensorView& src, const TensorView& dst) {
  return op.plan(src, dst);
}

/// Throws the Error that stands for a status other than ok.
PATCHFOLD_API void throw_if_failed(Status status, std::string_view op);

namespace detail {

/// Changes when plans made before may differ from those that would be made now.
PATCHFOLD_API std::uint64_t plan_generation() noexcept;

/// The calling thread's own T, or null once the thread has destroyed it: destructors of objects that it made before may
/// still call the library, and those of static objects do so after the first thread's.
template <class T>
T* of_this_thread() {
  thread_local bool is_gone = false;
  if (is_gone) return nullptr;
  struct Held {
    T value{};
    ~Held() { is_gone = true; }
  };
  thread_local Held held;
  return &held.value;
}

/// A tensor but for its data.
struct Form {
  Dims shape{};
  Dims strides{};
  DType dtype = DType::float32;
  std::size_t element_size = 0;
  friend bool operator==(const Form&, const Form&) = default;
};

/// The plan of an operator, found among the last few of this thread or made now. Planning a small call takes longer than
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

/// Checks, plans and runs an operator. A thread keeps the plans of its last calls.
template <class Op>
void run(const Op& op, const ConstTensorView& src, const TensorView& dst, Executor& executor = default_executor()) {
  throw_if_failed(detail::recent_plan(op, src, dst).run(src.data, dst.data, executor), Op::name);
}

/// Instruction sets that this build holds and this processor has, best first ("AVX3", "AVX2", "SSE4", ..).
PATCHFOLD_API std::vector<std::string> instruction_sets();
/// Uses one of them from now on, in every thread; "" goes back to the best. Throws Error(value) for any other name.
/// Results do not depend on it. Running calls may switch midway, and so may plans that exist, but for those of the strategy
/// "sum panels": their tables fit the vectors of one set, which they keep. `run` never uses such a plan again after a change.
/// The environment variable PATCHFOLD_INSTRUCTION_SET chooses a set at the first use.
PATCHFOLD_API void use_instruction_set(std::string_view name);

}  // namespace patchfold
