// SPDX-License-Identifier: Apache-2.0
// The normal form of a problem. Each pass is a pure function, so equal work ends up as equal problems.
#pragma once

#include "engine/problem.hpp"

namespace patchfold::engine {

/// Which windows become dims: those whose elements lie inside the image, and which no element leaves or is read from twice
/// (`partitions`, or one tap or position), or all that lie inside.
enum class Opened : std::uint8_t { partitions, all };

/// Replaces windows by two dims each: positions and taps. The sides of a combine must correspond one to one.
Problem open_windows(Problem problem, Opened opened);
/// Removes dims of extent 1.
Problem drop_single(Problem problem);
/// Orders dims by the size of their destination stride, largest first, and joins neighbours that form one dim.
Problem merge_dims(Problem problem);
/// For copies: takes dims that are contiguous on both sides into the element. Returns the bytes of the unit that moves.
std::int64_t take_unit(Problem& problem);

/// open_windows, drop_single, merge_dims. Throws Error(limit) if more than max_axes axes remain.
Problem normalise(const Problem& problem, std::string_view op);

}  // namespace patchfold::engine
