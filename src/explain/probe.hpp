// SPDX-License-Identifier: Apache-2.0
// An operator tried out: it is run on tensors of indices, so that nothing has to be known about it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explain/subject.hpp"

namespace patchfold::explaining {

/// Runs an operator on elements of 64 bits, with a fill of 0.
class Probe {
 public:
  /// `plain`: with the padding mode constant instead of the one that is given.
  Probe(const Subject& subject, bool plain);

  /// The output for this input; it starts from zeros, and stays as it is until the next run.
  const std::vector<std::uint64_t>& run(const std::vector<std::uint64_t>& input);
  /// Whether the operator adds to what the output holds.
  bool accumulates();
  /// For operators that add: the first input elements, at most `most`, that go to one output element, which gets `count` of
  /// them. Row-major order, or with the last axis slowest.
  std::vector<std::int64_t> contributors(std::int64_t element, std::uint64_t count, std::size_t most,
                                         bool last_axis_slowest);
  /// For operators that add: where each of at most 64 input elements goes; -1 for outside.
  std::vector<std::int64_t> destinations(const std::vector<std::int64_t>& elements);

 private:
  void descend(std::int64_t begin, std::int64_t end);
  std::uint64_t& nth_input(std::int64_t n) { return input_[static_cast<std::size_t>(element_of(n))]; }
  std::int64_t element_of(std::int64_t n) const { return n % slow_step_ * slow_extent_ + n / slow_step_; }

  std::string name_;
  std::int64_t last_extent_;
  Plan plan_;
  std::vector<std::uint64_t> input_;  // zeros between runs
  std::vector<std::uint64_t> output_;
  // Of the search for contributors.
  std::int64_t element_ = 0;
  int digit_bits_ = 0;
  std::size_t most_ = 0;
  std::int64_t slow_extent_ = 1;  // of the axis that is moved to the front
  std::int64_t slow_step_ = 1;
  std::vector<std::int64_t> found_;
};

/// For operators that move: for each output element the input element that it comes from, or -1 for outside.
std::vector<std::int64_t> sources(const Subject& subject, bool plain);

}  // namespace patchfold::explaining
