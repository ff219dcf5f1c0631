// SPDX-License-Identifier: Apache-2.0
// A problem in the form of the C interface.
#pragma once

#include <string>
#include <vector>

#include "patchfold/patchfold.h"
#include "patchfold/table.hpp"

namespace patchfold::limits {

class CCall {
 public:
  struct Outcome {
    pf_status status = PF_OK;
    std::string op{};
    std::string rule{};
  };

  explicit CCall(const ProblemText& problem);
  Outcome output_shape(Dims& shape) const;
  /// Makes and destroys a plan for row-major tensors without data.
  Outcome plan(const Dims& output) const;

 private:
  pf_tensor tensor(const Dims& shape) const;
  std::vector<pf_tensor> inputs() const;
  static Outcome outcome(pf_status status);

  const ProblemText& problem_;
  bool has_data_;
  std::vector<std::vector<std::int64_t>> numbers_{};  ///< the memory that attributes point to
  std::vector<pf_attribute> attributes_{};
  std::vector<const IndexTensor*> tensors_{};
};

}  // namespace patchfold::limits
