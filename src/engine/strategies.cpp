// SPDX-License-Identifier: Apache-2.0
// The table of strategies. The first row that applies to a normalised problem wins.
#include "engine/compiled.hpp"
#include "engine/instruction_set.hpp"
#include "engine/move.hpp"
#include "engine/normalise.hpp"
#include "engine/sum.hpp"

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
  return std::make_unique<Nothing>(problem);
}

struct Strategy {
  std::string_view name;
  bool (*applies)(const Problem&);
  std::unique_ptr<Compiled> (*make)(const Problem&);
};

constexpr Strategy strategies[] = {
    {"nothing", is_nothing, make_nothing},           // no destination elements
    {"memcpy", is_memcpy, make_memcpy},              // before any loop is set up
    {"move", is_move, make_move},                    // all other copies
    {"sum rows", is_sum_by_rows, make_sum_by_rows},  // each tap meets many elements of a row
    {"sum elements", is_sum, make_sum_by_elements},  // strides beyond the row: solve for each element's taps
};

}  // namespace

std::shared_ptr<const Compiled> compile(const Problem& problem, std::string_view op) {
  apply_environment();
  const Problem normal = normalise(problem, op);
  for (const Strategy& strategy : strategies) {
    if (!strategy.applies(normal)) continue;
    std::unique_ptr<Compiled> compiled = strategy.make(normal);
    compiled->strategy = strategy.name;
    return compiled;
  }
  return nullptr;  // not reached: every verb has a row that always applies
}

}  // namespace patchfold::engine
