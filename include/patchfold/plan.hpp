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

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "patchfold/error.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold {

/// The result of running a plan. Running a plan throws nothing.
enum class Status { ok, null_data, overlap, out_of_memory, executor_failed, scratch_too_small, scratch_overlap };

/// Returns the meaning of a status, as a sentence.
PATCHFOLD_API std::string_view describe(Status status) noexcept;

/// Runs pieces of work on threads. Derive a class from Executor to use your own threads; its functions must not throw.
class PATCHFOLD_API Executor {
 public:
  using Body = void (*)(void* context, std::int64_t piece) noexcept;

  virtual ~Executor();
  /// Returns the number of pieces that can run at the same time, at least 1.
  virtual int threads() const noexcept = 0;
  /// Calls body(context, piece) exactly once for each piece in [0, pieces), from any thread, in any order, and returns
  /// when all of these calls have ended. More pieces than threads() may run at the same time: a piece may wait until another piece
  /// has ended, but no result changes. run() may be called again while it runs, from other threads and from itself. Returns false
  /// if a call of body was impossible; the destination's content is then unspecified.
  virtual bool run(std::int64_t pieces, Body body, void* context) noexcept = 0;
};

/// Returns the executor that runs pieces on oneTBB with `get_num_threads()` threads. The executor runs pieces on the calling thread
/// in a library without oneTBB, and in a forked child whose parent had used oneTBB, since threads do not survive a fork.
PATCHFOLD_API Executor& default_executor() noexcept;
/// Returns the executor that runs pieces on the calling thread.
PATCHFOLD_API Executor& serial_executor() noexcept;
/// Sets the number of threads of the default executor. 0 means as many as the machine has; a number beyond that adds no threads.
/// Running calls keep the number with which they began. Throws Error(value) for a negative number.
PATCHFOLD_API void set_num_threads(int threads);
/// Returns the number of threads that a call from the current thread would use.
PATCHFOLD_API int get_num_threads() noexcept;

/// Limits how many threads of the default executor the calls of the current thread use at the same time, as long as the object
/// lives. Use a ThreadLimit in workers that run beside other workers. A limit changes neither set_num_threads() nor the calls of
/// other threads. Of nested limits the smallest applies. Throws Error(value) for a number below 1.
class PATCHFOLD_API ThreadLimit {
 public:
  explicit ThreadLimit(int threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  int before_;
};
/// Sets a limit as ThreadLimit does for the calling thread, until the next call of this function; 0: no limit. Returns the former
/// limit. Throws Error(value) for a negative number.
PATCHFOLD_API int set_thread_limit(int threads);

/// Returns an executor from a callable `f(pieces, task)` that calls `task(piece)` for every piece. An exception from f
/// becomes Status::executor_failed.
template <class F>
class CallableExecutor final : public Executor {
 public:
  CallableExecutor(int threads, F f) : threads_(threads), f_(std::move(f)) {}
  int threads() const noexcept override { return threads_; }
  bool run(std::int64_t pieces, Body body, void* context) noexcept override {
    const auto task = [=](std::int64_t piece) noexcept { body(context, piece); };
#if defined(__cpp_exceptions)
    try {
      f_(pieces, task);
    } catch (...) {
      return false;
    }
#else
    f_(pieces, task);
#endif
    return true;
  }

 private:
  int threads_;
  F f_;
};

namespace engine {
class Compiled;
}

/// A checked problem together with the strategy that runs it. A plan is immutable: copy it freely and run it from many
/// threads at once. A plan holds no pointers to the caller's data. A default-constructed plan does nothing.
class PATCHFOLD_API Plan {
 public:
  Plan() = default;
  explicit Plan(std::shared_ptr<const engine::Compiled> compiled) : compiled_(std::move(compiled)) {}

