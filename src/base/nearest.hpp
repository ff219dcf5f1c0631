// SPDX-License-Identifier: Apache-2.0
// Finds the known word that is most similar to a misspelled word.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace patchfold {

/// Returns the number of edits from one word to another: letters added, left out, replaced, or exchanged with a neighbour.
inline std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = last;
    last = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

/// Finds the candidate of which a word is a misspelling or the beginning.
class Nearest {
 public:
  explicit Nearest(std::string_view word)
      : word_(word.substr(0, 64)), least_(std::max<std::size_t>(1, word_.size() / 3) + 1) {}

  /// Takes a candidate. Returns whether the candidate is similar enough to the word, and more similar than all earlier candidates.
  bool offer(std::string_view candidate) {
    const bool begins = word_.size() >= 3 && candidate.starts_with(word_);
    const std::size_t edits = begins ? 1 : edits_between(candidate, word_);
    if (edits >= least_ || candidate.empty()) return false;
    least_ = edits;
    found_ = candidate;
    return true;
  }
  /// Returns the most similar candidate, or nothing.
  std::string_view found() const noexcept { return found_; }

 private:
  std::string_view word_;
  std::size_t least_;
  std::string_view found_{};
};

}  // namespace patchfold
