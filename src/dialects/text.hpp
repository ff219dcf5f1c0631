// SPDX-License-Identifier: Apache-2.0
// Reads words and numbers in the forms that people type.
#pragma once

#include <optional>
#include <string_view>

#include "patchfold/table.hpp"

namespace patchfold::dialects {

/// Returns "an integer", "a list of integers", ..
std::string_view phrase(ArgumentKind kind) noexcept;
/// Reads valid, same (which is same_upper), same_upper or same_lower.
std::optional<Padding::Rule> padding_rule(std::string_view word) noexcept;
/// Returns the argument that has or had this name; null if there is none.
const ArgumentSpec* find_argument(const OperatorSpec& op, std::string_view name) noexcept;
/// Returns the argument that find_argument() finds; throws Error(unknown_argument) if there is none.
const ArgumentSpec& known_argument(const OperatorSpec& op, std::string_view name);
/// Reads the text of a problem after the operator's name.
ProblemText parse_problem_of(const OperatorSpec& op, std::string_view text);
/// Reads a decimal integer; returns nothing if the text is anything else.
std::optional<std::int64_t> parse_integer(std::string_view text) noexcept;
/// Reads integers between separators; a trailing separator is allowed. Returns nothing if a part is not an integer, or if there are
/// too many.
std::optional<Dims> parse_list(std::string_view text, char separator);
/// Reads begin:end pairs between separators.
std::optional<PadsList> parse_pairs(std::string_view text, char separator);

}  // namespace patchfold::dialects