  /// Runs the plan. `src` and `dst` point at the elements with index 0 on every axis. `scratch` is memory of any alignment,
  /// at least scratch_bytes(executor.threads()) bytes, apart from the bytes that src and dst span; no other run may use it at the
  /// same time. The run then allocates nothing. Without `scratch`, the run uses memory that
  /// the library keeps for the calling thread and allocates in one of the thread's first runs.
  [[nodiscard]] Status run(const void* src, void* dst, Executor& executor = default_executor(),
                           const std::optional<std::span<std::byte>>& scratch = std::nullopt) const noexcept;
  [[nodiscard]] Status run(const void* src, void* dst, std::span<std::byte> scratch,
                           Executor& executor = default_executor()) const noexcept {
    return run(src, dst, executor, scratch);
  }
  /// Returns the bytes of scratch memory that a run with this many threads needs.
  std::size_t scratch_bytes(int threads) const noexcept;
  /// Returns the bytes that a run reads and writes, roughly.
  double moved_bytes() const noexcept;
  /// Returns a text with strategy, normal form, pieces and bytes moved.
  std::string describe() const;
  /// Returns the name of the strategy, as in describe().
  std::string_view strategy() const noexcept;
  /// Returns the plan in the form of src/engine, for patchfold's own parts; null for a plan that does nothing.
  const std::shared_ptr<const engine::Compiled>& compiled() const noexcept { return compiled_; }

 private:
  std::shared_ptr<const engine::Compiled> compiled_;
};

/// Returns the plan of an operator for tensors of these shapes, strides and types. Ignores the data pointers. Each thread keeps the
/// plans of its last calls, and returns a kept plan for an equal call.
template <class Op>
Plan plan(const Op& op, const ConstTensorView& src, const TensorView& dst) {
  return op.plan(src, dst);
}

/// The error of a call, if it failed.
struct [[nodiscard]] Attempt {
  std::optional<ErrorCode> error{};  ///< code of the Error that the call threw; out_of_memory for any other exception
  std::string message{};             ///< what() of that Error; empty if there was no memory for the text
  explicit operator bool() const noexcept { return !error; }
};

/// A plan, or the error that prevented it.
struct [[nodiscard]] Planning : Attempt {
  Plan plan{};  ///< the plan, if there is no error
};

namespace detail {
PATCHFOLD_API Attempt attempt(void (*call)(void* function), void* function) noexcept;
}

/// Calls f() and returns the error that a function of the library throws in it, for programs without exceptions. Objects in f are
/// destroyed only if f is compiled with exceptions, so let f assign to objects outside of it. An exception of the library passes
/// through code of this header: a program without unwinding tables needs -funwind-tables.
template <class F>
Attempt attempt(F&& f) noexcept {
  return detail::attempt([](void* function) { (*static_cast<std::remove_reference_t<F>*>(function))(); },
                         const_cast<void*>(static_cast<const void*>(std::addressof(f))));
}

/// Makes a plan as plan() does, but returns the error instead of throwing it, as attempt() does.
template <class Op>
Planning try_plan(const Op& op, const ConstTensorView& src, const TensorView& dst) noexcept {
  Planning result;
  static_cast<Attempt&>(result) = attempt([&] { result.plan = op.plan(src, dst); });
  return result;
}

/// Throws the Error of a status other than ok. `output` names the destination in the Error of overlap.
PATCHFOLD_API void throw_if_failed(Status status, std::string_view op, std::string_view output = {});

/// Checks, plans and runs an operator.
template <class Op>
void run(const Op& op, const ConstTensorView& src, const TensorView& dst, Executor& executor = default_executor()) {
  throw_if_failed(op.plan(src, dst).run(src.data, dst.data, executor), Op::name);
}

/// Returns the instruction sets that this build contains and this processor has, best first ("AVX3", "AVX2", "SSE4", ..).
PATCHFOLD_API std::vector<std::string> instruction_sets();
/// Selects one of instruction_sets() for every thread, by its name in upper or lower case; "" selects the best set. Throws
/// Error(value) for any other name. Results are identical on every set. Running calls and existing plans may switch to the new set
/// midway. Only plans with a program (see docs/glossary.md) and plans of sums keep their set, because their tables fit the vectors
/// of one set. The function run() never uses such a plan after a change. Before the first selection, the environment variable
/// PATCHFOLD_INSTRUCTION_SET selects the set, and without this variable the best set is used. docs/embedding.md lists the
/// environment variables.
PATCHFOLD_API void use_instruction_set(std::string_view name);

// Plans that each thread keeps from its last calls, for patchfold's own front ends, because planning a small call takes several
// times as long as running it. A front end finds a plan by a key: all facts of the call that determine the plan, in the front end's
// own form.
namespace detail {

/// Makes later plans use the row `only` of the strategy table wherever that row fits, and avoid the row `without`; an empty name
/// has no effect. Serves measurements. Throws Error(value) for a name that no row has. No other thread may make plans during the
/// call.
PATCHFOLD_API void choose_rows(std::string_view only, std::string_view without);

/// Returns a number that changes when older plans may differ from new ones, for example after use_instruction_set().
PATCHFOLD_API std::uint64_t plan_generation() noexcept;

/// The key of a plan: everything that the plan depends on, as numbers. A key holds copies and no pointers.
class PlanKey {
 public:
  /// The front end that made the key. Keys of different makers are never equal.
  enum class Maker : std::uint8_t { library, python, tensorflow, xla };

