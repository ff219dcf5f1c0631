// SPDX-License-Identifier: Apache-2.0
// The windows of an operator, read from its arguments: what they are named says what they mean, in every dialect.
#pragma once

#include <optional>
#include <vector>

#include "explain/subject.hpp"
#include "explain/text.hpp"
#include "ops/geometry.hpp"

namespace patchfold::explaining {

struct Windows {
  ops::Geometry geometry{};  ///< one window for each of the axes that follow first_axis
  int first_axis = 0;        ///< of the image
  bool image_is_input = false;
  bool blocks = false;  ///< the kernel is also the stride
};

/// Nothing if the operator has no windows, or if the shapes do not bear out what the names suggest.
std::optional<Windows> windows_of(const Subject& subject);
/// Whether the windows have as many taps at each element of the image as were counted there.
bool bear_out(const Windows& windows, const Dims& image, const std::vector<std::int64_t>& counts);
/// Whether the pads follow from a rule that dialects read in different ways where patches do not touch.
bool is_doubtful(const Subject& subject, const Windows& windows);

/// `sure`: the windows are those of the operator. If not, the text says that they are not shown.
void write_windows(Text& text, const Subject& subject, const Windows& windows, bool sure);

}  // namespace patchfold::explaining
