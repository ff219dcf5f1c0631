// SPDX-License-Identifier: Apache-2.0
#include "facts.hpp"

#include <map>
#include <stdexcept>
#include <string>

namespace patchfold::facts {
namespace {

std::map<std::string_view, Facts>& all() {
  static std::map<std::string_view, Facts> facts;
  return facts;
}

}  // namespace

Known::Known(std::vector<Facts> dialect) {
  for (Facts& facts : dialect) {
    const std::string_view op = facts.op;
    if (!all().emplace(op, std::move(facts)).second) throw std::logic_error(std::string(op) + " has facts twice");
  }
}

const Facts* find(std::string_view op) {
  const auto found = all().find(op);
  return found == all().end() ? nullptr : &found->second;
}

std::vector<std::string_view> known() {
  std::vector<std::string_view> names;
  for (const auto& [op, facts] : all()) names.push_back(op);
  return names;
}

}  // namespace patchfold::facts
