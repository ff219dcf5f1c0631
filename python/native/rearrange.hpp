// SPDX-License-Identifier: Apache-2.0
// Cuts axes into parts and joins the parts to other axes: patchfold.rearrange.
#pragma once

#include "python/native/call.hpp"

namespace patchfold::python {

/// A rearrangement of arrays of one shape: the axes of x are cut into parts, which form the axes of the result in another
/// order. A rearrangement is one copy from a view of x to a view of the result; both views have an axis for each part.
class Rearrangement {
 public:
  /// source: the extents of the parts of each axis of x. order: the parts, numbered over all axes of x, in the order of the result.
  /// target: the number of parts of each axis of the result.
  Rearrangement(nb::handle source, nb::handle order, nb::handle target);

  /// Returns `out`, or a new row-major array of the same kind as x.
  nb::object call(nb::handle x, nb::handle out) const;

 private:
  Dims parts_{};   ///< extents of the parts, in the order of x
  Dims counts_{};  ///< the number of parts of each axis of x
  Dims order_{};
  Dims shape_{};        ///< the shape of x
  Dims moved_parts_{};  ///< extents of the parts, in the order of the result
  Dims moved_counts_{};
  Dims moved_shape_{};
};

}  // namespace patchfold::python
