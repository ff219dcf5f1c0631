// SPDX-License-Identifier: Apache-2.0
// Brings a problem into normal form: as few dims and windows as possible, in the order of the destination. Operators that
// move the same bytes become one problem, and so use one strategy. Each pass is a pure function.
#pragma once

#include "engine/problem.hpp"

namespace patchfold::engine {

/// The windows that open_windows() replaces by dims.
///   partitions  windows whose column elements and image elements correspond one to one, and windows of one tap or one
///               position that lie inside the image
///   all         every window that lies inside the image
enum class Opened : std::uint8_t { partitions, all };

/// Replaces each window that `opened` names by two dims, positions and taps. In a combine, only windows whose column
/// elements and image elements correspond one to one are replaced.
Problem open_windows(Problem problem, Opened opened);
/// In a sum or a mean, turns the taps of a window of one position into positions of a window of one tap. In both windows an
/// image element has at most one term.
Problem turn_single(Problem problem);
/// Removes dims of extent 1.
Problem drop_single(Problem problem);
/// Orders dims by the size of their destination stride, largest first, and merges neighbours that form one dim.
Problem merge_dims(Problem problem);
/// Removes the dims of a copy that are contiguous on both sides. Returns the bytes of the unit that the removed dims and the
/// element form; a unit is copied as a whole.
std::int64_t take_unit(Problem& problem);

/// Runs turn_single, open_windows, drop_single and merge_dims. Throws Error(limit) if more than max_axes axes remain.
Problem normalise(const Problem& problem, std::string_view op);

}  // namespace patchfold::engine
