// SPDX-License-Identifier: Apache-2.0
// The table of strategies. The first row that applies to a normalised problem wins.
#include "engine/strategies.hpp"

#include "engine/blocks.hpp"
#include "engine/compiled.hpp"
#include "engine/instruction_set.hpp"
#include "engine/move.hpp"
#include "engine/normalise.hpp"
#include "engine/stage.hpp"
#include "engine/sum.hpp"
#include "engine/sum_tiles.hpp"

namespace patchfold::engine {
namespace {

class Nothing final : public Compiled {
 public:
  using Compiled::Compiled;

 private:
  void run_rows(const std::byte*, std::byte*, std::int64_t, std::int64_t, std::byte*) const noexcept override {}
};

bool is_nothing(const Problem& problem) {
  for (const Dim& dim : problem.dims)
    if (dim.extent == 0) return true;
  for (const Window& window : problem.windows)
    if ((problem.verb == Verb::extract ? window.positions : window.extent) == 0) return true;
  return false;
}

std::unique_ptr<Compiled> make_nothing(const Problem& problem) {
  return is_nothing(problem) ? std::make_unique<Nothing>(problem) : nullptr;
}

/// `make` returns null for a problem that the strategy does not fit.
struct Strategy {
  std::string_view name;
  std::unique_ptr<Compiled> (*make)(const Problem&);
};

constexpr Strategy strategies[] = {
    {"nothing", make_nothing},      // no destination elements
    {"memcpy", make_memcpy},        // before any loop is set up
    {"split", make_split},          // blocks to planes
    {"join", make_join},            // planes to blocks
    {"transpose", make_transpose},  // matrices of small elements
    {"gather", make_gather},        // pieces in the destination's order
    {"stage positions", make_stage_by_positions},
    {"stage taps", make_stage_by_taps},
    {"move", make_move},                     // all other copies
    {"sum tiles", make_sum_tiles},           // columns read in long runs
    {"sum rows", make_sum_by_rows},          // each tap meets many elements of a row
    {"sum elements", make_sum_by_elements},  // strides beyond the row: solve for each element's taps
};

}  // namespace

std::vector<std::string_view> strategy_names() {
  std::vector<std::string_view> names;
  for (const Strategy& strategy : strategies) names.push_back(strategy.name);
  return names;
}

std::shared_ptr<const Compiled> compile(const Problem& problem, std::string_view op) {
  apply_environment();
  const Problem normal = normalise(problem, op);
  const std::string_view wanted = forced().strategy;
  for (const bool all : {wanted.empty(), true})
    for (const Strategy& strategy : strategies) {
      if (!all && strategy.name != wanted) continue;
      std::unique_ptr<Compiled> compiled = strategy.make(normal);
      if (!compiled) continue;
      compiled->strategy = strategy.name;
      return compiled;
    }
  return nullptr;  // not reached: every verb has a row that always applies
}

}  // namespace patchfold::engine
