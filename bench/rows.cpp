// SPDX-License-Identifier: Apache-2.0
#include "bench/rows.hpp"

#include "src/engine/table.hpp"

namespace patchfold::bench {

std::vector<std::string> rows() {
  const std::vector<std::string_view> names = engine::strategy_names();
  return {names.begin(), names.end()};
}

void choose_rows(const std::string& only, const std::string& without) {
  static std::string kept_only, kept_without;  // what is forced is not copied
  kept_only = only;
  kept_without = without;
  engine::force({.strategy = kept_only, .without = kept_without});
}

}  // namespace patchfold::bench
