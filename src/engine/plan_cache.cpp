// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "engine/compiled.hpp"
#include "patchfold/plan.hpp"
#include "tensor/of_this_thread.hpp"

namespace patchfold {

double Plan::moved_bytes() const noexcept {
  return compiled_ ? compiled_->bytes() : 0;
}

namespace detail {
namespace {

constexpr std::size_t most_plans = 64;
/// The most bytes that one kept plan counts for, and the most bytes of all plans that a thread keeps. The tables of a plan
/// have about as many bytes as its call moves, but never more than its strategy allows.
constexpr double most_of_one = 8 << 20, most_of_all = 64 << 20;

/// A plan that a thread keeps, with the words of its call. `words` holds everything that a plan depends on, so equal words
/// mean an equal plan.
struct Recent {
  std::vector<std::uint64_t> words;
  std::unique_ptr<const Planned> planned;
  double bytes;  ///< an upper bound of the bytes of its tables, roughly
};
/// The plans that a thread keeps, all of one generation: a change of the instruction set makes them stale.
struct RecentPlans {
  std::uint64_t generation = 0;
  std::vector<Recent> list{};  ///< the latest one first
};

/// Returns the plans of this thread and of the key's generation; null if the key is not whole, or if this thread keeps no plans.
std::vector<Recent>* plans_for(const PlanKey& key) noexcept {
  auto* const plans = key.is_whole() ? of_this_thread<RecentPlans>() : nullptr;
  if (plans == nullptr) return nullptr;
  if (plans->generation != key.generation()) *plans = {key.generation(), {}};
  return &plans->list;
}

}  // namespace

const Planned* find_plan(const PlanKey& key) noexcept {
  auto* const plans = plans_for(key);
  if (plans == nullptr) return nullptr;
  const auto known =
      std::ranges::find_if(*plans, [&](const Recent& one) { return std::ranges::equal(one.words, key.words()); });
  if (known == plans->end()) return nullptr;
  std::rotate(plans->begin(), known, known + 1);
  return plans->front().planned.get();
}

void keep_plan(const PlanKey& key, const Planned& planned) noexcept {
  auto* const plans = plans_for(key);
  if (plans == nullptr) return;
  try {
    const auto words = key.words();
    const double bytes = std::min(planned.plan.moved_bytes(), most_of_one);
    plans->insert(plans->begin(), {{words.begin(), words.end()}, std::make_unique<const Planned>(planned), bytes});
  } catch (const std::bad_alloc&) {  // the next call then makes the plan anew
  }
  std::size_t count = 0;
  for (double all = 0; count < std::min(plans->size(), most_plans); ++count)
    if ((all += (*plans)[count].bytes) > most_of_all) break;
  plans->resize(count);
}

}  // namespace detail
}  // namespace patchfold
