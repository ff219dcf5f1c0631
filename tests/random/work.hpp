// SPDX-License-Identifier: Apache-2.0
// A plan with data and its expected result, for tests that run it often and from many threads. The result for the first
// source is compared with the reference, unless the problem is too large. Other sources only serve to tell calls apart;
// their results are compared with a run on one thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "problem.hpp"

namespace patchfold::testing {

class Work {
 public:
  /// Makes row-major tensors, with `sources` source tensors of different content.
  Work(const ProblemText& text, std::uint64_t seed, int sources = 1);

  const Plan& plan() const { return plan_; }
  const ProblemText& text() const { return text_; }
  int sources() const { return static_cast<int>(sources_.size()); }
  /// Returns the bytes that one run reads and writes.
  std::int64_t bytes() const;
  /// Returns a new plan for the tensors.
  Plan plan_anew() const;
  /// Runs a plan on a source, with a new destination that begins `shift` bytes after the start of a cache line. Returns
  /// nothing for the right result, else the fault. Any number of threads may call run() at once.
  std::optional<std::string> run(const Plan& plan, int source, Executor& executor, std::size_t shift = 0) const;
  std::optional<std::string> run(int source, Executor& executor, std::size_t shift = 0) const {
    return run(plan_, source, executor, shift);
  }

 private:
  ConstTensorView source_view(const void* data) const;
  TensorView destination_view() const;

  ProblemText text_;
  bool sums_;
  BoundOperator op_;
  Dims shape_;
  Plan plan_;
  std::vector<std::byte> before_{};  ///< content of the destination before a run
  std::vector<std::vector<std::byte>> sources_{}, expected_{};
};

}  // namespace patchfold::testing
