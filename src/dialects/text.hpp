// SPDX-License-Identifier: Apache-2.0
// Words and numbers as people write them.
#pragma once

#include <optional>
#include <string_view>

#include "patchfold/table.hpp"

namespace patchfold::dialects {

/// "an integer", "a list of integers", ..
std::string_view phrase(ArgumentKind kind) noexcept;
/// valid, same (which is same_upper), same_upper, same_lower.
std::optional<Padding::Rule> padding_rule(std::string_view word) noexcept;
/// The argument of that name, or of that name before it was renamed; null if there is none.
const ArgumentSpec* find_argument(const OperatorSpec& op, std::string_view name) noexcept;
/// Returns the argument of that name; throws Error(unknown_argument).
const ArgumentSpec& known_argument(const OperatorSpec& op, std::string_view name);
/// Parses what follows the operator's name in the text of a problem.
ProblemText parse_problem_of(const OperatorSpec& op, std::string_view text);
/// Parses a decimal integer and nothing else.
std::optional<std::int64_t> parse_integer(std::string_view text) noexcept;
/// Integers between separators; a trailing separator is allowed. Nothing if one is not an integer or there are too many.
std::optional<Dims> parse_list(std::string_view text, char separator);
/// begin:end pairs between separators.
std::optional<PadsList> parse_pairs(std::string_view text, char separator);

}  // namespace patchfold::dialects
