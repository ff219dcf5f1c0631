// SPDX-License-Identifier: Apache-2.0
// Brings a problem into normal form: as few dims and windows as possible, in the order of the destination. Operators that
// move the same bytes become the same problem, and so the same strategy. Each pass is a pure function.
#pragma once

#include "engine/problem.hpp"

namespace patchfold::engine {

/// Names the windows that open_windows() replaces by dims.
///   partitions  those whose column elements and image elements correspond one to one, and windows of one tap or one
///               position that lie inside the image
///   all         every window that lies inside the image
enum class Opened : std::uint8_t { partitions, all };

/// Replaces windows by two dims each: positions and taps. The sides of a combine must correspond one to one.
Problem open_windows(Problem problem, Opened opened);
/// Turns the taps of a window of one position into positions of one tap: a sum has at most one term for each element there.
Problem turn_single(Problem problem);
/// Removes dims of extent 1.
Problem drop_single(Problem problem);
/// Orders dims by the size of their destination stride, largest first, and joins neighbours that form one dim.
Problem merge_dims(Problem problem);
/// For copies: removes the dims that are contiguous on both sides. Returns the bytes of the unit that they and the element
/// form, which moves as a whole.
std::int64_t take_unit(Problem& problem);

/// Runs turn_single, open_windows, drop_single and merge_dims. Throws Error(limit) if more than max_axes axes remain.
Problem normalise(const Problem& problem, std::string_view op);

}  // namespace patchfold::engine
