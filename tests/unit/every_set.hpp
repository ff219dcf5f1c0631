// SPDX-License-Identifier: Apache-2.0
// Runs kernels on every instruction set, and records the runs; the test Coverage, which runs last, checks the record.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "instruction_sets.hpp"
#include "kernels/processor.hpp"
#include "kernels/sum.hpp"
#include "kernels/targets.hpp"

namespace patchfold::kernels {

struct Kernel {
  std::string_view name;
  const char* (*target)() noexcept;  ///< returns the set on which the kernel runs at present
};

inline constexpr Kernel vector_kernels[] = {
    {"blend", blend_target},       {"blend means", blend_target},
    {"blend lines", blend_target}, {"copy_rows", stream_target},
    {"gather", stream_target},     {"join", blocks_target},
    {"split", blocks_target},      {"sum", sum_target},
    {"plane", plane_target},       {"mean", mean_target},
    {"mean map", mean_map_target}, {"normalise", blend_target},
    {"sum map", sum_map_target},   {"extract map", extract_map_target},
    {"weigh", weigh_target},
};

/// Returns the record of runs: pairs of a kernel and an instruction set.
inline std::set<std::pair<std::string_view, std::string>>& runs_of_kernels() {
  static std::set<std::pair<std::string_view, std::string>> runs;
  return runs;
}

/// Calls f(set) on every set of sets_to_run() that the library can use, and then restores the best set.
template <class F>
void on_every_instruction_set(std::string_view kernel, F f) {
  for (const std::string& set : patchfold::testing::sets_to_run()) {
    if (!use_instruction_set(set)) continue;  // Coverage, the last test, fails for a set without runs
    f(set);
    for (const auto& [name, target] : vector_kernels)
      if (name == kernel) runs_of_kernels().emplace(name, target());
  }
  use_instruction_set("");
}

}  // namespace patchfold::kernels
