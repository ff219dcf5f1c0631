// SPDX-License-Identifier: Apache-2.0
// The table of strategies. The first row that fits a normalised problem and pays is used.
#include "engine/table.hpp"

#include <atomic>
#include <string>

#include "base/fail.hpp"
#include "engine/compiled.hpp"
#include "engine/copies/copies.hpp"
#include "engine/instruction_set.hpp"
#include "engine/machine.hpp"
#include "engine/normalise.hpp"
#include "engine/sums/sums.hpp"
#include "patchfold/plan.hpp"
#include "tensor/environment.hpp"

namespace patchfold::engine {
namespace {

bool always(const Problem&) {
  return true;
}

/// A row of the table. `make` returns null for a problem that the strategy does not fit. `pays` returns, without
/// allocating, whether a problem that the strategy fits is faster with it than with the rows below.
struct Strategy {
  std::string_view name;
  std::unique_ptr<Compiled> (*make)(const Problem&);
  bool (*pays)(const Problem&) = always;
};

// "x a of n" means: without the row, its n problems take a times as long on one thread (geometric mean, `patchfold bench --without
// ROW`). The n problems come from `patchfold bench --random 1 600`, bench/problems.txt and 391 calls of networks; for sums, from
// `patchfold bench --random 1 500`.
constexpr Strategy strategies[] = {
    {"nothing", make_nothing},                              // no destination elements
    {"memcpy", make_memcpy},                                // x 1.0 of 4; past the cache x 1.3, and threads share one run
    {"streams", make_streams, streams_pay},                 // x 1.36 of 22
    {"extract maps", make_extract_maps, extract_maps_pay},  // x 1.25 of 160
    {"counts", make_counts},                                // coverage, whose time must not grow with the number of taps
    {"bands", make_bands, bands_pay},                       // x 2.70 of 126
    {"strided", make_strided},                              // x 3.07 of 383
    {"parts", make_parts, parts_pay},                       // x 2.37 of 89
    {"move", make_move},                                    // all other copies
    {"sum maps", make_sum_maps},                            // x 3.18 of 34
    {"sum bands", make_sum_bands, sum_bands_pay},           // x 2.29 of 24
    {"sum rows", make_sum_rows},                            // all other sums
};

Forced forced_rows;

/// Returns the plan of the first row that fits the problem among those for which is_tried() is true; null if there is none.
std::unique_ptr<Compiled> plan_by(const Problem& normal, auto&& is_tried) {
  for (const Strategy& strategy : strategies) {
    if (!is_tried(strategy)) continue;
    std::unique_ptr<Compiled> compiled = strategy.make(normal);
    if (!compiled) continue;
    compiled->strategy = strategy.name;
    return compiled;
  }
  return nullptr;
}

/// Returns the names of all rows, with commas.
std::string known_names() {
  std::string known;
  for (const Strategy& strategy : strategies) known += (known.empty() ? "" : ", ") + std::string(strategy.name);
  return known;
}

/// Returns the name of a row as in the table; nothing if there is no such row.
std::string_view row_named(std::string_view name) noexcept {
  for (const Strategy& strategy : strategies)
    if (strategy.name == name) return strategy.name;
  return {};
}

std::string_view row_of(EnvironmentVariable& variable) {
  const char* const name = variable.value();
  if (name == nullptr) return {};
  const std::string_view row = row_named(name);
  if (row.empty()) variable.ignore(("one of " + known_names()).c_str());
  return row;
}

constinit EnvironmentVariable wanted_row("PATCHFOLD_ONLY_ROW"), unwanted_row("PATCHFOLD_WITHOUT");

/// Applies the environment variables that force choices, once.
void apply_environment() {
  static constinit std::atomic<bool> applied{false};
  if (applied.load(std::memory_order_acquire)) return;
  const Forced forced{.strategy = row_of(wanted_row), .without = row_of(unwanted_row)};
  if (!forced.strategy.empty() || !forced.without.empty()) force(forced);
  applied.store(true, std::memory_order_release);
}

}  // namespace

void force(const Forced& forced) noexcept {
  forced_rows = forced;
  force_store(forced.store);
  forget_plans();
}

std::vector<std::string_view> strategy_names() {
  std::vector<std::string_view> names;
  for (const Strategy& strategy : strategies) names.push_back(strategy.name);
  return names;
}

std::unique_ptr<Compiled> plan_normal(const Problem& normal) {
  const std::string_view only = forced_rows.strategy, without = forced_rows.without;
  std::unique_ptr<Compiled> compiled;
  // The first row is always tried, so that other rows may assume that the destination has elements.
  if (!only.empty()) compiled = plan_by(normal, [&](const Strategy& row) { return row.name == only || &row == strategies; });
  if (!compiled && !without.empty())
    compiled = plan_by(normal, [&](const Strategy& row) { return row.name != without && row.pays(normal); });
  // Every verb has a row that always fits.
  return compiled ? std::move(compiled) : plan_by(normal, [&](const Strategy& row) { return row.pays(normal); });
}

std::shared_ptr<const Compiled> compile(const Problem& problem, std::string_view op) {
  apply_environment();
  // A problem without elements may have any extents, whose products may exceed 64 bits.
  return plan_normal(is_nothing(problem) ? problem : normalise(problem, op));
}

}  // namespace patchfold::engine

void patchfold::detail::choose_rows(std::string_view only, std::string_view without) {
  const auto row = [](std::string_view name, std::string_view argument) {
    const std::string_view found = engine::row_named(name);
    if (found.empty() && !name.empty())
      fail(ErrorCode::value, "plan", argument, "must name a row of the strategy table", name, engine::known_names());
    return found;
  };
  engine::apply_environment();
  engine::force({.strategy = row(only, "only_row"), .without = row(without, "without")});
}
