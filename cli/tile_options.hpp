// SPDX-License-Identifier: Apache-2.0
// Reads options whose values are words of a list.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/report.hpp"
#include "patchfold/words.hpp"
#include "src/base/other_words.hpp"

namespace patchfold::cli {

/// Returns the value that a word stands for, if `allows` accepts it. Throws Error(usage), which lists the words, and `more`, the
/// other values of the option.
template <Worded E>
E choice_of(std::string_view command, std::string_view option, const std::string& word, bool (*allows)(E) noexcept = nullptr,
            std::string_view more = {}) {
  const auto value = value_of<E>(word_here(word));
  if (value && (allows == nullptr || allows(*value))) return *value;
  fail_usage(command, option, "is unknown", word, listed_words<E>(allows).append(more));
}

/// Returns the words whose values `keep` accepts, for completions.
template <Worded E>
std::vector<std::string> choices_of(bool (*keep)(E) noexcept = nullptr) {
  std::vector<std::string> choices;
  for (const Word<E>& each : words<E>)
    if (keep == nullptr || keep(each.value)) choices.emplace_back(each.word);
  return choices;
}

}  // namespace patchfold::cli
