// SPDX-License-Identifier: Apache-2.0
// Makes columns of small images by a program that was written beforehand: the counterpart of kernels/sum_map.hpp.
//
// A map is the image of one channel. All maps of a problem are read at the same coordinates in the same order, so one program
// serves all maps. The program lists the vectors of a map in the order of its columns. Vectors go across the ends of rows; lanes
// outside of the image are masked and filled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/mean.hpp"
#include "kernels/stream.hpp"

namespace patchfold::kernels {

/// A step of a program: copies rows of the map that follow one another in the columns.
struct ExtractStep {
  std::int64_t offset = 0;  ///< bytes from the map to the first row
  std::int64_t pitch = 0;   ///< bytes from row to row of the map
  std::int64_t rows = 1;
  std::int64_t row_bytes = 0;  ///< bytes of a row in the columns
  /// The offset in ExtractProgram::masks, where each vector of a row has a bit for each lane, set if the lane is inside the image.
  /// `all`: all lanes are inside; `none`: no lane is inside, so the row is filled.
  std::int64_t masks = all;
  static constexpr std::int64_t all = -1, none = -2;
};

struct ExtractProgram {
  std::span<const ExtractStep> steps{};
  const std::uint8_t* masks = nullptr;  ///< with 8 bytes to spare at its end
  std::int64_t low = 0;                 ///< whole vectors of the steps read the bytes [low, high) of a map
  std::int64_t high = 0;
};

/// Maps whose columns follow one another.
struct ExtractMaps {
  const std::byte* src = nullptr;  ///< the first map
  std::int64_t src_step = 0;       ///< bytes from map to map
  std::int64_t count = 1;
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;  ///< nothing outside of [begin, end) is read
  std::byte* dst = nullptr;
  std::byte* dst_end = nullptr;  ///< nothing from here on is written
  const FillLine* fill = nullptr;
  Store store = Store::plain;
};

/// The kernel for elements of one size on one instruction set; it lives as long as the process.
struct ExtractMapKernel {
  std::int64_t lanes = 1;      ///< number of lanes of a vector
  std::int64_t lane_size = 1;  ///< bytes of a lane
  std::int64_t mask_bytes = 1;
  void (*extract)(const ExtractProgram& program, const ExtractMaps& maps) = nullptr;
};

/// Returns the kernel for lanes of 1, 2, 4 or 8 bytes; null if no element of this build has such lanes.
const ExtractMapKernel* extract_map_kernel(std::int64_t lane_size) noexcept;

}  // namespace patchfold::kernels
