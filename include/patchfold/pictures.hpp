// SPDX-License-Identifier: Apache-2.0
// Pictures of bytes on their way into a model: their size, and the numbers that stand for their bytes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "patchfold/plan.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold {

/// Writes a table's entry for each byte:  out[i0, .., iR-1] = table[i_axis, bytes[i0, .., iR-1]].
/// A table has 256 entries for each index of one axis, usually the channels, so it holds a normalization exactly, whatever
/// its formula and its rounding. Both views may have any strides: the patches of a picture are a view of the picture with
/// split axes.
///
///   bytes   uint8, any shape
///   axis    the axis of `bytes` that selects a row of the table; negative numbers count from the end
///   table   (extent of the axis, 256), any element type but opaque
///   out     the shape of `bytes`, the element type of `table`; shares memory with neither
///
/// Throws Error(rank, value, shape, dtype, strides, overflow, overlap, null_data).
PATCHFOLD_API void apply_table(const ConstTensorView& bytes, int axis, const ConstTensorView& table, const TensorView& out,
                               Executor& executor = default_executor());

/// The filter of a resize. All but `nearest` are antialiased: when a picture shrinks, the filter's support grows with the
/// ratio.
///   nearest   the pixel at the place             hamming  sinc with a Hamming window, support 1
///   box       1, support 1/2                     bicubic  Keys' cubic with a = -1/2, support 2
///   bilinear  1 - |x|, support 1                 lanczos  sinc(x) sinc(x / 3), support 3
enum class Filter : std::uint8_t { bicubic, nearest, box, bilinear, hamming, lanczos };
template <>
inline constexpr auto words<Filter> = std::to_array<Word<Filter>>({{Filter::bicubic, "bicubic"},
                                                                   {Filter::nearest, "nearest"},
                                                                   {Filter::box, "box"},
                                                                   {Filter::bilinear, "bilinear"},
                                                                   {Filter::hamming, "hamming"},
                                                                   {Filter::lanczos, "lanczos"}});

/// The fixed point of a resize. Pillow's weights have 22 bits behind the point. Those of torch (antialiased, uint8, on
/// processors) have as many bits, up to 22, as let the largest weight of an axis fit into 16 bits.
enum class FixedPoint : std::uint8_t { pillow, torch };
template <>
inline constexpr auto words<FixedPoint> = std::to_array<Word<FixedPoint>>({{FixedPoint::pillow, "pillow"},
                                                                           {FixedPoint::torch, "torch"}});

/// Resizes pictures of bytes as Pillow's Image.resize does for the modes L and RGB, or as torch's antialiased interpolate
/// does, bit for bit.
struct PATCHFOLD_API Resize {
  static constexpr std::string_view name = "resize";
  Filter filter = Filter::bicubic;
  FixedPoint fixed_point = FixedPoint::pillow;  ///< torch has bilinear and bicubic only, and no box
  /// The part of the picture that is resized: left, upper, right, lower, in pixels, within the picture and not empty.
  /// Without a box, the whole picture.
  std::optional<std::array<float, 4>> box{};

  /// Resizes `picture` (.., rows, columns) to `resized`, whose last two axes have any extents of at least 1 and less than
  /// 2^31, and whose other axes are those of `picture`. Both are uint8, with any strides. Throws Error(rank, value, shape,
  /// dtype, strides, overflow, overlap, null_data, out_of_memory).
  void run(const ConstTensorView& picture, const TensorView& resized, Executor& executor = default_executor()) const;
};

}  // namespace patchfold
