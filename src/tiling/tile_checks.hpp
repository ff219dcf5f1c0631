// SPDX-License-Identifier: Apache-2.0
// Checks of the arrays that a Merger or a BoxMerger gets.
#pragma once

#include <string>
#include <string_view>

#include "ops/operands.hpp"
#include "tiling/rules.hpp"

namespace patchfold::tiling {

/// The checked output of a merge. For a merge into a sink, `range` is empty, so no tile shares memory with the output.
struct CheckedOutput {
  std::byte* data = nullptr;
  Dims strides{};             ///< in bytes, for the axes of a result; 0 along axes of one element or none
  engine::ByteRange range{};  ///< the bytes that the output spans
};

/// Returns the output, after it has passed the checks of an operator's output; errors call its sources `sources`. Throws
/// Error(shape, dtype, strides, null_data, ..).
CheckedOutput check_output(const Rules& rules, std::string_view sources, const TensorView& output, const Dims& shape);

/// The words by which errors name the array of a tile.
struct TileWords {
  std::string_view tile;        ///< stands before index and position: "tile" in "tile 17 at position [2, 5]"
  std::string_view index;       ///< the argument that holds the index
  std::string_view index_rule;  ///< the rule that a wrong index breaks
  std::string_view view;        ///< names the array in errors of strides; empty: as `tile`
};

/// Checks arrays of tiles: whole results for a Merger, pieces for a BoxMerger; only their TileWords differ. Merger and BoxMerger
/// compare shapes themselves, between check_index and checked_view. Names of tiles are slow to write, so they are written only for
/// errors.
class TileChecks {
 public:
  TileChecks(const Rules& rules, const TileWords& words) : rules_(rules), words_(words) {}

  /// Returns the tile's name for errors: "tile 17 at position [2, 5]".
  std::string name(std::int64_t tile) const;
  [[noreturn]] void refuse(std::int64_t tile, ErrorCode code, std::string_view rule, ErrorValue given = {},
                           ErrorValue expected = {}) const;
  [[noreturn]] void refuse_second(std::int64_t tile) const;
  /// Throws Error(value) unless `tile` is the index of a tile that the mask does not leave out.
  void check_index(std::int64_t tile) const;
  /// Returns the view of a tile's array, whose shape must have been checked, with strides of 0 along axes of at most one
  /// element. Throws Error(dtype, null_data, strides, overlap).
  ConstTensorView checked_view(std::int64_t tile, const ConstTensorView& view, const CheckedOutput& output) const;

 private:
  ops::Sound sound(std::int64_t tile, const ConstTensorView& view) const;

  const Rules& rules_;
  const TileWords& words_;
};

}  // namespace patchfold::tiling
