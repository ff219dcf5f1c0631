// SPDX-License-Identifier: Apache-2.0
// The abilities of standard error. Colours repeat what words say, so nothing is lost without them.
#pragma once

#include <string>
#include <string_view>

namespace patchfold::cli {

/// Returns whether it is a terminal on which a line can be written again; TERM=dumb is none.
bool has_terminal() noexcept;
/// Returns whether colours are wanted there: not if NO_COLOR is set to anything but an empty text (https://no-color.org).
bool has_colours() noexcept;
/// Characters in a line; 80 where nobody knows.
int terminal_width() noexcept;

enum class Colour { green = 32, red = 31 };
/// The text in a colour if there are colours, otherwise as it is.
std::string in_colour(Colour colour, std::string_view text);

}  // namespace patchfold::cli
