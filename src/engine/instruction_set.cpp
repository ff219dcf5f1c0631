// SPDX-License-Identifier: Apache-2.0
#include "engine/instruction_set.hpp"

#include <atomic>
#include <cstdint>

#include "base/fail.hpp"
#include "kernels/processor.hpp"
#include "patchfold/plan.hpp"

namespace patchfold {

std::vector<std::string> instruction_sets() {
  return kernels::instruction_sets();
}

namespace {

std::atomic<std::uint64_t> generation{1};

}  // namespace

std::uint64_t detail::plan_generation() noexcept {
  return generation.load(std::memory_order_relaxed);
}

void engine::forget_plans() noexcept {
  generation.fetch_add(1, std::memory_order_relaxed);
}

void use_instruction_set(std::string_view name) {
  if (kernels::use_instruction_set(name)) return engine::forget_plans();
  std::string known;
  for (const std::string& set : kernels::instruction_sets()) known += (known.empty() ? "" : ", ") + set;
  fail(ErrorCode::value, "use_instruction_set", "name", "must be one that this build holds and this processor has", name,
       known);
}

}  // namespace patchfold
