// SPDX-License-Identifier: Apache-2.0
#include "problem.hpp"

namespace patchfold::testing {

std::span<const Subject> subjects() {
  static const std::vector<Subject> all = [] {
    std::vector<Subject> list = window_subjects();
    for (auto& subject : block_subjects()) list.push_back(std::move(subject));
    for (auto& subject : subjects_from_table(list)) list.push_back(std::move(subject));
    return list;
  }();
  return all;
}

}  // namespace patchfold::testing
