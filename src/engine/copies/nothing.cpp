// SPDX-License-Identifier: Apache-2.0
// The strategy "nothing": problems without destination elements.
#include "engine/copies/copies.hpp"

namespace patchfold::engine {
namespace {

/// A plan of the strategy: no rows of work.
class Nothing final : public Compiled {
 public:
  using Compiled::Compiled;

 private:
  void run_rows(const std::byte*, std::byte*, std::int64_t, std::int64_t, std::byte*) const noexcept override {}
};

}  // namespace

bool is_nothing(const Problem& problem) noexcept {
  for (const Dim& dim : problem.dims)
    if (dim.extent == 0) return true;
  for (const Window& window : problem.windows)
    if ((problem.verb == Verb::extract ? window.positions : window.extent) == 0) return true;
  return false;
}

std::unique_ptr<Compiled> make_nothing(const Problem& problem) {
  return is_nothing(problem) ? std::make_unique<Nothing>(problem) : nullptr;
}

}  // namespace patchfold::engine
