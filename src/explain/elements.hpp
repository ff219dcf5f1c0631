// SPDX-License-Identifier: Apache-2.0
// Coverage and order: how often elements are used, and which comes from which.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explain/probe.hpp"
#include "explain/text.hpp"

namespace patchfold::explaining {

/// What trying the operator out has shown.
struct Findings {
  std::optional<Probe> probe{};        ///< of operators that add
  std::vector<std::int64_t> from{};    ///< of operators that move: for each output element the input element, or -1
  std::vector<std::int64_t> plain{};   ///< the same with the padding mode constant; empty if that is the mode
  std::vector<std::int64_t> counts{};  ///< moves: how often each input element is used; sums: how many meet in each output
};

Findings try_out(const Subject& subject);
/// What an element that lies outside becomes: the fill value.
std::string outside_text(const Subject& subject);
/// How many taps meet at each element of the image.
std::vector<std::int64_t> taps_at(const Subject& subject, const Findings& findings, bool image_is_input);

void write_coverage(Text& text, const Subject& subject, const Findings& findings);
void write_order(Text& text, const Subject& subject, Findings& findings);

}  // namespace patchfold::explaining
