// SPDX-License-Identifier: Apache-2.0
// Objects that are never destroyed, since other threads may still use them while the process ends.
#pragma once

#include <atomic>
#include <memory>
#include <type_traits>

namespace patchfold {

/// A variable of static storage that is never destroyed.
template <class T>
union Lasting {
  constexpr Lasting() noexcept : value() {}
  ~Lasting() {}
  T value;
};

/// Returns the result of the first call of a lambda. Threads may call the lambda at the same time, and one result is kept. There is
/// no lock, because a child that is forked during a call would wait for a thread that it does not have.
template <class F>
const auto& lasting(F make) {
  static_assert(std::is_class_v<F>, "a lambda: functions of one type would share what they make");
  using T = decltype(make());
  static constinit std::atomic<const T*> kept{nullptr};
  const T* known = kept.load(std::memory_order_acquire);
  if (known != nullptr) return *known;
  auto made = std::make_unique<const T>(make());
  if (kept.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) known = made.release();
  return *known;
}

}  // namespace patchfold
