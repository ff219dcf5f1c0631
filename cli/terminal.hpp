// SPDX-License-Identifier: Apache-2.0
// The abilities of standard error. Colours only repeat words, so output without colours says the same.
#pragma once

#include <string>
#include <string_view>

namespace patchfold::cli {

/// Returns whether standard error is a terminal on which a line can be rewritten; TERM=dumb is not.
bool has_terminal() noexcept;
/// Returns whether standard error gets colours; false if NO_COLOR is set and not empty (https://no-color.org).
bool has_colours() noexcept;
/// Returns the characters in a line; 80 if unknown.
int terminal_width() noexcept;

enum class Colour { green = 32, red = 31 };
/// Returns the text in a colour if there are colours, otherwise unchanged.
std::string in_colour(Colour colour, std::string_view text);

}  // namespace patchfold::cli
