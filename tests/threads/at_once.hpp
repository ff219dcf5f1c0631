// SPDX-License-Identifier: Apache-2.0
// Runs a function in several threads that begin together.
#pragma once

#include <exception>
#include <latch>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace patchfold::testing {

/// Calls f(i) in `count` threads at once. f returns nothing or a fault. Returns one of the faults, if any.
template <class F>
std::optional<std::string> at_once(int count, F f) {
  std::latch start(count);
  std::mutex mutex;
  std::optional<std::string> wrong;
  const auto work = [&](int i) {
    start.arrive_and_wait();
    std::optional<std::string> found;
    try {
      found = f(i);
    } catch (const std::exception& error) {
      found = std::string("threw ") + error.what();
    }
    const std::lock_guard lock(mutex);
    if (found && !wrong) wrong = "thread " + std::to_string(i) + ": " + *found;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  return wrong;
}

}  // namespace patchfold::testing
