// SPDX-License-Identifier: Apache-2.0
// Defines the problem, which every operator becomes. The engine knows no operators and no tensor views, only extents, byte
// strides and windows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "patchfold/fixed_list.hpp"
#include "patchfold/tensor.hpp"
#include "patchfold/words.hpp"

namespace patchfold::engine {

/// The most dims and windows together in a normalised problem.
inline constexpr int max_axes = 16;

/// The operation of a problem.
///   extract       image -> columns: each column element is a copy of the image element at its coordinate, or, outside
///                 the image, of the element or the fill that `mode` gives
///   combine_copy  columns -> image: each image element is a copy of the one column element that points at it
///                 (stride = kernel)
///   combine_sum   columns -> image: each image element is the sum of all column elements that point at it, in ascending
///                 order of the taps
///   combine_mean  columns -> image: the sum of combine_sum, divided by the number of its terms; `fill` if it has no terms
enum class Verb : std::uint8_t { extract, combine_copy, combine_sum, combine_mean };

}  // namespace patchfold::engine

namespace patchfold {
template <>
inline constexpr auto words<engine::Verb> =
    std::to_array<Word<engine::Verb>>({{engine::Verb::extract, "extract"},
                                       {engine::Verb::combine_copy, "combine by copying"},
                                       {engine::Verb::combine_sum, "combine by adding"},
                                       {engine::Verb::combine_mean, "combine by averaging"}});
}  // namespace patchfold

namespace patchfold::engine {

/// An axis that source and destination share, such as the batch. Strides are in bytes, of any sign or 0.
struct Dim {
  std::int64_t extent = 1;
  std::int64_t src_stride = 0;
  std::int64_t dst_stride = 0;
  friend bool operator==(const Dim&, const Dim&) = default;
};

/// The relation between the columns and one spatial axis of the image. The column element of position b and tap q belongs to the
/// coordinate
///   b * stride + q * dilation - pad_begin     0 <= b < positions, 0 <= q < kernel
/// The coordinate lies inside the image if it is in [0, extent). stride, dilation and pad_begin are counted in coordinates. The
/// three other strides are in bytes: along the image's coordinates, and along the taps and positions of the columns.
struct Window {
  std::int64_t kernel = 1;
  std::int64_t positions = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad_begin = 0;
  std::int64_t extent = 1;  ///< extent of the image
  std::int64_t image_stride = 0;
  std::int64_t tap_stride = 0;
  std::int64_t position_stride = 0;
  PaddingMode mode = PaddingMode::constant;
  friend bool operator==(const Window&, const Window&) = default;
};

/// The bytes of a tensor, from its data pointer: [begin, end).
struct ByteRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Returns whether the bytes `ra` of a tensor at a and the bytes `rb` of a tensor at b have bytes in common.
inline bool overlap(const std::byte* a, ByteRange ra, const std::byte* b, ByteRange rb) noexcept {
  if (ra.begin == ra.end || rb.begin == rb.end) return false;
  const auto address = [](const std::byte* p, std::int64_t offset) {
    return reinterpret_cast<std::uintptr_t>(p) + static_cast<std::uintptr_t>(offset);
  };
  return address(a, ra.begin) < address(b, rb.end) && address(b, rb.begin) < address(a, ra.end);
}

/// One call of one operator, without names: `verb` is applied for every tuple of indices of all dims and windows. The image has an
/// axis for each dim and each window; the columns have one for each dim and two for each window (position and tap). The order of
/// the axes in memory follows from the strides alone. Operators make problems (ops/operands.hpp) and have checked every size and
/// offset: every offset stays in its tensor, and all numbers are below 2^60. A problem holds no data pointers; offsets count from
/// the data pointers of the call.
struct Problem {
  Verb verb = Verb::extract;
  DType dtype = DType::opaque;
  std::int64_t element_size = 1;
  bool accumulate = false;
  std::array<std::byte, 16> fill{};  ///< one element; for opaque elements zero bytes
  FixedList<Dim, 2 * max_rank> dims{};
  FixedList<Window, max_rank> windows{};  ///< in the order of the taps; the last window's tap runs fastest
  std::int64_t src_offset = 0;            ///< bytes from the data pointer to the element with index 0 on every axis
  std::int64_t dst_offset = 0;
  ByteRange src_range{};
  ByteRange dst_range{};
  const std::byte* own_source = nullptr;  ///< the element 1 that coverage sums, since its caller gives no source; otherwise null
};

}  // namespace patchfold::engine
