// SPDX-License-Identifier: Apache-2.0
// Gives a run its scratch memory, and each piece of the run a part of it.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <thread>

#include "engine/thread_sanitizer.hpp"
#include "tensor/of_this_thread.hpp"

namespace patchfold::engine {

/// Scratch memory of the calling thread, kept for its next runs, so that a repeated run allocates nothing. An executor may
/// run other plans on this thread while it waits for the pieces of a plan; such plans get memory of their own.
class ThreadScratch {
 public:
  explicit ThreadScratch(std::size_t size) noexcept {
    Memory* const kept = of_this_thread<Memory>();
    if (kept != nullptr && !kept->in_use) used_ = kept;
    used_->in_use = true;
    if (used_->size >= size) return;
    used_->bytes.reset(new (std::nothrow) std::byte[size]);
    used_->size = used_->bytes ? size : 0;
    is_there_ = used_->bytes != nullptr;
  }
  ThreadScratch(const ThreadScratch&) = delete;
  ThreadScratch& operator=(const ThreadScratch&) = delete;
  ~ThreadScratch() { used_->in_use = false; }

  /// Returns whether the memory could be allocated.
  bool is_there() const noexcept { return is_there_; }
  std::byte* data() const noexcept { return used_->bytes.get(); }

 private:
  struct Memory {
    std::unique_ptr<std::byte[]> bytes{};
    std::size_t size = 0;
    bool in_use = false;
  };
  Memory own_{};
  Memory* used_ = &own_;
  bool is_there_ = true;
};

#ifdef __cpp_lib_atomic_ref
using AtomicWord = std::atomic_ref<std::uint64_t>;
#else
/// The part of std::atomic_ref that is used here, for libc++ before version 19.
class AtomicWord {
 public:
  explicit AtomicWord(std::uint64_t& word) noexcept : word_(&word) {}
  std::uint64_t load(std::memory_order) const noexcept { return __atomic_load_n(word_, __ATOMIC_RELAXED); }
  bool compare_exchange_weak(std::uint64_t& now, std::uint64_t then, std::memory_order, std::memory_order) const noexcept {
    return __atomic_compare_exchange_n(word_, &now, then, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
  }
  void fetch_or(std::uint64_t bits, std::memory_order) const noexcept { __atomic_fetch_or(word_, bits, __ATOMIC_RELEASE); }

 private:
  std::uint64_t* word_;
};
#endif

/// Lends the parts of a run's scratch memory to its pieces. There are as many parts as threads, not as pieces, so that
/// small pieces need no more memory than large ones. If an executor runs more pieces at a time than its threads(), some pieces wait
/// for a part.
class ScratchParts {
 public:
  static constexpr std::int64_t most = 1024;

  /// Makes `parts` parts; `parts` must be at most `most`. With 0 parts nothing is lent, and take() returns 0.
  explicit ScratchParts(std::int64_t parts) noexcept : parts_(parts) {
    for (std::int64_t word = 0; word * bits < parts; ++word) {
      const std::int64_t rest = parts - word * bits;
      free_[static_cast<std::size_t>(word)] = rest >= bits ? ~std::uint64_t{0} : (std::uint64_t{1} << rest) - 1;
    }
  }

  /// Returns the number of a part, which no other piece gets until it is given back.
  std::int64_t take() noexcept {
    if (parts_ == 0) return 0;
    for (;; std::this_thread::yield())
      for (std::int64_t word = 0; word * bits < parts_; ++word) {
        const AtomicWord free(free_[static_cast<std::size_t>(word)]);
        std::uint64_t now = free.load(std::memory_order_relaxed);
        while (now != 0)
          if (free.compare_exchange_weak(now, now & (now - 1), std::memory_order_acquire, std::memory_order_relaxed)) {
            note_acquire(this);
            return word * bits + std::countr_zero(now);
          }
      }
  }
  void give_back(std::int64_t part) noexcept {
    if (parts_ == 0) return;
    note_release(this);
    const AtomicWord free(free_[static_cast<std::size_t>(part / bits)]);
    free.fetch_or(std::uint64_t{1} << part % bits, std::memory_order_release);
  }

 private:
  static constexpr std::int64_t bits = 64;
  std::int64_t parts_;
  std::array<std::uint64_t, most / bits> free_;  // a bit for each part, set if free; words beyond the parts are not initialised
};

}  // namespace patchfold::engine
