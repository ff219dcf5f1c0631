// SPDX-License-Identifier: Apache-2.0
// The table of strategies. The first row that applies to a normalised problem wins.
#include "engine/strategies.hpp"

#include "engine/compiled.hpp"
#include "engine/instruction_set.hpp"
#include "engine/machine.hpp"
#include "engine/normalise.hpp"
#include "engine/stage.hpp"
#include "engine/strategy.hpp"

namespace patchfold::engine {
namespace {

bool always(const Problem&) {
  return true;
}

/// `make` returns null for a problem that the strategy does not fit. `pays` tells, before anything is allocated, whether a
/// problem that it fits is faster with it than with the rows behind it.
struct Strategy {
  std::string_view name;
  std::unique_ptr<Compiled> (*make)(const Problem&);
  bool (*pays)(const Problem&) = always;
};

// Figures: time with the general row ("move", "sum rows") and with this one, in multiples of the mix that `patchfold bench`
// prints (one thread, float32). Of "strided", "framed" and "sum bands": time without the row and with it, in copies.
constexpr Strategy strategies[] = {
    {"nothing", make_nothing},             // no destination elements
    {"memcpy", make_memcpy},               // 1.2 -> 1.0: space_to_batch 8x64x224x224 block 1
    {"split", make_split, split_pays},     // 8.9 -> 1.0: space_to_depth 8x64x112x112 block 2
    {"join", make_join, join_pays},        // 3.7 -> 1.0: depth_to_space 1x48x512x512 block 4
    {"gather", make_gather, gather_pays},  // 3.0 -> 1.2: space_to_depth 1x2048x2048x3 block 4, channels last
    {"stage positions", make_stage_positions, stage_positions_pays},  // 2.4 -> 1.0: unfold 8x64x112x112, kernel 3, padding 1
    {"stage taps", make_stage_taps, stage_taps_pays},                 // 1.8 -> 1.0: patches of 8x112x112x64, kernel 3, SAME
    {"cropped", make_cropped},         // 5.8 -> 3.3: batch_to_space 32x64x56x56 block 2, crops 1
    {"counts", make_counts},           // coverage: its time must not grow with the taps that meet
    {"bands", make_bands, bands_pay},  // 7.0 -> 3.1: unfold 8x3x224x224 into tokens, kernel 7 stride 4 padding 3
    {"strided", make_strided},         // 1376 -> 1.6: unfold 2x3x1022x1022 kernel 14 stride 14, into tokens, L3 16 MB
    {"framed", make_framed},           // 10.0 -> 4.7: unfold 2x3x378x1518, channels last, kernel 20x24, padding 10
    {"move", make_move},               // all other copies
    {"sum panels", make_sum_panels, sum_panels_pay},  // 3.6 -> 1.3: fold to 112x112, kernel 3, padding 1
    {"sum residues", make_sum_residues,
     sum_residues_pay},                            // 93.4 -> 15.6: fold to 8x207x52, kernel 25x31 stride 23x31, mirrored
    {"sum bands", make_sum_bands, sum_bands_pay},  // 5.8 -> 3.8: fold to 2x96x58x58, channels last, kernel 7 stride 4
    {"sum rows", make_sum_rows},                   // each tap meets many elements of a row
    {"sum elements", make_sum_elements},           // strides beyond the row: solve for each element's taps
};

std::string_view forced_strategy;

}  // namespace

void force(const Forced& forced) noexcept {
  forced_strategy = forced.strategy;
  force_store(forced.store);
  forget_plans();
}

std::vector<std::string_view> strategy_names() {
  std::vector<std::string_view> names;
  for (const Strategy& strategy : strategies) names.push_back(strategy.name);
  return names;
}

std::unique_ptr<Compiled> plan_normal(const Problem& normal) {
  for (const bool all : {forced_strategy.empty(), true})
    for (const Strategy& strategy : strategies) {
      // Nothing is always tried: other rows may take for granted that there is something to do.
      if (!all && strategy.name != forced_strategy && &strategy != strategies) continue;
      if (all && !strategy.pays(normal)) continue;
      std::unique_ptr<Compiled> compiled = strategy.make(normal);
      if (!compiled) continue;
      compiled->strategy = strategy.name;
      return compiled;
    }
  return nullptr;  // not reached: every verb has a row that always applies
}

std::shared_ptr<const Compiled> compile(const Problem& problem, std::string_view op) {
  apply_environment();
  // What has no elements may have any extents, whose products need not fit.
  return plan_normal(is_nothing(problem) ? problem : normalise(problem, op));
}

}  // namespace patchfold::engine
