// SPDX-License-Identifier: Apache-2.0
// Small problems for every operator and every strategy.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "patchfold/table.hpp"

namespace patchfold::faults {

/// Returns problems as text, at least one for every operator.
std::vector<std::string> problems_of_operators();
/// Returns problems as text, at least one for every strategy.
std::vector<std::string> problems_of_strategies();
std::vector<std::string> all_problems();

/// A problem with its tensors. The source has small numbers.
class Task {
 public:
  explicit Task(const std::string& text);

  const OperatorSpec& spec() const noexcept { return *spec_; }
  const ProblemText& problem() const noexcept { return problem_; }
  const ConstTensorView& src() const noexcept { return src_; }
  const TensorView& dst() const noexcept { return dst_; }
  /// Returns a new plan of the problem.
  Plan plan() const { return spec_->bind(problem_.arguments).plan(src_, dst_); }
  /// Binds, plans and runs the problem. Throws every exception of these steps.
  void run(Executor& executor) const;
  /// Fills the destination with bytes that a run must replace. These bytes are the same in each call: problems with
  /// accumulate=true add to them, and their results are compared.
  void spoil();
  const std::vector<std::byte>& result() const noexcept { return output_; }

 private:
  ProblemText problem_;
  const OperatorSpec* spec_;
  std::vector<std::byte> input_;
  std::vector<std::byte> output_;
  ConstTensorView src_{};
  TensorView dst_{};
};

/// An executor whose constructor starts a second thread, which runs every second piece. A run allocates nothing.
class Pair final : public Executor {
 public:
  Pair();
  ~Pair() override;
  int threads() const noexcept override { return 2; }
  bool run(std::int64_t pieces, Body body, void* context) noexcept override;

 private:
  struct Other;
  std::unique_ptr<Other> other_;
};

}  // namespace patchfold::faults
