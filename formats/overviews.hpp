// SPDX-License-Identifier: Apache-2.0
// Makes the rows of overviews: 2 x 2 pixels become one.
#pragma once

#include <cstddef>
#include <optional>

#include "formats/file.hpp"
#include "formats/rows.hpp"

namespace patchfold::formats {

class Halving {
 public:
  /// `nodata` is the number that stands for no data. Throws Error(dtype) for means of 64-bit integers.
  Halving(const TiffOptions& options, DType dtype, std::int64_t channels, std::optional<double> nodata,
          const Subject& subject);

  /// Writes a row of the overview, (width + 1) / 2 pixels, from two rows of the picture; at the end of a picture with an odd
  /// number of rows both are its last row. A pixel is the first of its block, or channel by channel the mean of the elements
  /// of the block that hold data: those that are neither nodata nor NaN. Means are added in float64, and rounded to nearest
  /// even. A block without data becomes nodata, or NaN without one.
  void run(const std::byte* first, const std::byte* second, std::int64_t width, std::byte* dst) const;

 private:
  template <class T>
  void means(const std::byte* first, const std::byte* second, std::int64_t width, std::byte* dst) const;

  DType dtype_;
  std::int64_t channels_;
  bool is_mean_;
  std::optional<double> nodata_;
};

}  // namespace patchfold::formats