  explicit PlanKey(Maker maker) noexcept { add(maker); }

  /// Returns the number that plan_generation() had when the key was made.
  std::uint64_t generation() const noexcept { return generation_; }

  /// Returns whether the key had room for all its numbers. Otherwise no plan is found or kept for the key.
  bool is_whole() const noexcept { return is_whole_; }
  std::span<const std::uint64_t> words() const noexcept { return {words_.data(), size_}; }
  void give_up() noexcept { is_whole_ = false; }

  template <class T>
  requires(std::is_integral_v<T> || std::is_enum_v<T>) void add(T value) noexcept {
    if (std::uint64_t* const to = take(1)) *to = static_cast<std::uint64_t>(value);
  }
  template <class E>
  requires std::is_enum_v<E>
  void add(const std::optional<E>& value) noexcept { add(value.has_value(), value.value_or(E{})); }
  void add(double value) noexcept { add(std::bit_cast<std::uint64_t>(value)); }
  void add_bytes(const void* bytes, std::size_t size) noexcept {
    add(size);
    const std::size_t count = (size + 7) / 8;
    std::uint64_t* const to = take(count);
    if (to == nullptr || count == 0) return;
    to[count - 1] = 0;
    std::memcpy(to, bytes, size);
  }
  void add(std::string_view text) noexcept { add_bytes(text.data(), text.size()); }
  void add(const Dims& dims) noexcept {
    std::uint64_t* to = take(static_cast<std::size_t>(dims.size()) + 1);
    if (to == nullptr) return;
    *to = static_cast<std::uint64_t>(dims.size());
    for (const std::int64_t value : dims) *++to = static_cast<std::uint64_t>(value);
  }
  void add(const Axes& axes) noexcept { add(axes.is_scalar(), axes.values()); }
  void add(const PadsList& pads) noexcept {
    add(pads.size());
    for (int i = 0; i < pads.size(); ++i) add(pads[i].begin, pads[i].end);
  }
  void add(const Padding& padding) noexcept { add(padding.rule(), padding.is_scalar(), padding.pads()); }
  void add(const Scalar& scalar) noexcept { add(scalar.kind(), scalar.as_unsigned(), scalar.real(), scalar.imaginary()); }
  /// Adds shape, strides and element type of a tensor.
  void add_form(const auto& view) noexcept { add(view.shape, view.strides, view.dtype, view.element_size); }
  template <class... T>
  requires(sizeof...(T) != 1) void add(const T&... values) noexcept { (add(values), ...); }

 private:
  /// Returns the place of the next `count` numbers; null if there is no room.
  std::uint64_t* take(std::size_t count) noexcept {
    if (count > words_.size() - size_) {
      give_up();
      return nullptr;
    }
    size_ += count;
    return words_.data() + (size_ - count);
  }

  std::array<std::uint64_t, 256> words_;
  std::size_t size_ = 0;
  bool is_whole_ = true;
  std::uint64_t generation_ = plan_generation();
};

/// A plan, with the shape of its output for front ends that allocate the output.
struct Planned {
  Plan plan{};
  Dims output{};
};

/// Returns the plan that this thread keeps for the key, valid until the thread's next call; null if there is none.
PATCHFOLD_API const Planned* find_plan(const PlanKey& key) noexcept;
/// Keeps a plan for the key if there is memory.
PATCHFOLD_API void keep_plan(const PlanKey& key, const Planned& planned) noexcept;

/// Returns the plan that this thread keeps for the key, or else the result of make().
template <class F>
Planned recent_plan(const PlanKey& key, F&& make) {
  if (const Planned* const known = find_plan(key)) return *known;
  Planned made = make();
  keep_plan(key, made);
  return made;
}

}  // namespace detail
}  // namespace patchfold
