// SPDX-License-Identifier: Apache-2.0
// Executors that reveal mistakes in the division of work among threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include "patchfold/plan.hpp"
#include "random.hpp"

namespace patchfold::testing {

/// An executor that starts its threads in each run; every thread takes the next piece when it is free. Several threads may
/// call one executor at once.
class PlainThreads : public Executor {
 public:
  explicit PlainThreads(int threads) : threads_(threads) {}
  int threads() const noexcept override { return threads_; }
  bool run(std::int64_t pieces, Body body, void* context) noexcept override {
    std::atomic<std::int64_t> next{0};
    const auto work = [&] {
      for (std::int64_t piece = next++; piece < pieces; piece = next++) body(context, piece);
    };
    std::vector<std::thread> others;
    for (int i = 1; i < threads_; ++i) others.emplace_back(work);
    work();
    for (std::thread& other : others) other.join();
    return true;
  }

 private:
  int threads_;
};

/// An executor with two threads that records the largest number of pieces of a run.
class TwoThreads final : public PlainThreads {
 public:
  TwoThreads() : PlainThreads(2) {}
  bool run(std::int64_t pieces, Body body, void* context) noexcept override {
    most_pieces = std::max(most_pieces, pieces);
    return PlainThreads::run(pieces, body, context);
  }
  std::int64_t most_pieces = 0;
};

/// An executor that claims several threads and runs the pieces one by one, in a random order.
class AnyOrder final : public Executor {
 public:
  AnyOrder(std::uint64_t seed, int threads) : random_(seed), threads_(threads) {}
  int threads() const noexcept override { return threads_; }
  bool run(std::int64_t pieces, Body body, void* context) noexcept override {
    std::vector<std::int64_t> order(static_cast<std::size_t>(pieces));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(i) - 1))]);
    for (const auto piece : order) body(context, piece);
    return true;
  }

 private:
  Random random_;
  int threads_;
};

}  // namespace patchfold::testing
