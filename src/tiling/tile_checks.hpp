// SPDX-License-Identifier: Apache-2.0
// The checks of the arrays that a Merger and a BoxMerger are given.
#pragma once

#include <string>
#include <string_view>

#include "ops/operands.hpp"
#include "tiling/rules.hpp"

namespace patchfold::tiling {

/// The output of a merge, which has passed its checks. Without one (a merge into a sink) it spans no bytes, so that no tile
/// shares memory with it.
struct CheckedOutput {
  std::byte* data = nullptr;
  Dims strides{};             ///< in bytes; 0 along axes of one element or none
  engine::ByteRange range{};  ///< the bytes that it spans
};

/// Checks an output as that of an operator. `sources` names in errors what is merged into it. Throws Error(shape, dtype,
/// strides, null_data, ..).
CheckedOutput check_output(const Rules& rules, std::string_view sources, const TensorView& output, const Dims& shape);

/// How errors call what comes for a tile.
struct TileWords {
  std::string_view tile;        ///< before the tile's index and position
  std::string_view index;       ///< the argument that holds the index
  std::string_view index_rule;  ///< of an index that is none
  std::string_view view;        ///< in errors of strides; empty: as `tile`
};

/// Checks what comes for a tile: whole results for a Merger, pieces of them for a BoxMerger. Both make the same checks with
/// the same rules, and differ in the words above and in the shape, which each compares itself between check_index and
/// checked_view. Names of tiles take time to write, so they are written only for errors.
class TileChecks {
 public:
  TileChecks(const Rules& rules, const TileWords& words) : rules_(rules), words_(words) {}

  /// Returns the tile's name for errors: "tile 17 at position [2, 5]".
  std::string name(std::int64_t tile) const;
  [[noreturn]] void refuse(std::int64_t tile, ErrorCode code, std::string_view rule, ErrorValue given = {},
                           ErrorValue expected = {}) const;
  [[noreturn]] void refuse_second(std::int64_t tile) const;
  /// Throws Error(value) unless it is the index of a tile that the mask lets come.
  void check_index(std::int64_t tile) const;
  /// Checks an array of the right shape. Returns it with strides of 0 along axes of one element or none. Throws Error(dtype,
  /// null_data, strides, overlap).
  ConstTensorView checked_view(std::int64_t tile, const ConstTensorView& view, const CheckedOutput& output) const;

 private:
  ops::Sound sound(std::int64_t tile, const ConstTensorView& view) const;

  const Rules& rules_;
  const TileWords& words_;
};

}  // namespace patchfold::tiling
