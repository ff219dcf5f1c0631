// SPDX-License-Identifier: Apache-2.0
// One cell made: the elements that its tiles give, reduced and written once.
#pragma once

#include <vector>

#include "tiling/rules.hpp"

namespace patchfold::tiling {

/// Elements of one tile within a cell.
struct Source {
  std::int64_t tile = 0;
  const std::byte* data = nullptr;  ///< the cell's first element
  Dims strides{};                   ///< bytes, for each axis of the result
};

/// Rows of work: a row is the longest stretch that is even in the output and in all sources and that at most one tiled axis
/// runs through.
class Gather {
 public:
  /// A cell. No source: its elements are filled. Sources are in ascending order of their tiles.
  Gather(const Rules& rules, const Dims& segments, std::vector<Source> sources, std::byte* output,
         const Dims& output_strides);
  /// A copy, without gaps, of what one tile gives to a cell.
  Gather(const Rules& rules, const Dims& segments, const Source& source, std::byte* piece);

  std::int64_t rows() const noexcept { return rows_; }
  double bytes() const noexcept;
  /// Whether the rows of both lie beside each other: they are made in turn, so that memory is visited in longer stretches.
  bool continues(const Gather& before) const noexcept;

 private:
  struct Axis {
    std::int64_t extent = 1;
    std::int64_t stride = 0;  ///< of the output
    int tiled = -1;
    int axis = 0;
  };
  friend class GatherRows;
  /// general: weights are made for each row, since some are 0, some tiles are left out, or the window is no product.
  enum class Kind : std::uint8_t { fill, copy, plain, sums, general };

  /// A tile's number along each tiled axis among those of the segment, and where the cell begins in its result.
  struct Place {
    Dims number{};
    Dims inside{};
  };

  void lay_out(const Dims& output_strides, std::int64_t output_element);
  void place();
  void weigh();
  bool is_even() const noexcept;

  const Rules& rules_;
  Dims segments_;
  Dims extents_{};  ///< of the cell along the tiled axes
  std::vector<Source> sources_;
  std::byte* output_;
  Kind kind_ = Kind::copy;
  std::vector<Axis> outer_{};  ///< the last one runs fastest
  std::int64_t rows_ = 1;
  std::int64_t count_ = 1;   ///< elements of a row
  std::int64_t repeat_ = 1;  ///< elements of a row with the same coordinate along run_
  int run_ = -1;             ///< the tiled axis along the row
  std::int64_t step_ = 0;    ///< of the output along a row, in bytes
  std::vector<std::int64_t> source_steps_{};
  std::vector<Place> places_{};
  /// For each tiled axis the weights of its tiles within the segment, one tile after the other; along run_ repeated for each
  /// number of a row. Without run_, one list of ones for the row comes last.
  std::vector<std::vector<double>> along_{};
};

}  // namespace patchfold::tiling
