// SPDX-License-Identifier: Apache-2.0
// The neutral operators. Every operator of every dialect is a neutral operator with certain arguments.
// docs/glossary.md explains the words.
//
// Notation: R spatial axes; on each axis the image extent I, kernel k, stride s, dilation d, pads pb and pe;
//   effective kernel   e = (k - 1) * d + 1
//   slack              X = I + pb + pe - e
//   positions          l = X < 0 ? 0 : X / s + 1          K = product of k, L = product of l
// The tap q of the patch at position b touches the image coordinate  b * s + q * d - pb.
// Ranges: k >= 1, s >= 1, d >= 0, pads of any sign (a negative pad crops). Extents, pads, e and the number of elements must
// be below 2^60.
//
// All structs are aggregates: Unfold{.kernel_size = {3, 3}, .stride = 2}. `output_shape` and `plan` throw patchfold::Error.
#pragma once

#include "patchfold/plan.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold {

/// The place of the channel axis of an image: before the spatial axes, or after them.
enum class Layout : std::uint8_t { channels_first, channels_last };
template <>
inline constexpr auto words<Layout> = std::to_array<Word<Layout>>({{Layout::channels_first, "channels_first"},
                                                                   {Layout::channels_last, "channels_last"}});

/// The slow index of the C*K axis of columns. channel: row = c * K + tap. kernel: row = tap * C + c. Taps are numbered
/// row-major.
enum class Order : std::uint8_t { channel, kernel };
template <>
inline constexpr auto words<Order> = std::to_array<Word<Order>>({{Order::channel, "channel"}, {Order::kernel, "kernel"}});

/// The positions in columns: all on one axis (L, row-major), or one axis for each spatial axis.
enum class Positions : std::uint8_t { flat, grid };
template <>
inline constexpr auto words<Positions> = std::to_array<Word<Positions>>({{Positions::flat, "flat"},
                                                                         {Positions::grid, "grid"}});

/// The value that Fold gives an image element: the sum of its column elements, or their mean.
enum class FoldReduce : std::uint8_t { sum, mean };
template <>
inline constexpr auto words<FoldReduce> = std::to_array<Word<FoldReduce>>({{FoldReduce::sum, "sum"},
                                                                           {FoldReduce::mean, "mean"}});

/// The order of the new channels: channel = offset * C + c (blocks_first, ONNX's DCR), or channel = c * K + offset
/// (depth_first, ONNX's CRD).
enum class DepthMode : std::uint8_t { blocks_first, depth_first };
template <>
inline constexpr auto words<DepthMode> = std::to_array<Word<DepthMode>>({{DepthMode::blocks_first, "blocks_first"},
                                                                         {DepthMode::depth_first, "depth_first"}});

/// im2col: copies every patch of an image into columns.
///   image    (B.., C, I1..IR)          channels_last: (B.., I1..IR, C)
///   columns  (B.., C*K, L)             grid: (B.., C*K, l1..lR); channels_last: C*K comes last
/// The number of spatial axes, R, is the length of any list among the arguments. Without a list, single numbers stand for the two
/// spatial axes of an image of rank 4; other ranks are ambiguous and refused. An axis without a position is an error unless
/// allow_empty is set; with allow_empty the columns are empty.
struct PATCHFOLD_API Unfold {
  static constexpr std::string_view name = "unfold";
  Axes kernel_size{};
  Axes stride = 1;
  Axes dilation = 1;
  Padding padding{};
  PaddingMode padding_mode = PaddingMode::constant;
  Scalar value{};  ///< the fill for PaddingMode::constant
  Layout layout = Layout::channels_first;
  Order order = Order::channel;
  Positions positions = Positions::flat;
  bool allow_empty = false;  ///< an axis may have no position

  Dims output_shape(const Dims& image) const;
  Plan plan(const ConstTensorView& image, const TensorView& columns) const;
  friend bool operator==(const Unfold&, const Unfold&) = default;
};

/// col2im: each image element is the sum of the column elements that Unfold would copy from it, and +0 if there are none.
/// The sum starts from +0 and adds the taps in ascending order. float16 and bfloat16 are added in float32 and rounded once,
/// integers wrap, booleans are combined with OR. Shapes as for Unfold.
///
/// With FoldReduce::mean the sum is divided by the number of its terms, and rounded once, to nearest even; an element without terms
/// is `fill`. Means do not wrap. The mean of elements with equal bits has these bits, for NaNs and -0 too, so Fold undoes Unfold
/// bit for bit wherever patches cover the image. The sum is taken in float64 for integers of up to 32 bits, float16, bfloat16 and
/// float32. It is taken in pairs of float64 for float64, and in 128 bits for 64-bit integers. Complex numbers are averaged by
/// parts. The mean of booleans is true if more than half of the elements are true. A computed NaN is the quiet NaN.
struct PATCHFOLD_API Fold {
  static constexpr std::string_view name = "fold";
  Dims output_size{};  ///< I1..IR
  Axes kernel_size{};
  Axes stride = 1;
  Axes dilation = 1;
  Padding padding{};
  Layout layout = Layout::channels_first;
  Order order = Order::channel;
  Positions positions = Positions::flat;
  bool accumulate = false;  ///< the result, rounded to the element type, is added to the output's elements; sums only
  FoldReduce reduce = FoldReduce::sum;
  Scalar fill{};  ///< means only: the value of elements that no patch touches

  Dims output_shape(const Dims& columns) const;
  Plan plan(const ConstTensorView& columns, const TensorView& image) const;
  friend bool operator==(const Fold&, const Fold&) = default;
};

/// Counts the patches that touch each pixel: Fold of columns of ones. The output is (I1..IR) of any type that Fold can add.
/// There is no input.
struct PATCHFOLD_API Coverage {
  static constexpr std::string_view name = "coverage";
  Dims output_size{};
  Axes kernel_size{};
  Axes stride = 1;
  Axes dilation = 1;
  Padding padding{};

  Dims output_shape(const Dims& = {}) const;
  Plan plan(const ConstTensorView&, const TensorView& counts) const;
  friend bool operator==(const Coverage&, const Coverage&) = default;
};

/// Checks, plans and runs a Coverage.
PATCHFOLD_API void coverage(const Coverage& op, const TensorView& counts, Executor& executor = default_executor());

/// Changes the order of the C*K axis of columns: channel-major (CRD) to kernel-major (DCR), or back. Input and output have the same
/// shape. With flat columns, kernel_size must be a list, because their shape does not tell the number of spatial axes. With grid
/// columns a single number stands for the two spatial axes of columns of rank 4.
struct PATCHFOLD_API Reorder {
  static constexpr std::string_view name = "reorder";
  Axes kernel_size{};
  Order source = Order::channel;
  Order target = Order::kernel;
  Layout layout = Layout::channels_first;
  Positions positions = Positions::flat;

  Dims output_shape(const Dims& columns) const;
  Plan plan(const ConstTensorView& columns, const TensorView& reordered) const;
  friend bool operator==(const Reorder&, const Reorder&) = default;
};

/// Copies every element, bit for bit, to the element with the same indices:  out[i0, .., iR-1] = in[i0, .., iR-1].
/// Any rank, any element type, and any byte strides on both sides; a transposed, flipped or sliced view is one tensor with
/// other strides. Elements of the input may share memory, as those of a broadcast view do.
struct PATCHFOLD_API Copy {
  static constexpr std::string_view name = "copy";

  Dims output_shape(const Dims& tensor) const;
  Plan plan(const ConstTensorView& tensor, const TensorView& copied) const;
  friend bool operator==(const Copy&, const Copy&) = default;
};

/// Cuts the spatial axes into blocks of B and moves the offset within the block to the batch axis (axis 0):
///   out[lex(o; B) * N + n, .., y, ..] = in[n, .., y * B + o - pb, ..], zero outside; lex(o; B) numbers the offsets row-major.
///   channels_first cuts the last R axes, channels_last cuts axes 1..R. Other axes do not change.
/// I + pb + pe must be a multiple of B. Without a list, single numbers stand for the two spatial axes of an image of rank 4.
struct PATCHFOLD_API SpaceToBatch {
  static constexpr std::string_view name = "space_to_batch";
  Axes block{};
  Padding padding{};
  Layout layout = Layout::channels_first;

  Dims output_shape(const Dims& image) const;
  Plan plan(const ConstTensorView& image, const TensorView& batches) const;
  friend bool operator==(const SpaceToBatch&, const SpaceToBatch&) = default;
};

/// The inverse of SpaceToBatch. crops, at least 0, remove the elements that the padding added.
struct PATCHFOLD_API BatchToSpace {
  static constexpr std::string_view name = "batch_to_space";
  Axes block{};
  Padding crops{};
  Layout layout = Layout::channels_first;

  Dims output_shape(const Dims& batches) const;
  Plan plan(const ConstTensorView& batches, const TensorView& image) const;
  friend bool operator==(const BatchToSpace&, const BatchToSpace&) = default;
};

/// Cuts the spatial axes into blocks and moves the offset within the block to the channel axis (pixel-unshuffle).
///   (B.., C, I1..IR) -> (B.., C*K, I1/b1..IR/bR)    channels_last: (B.., I1..IR, C) -> (B.., I1/b1..IR/bR, C*K)
/// If block is a single number, it stands for the two spatial axes of an image of rank 4.
struct PATCHFOLD_API SpaceToDepth {
  static constexpr std::string_view name = "space_to_depth";
  Axes block{};
  DepthMode mode = DepthMode::blocks_first;
  Layout layout = Layout::channels_first;

  Dims output_shape(const Dims& image) const;
  Plan plan(const ConstTensorView& image, const TensorView& deep) const;
  friend bool operator==(const SpaceToDepth&, const SpaceToDepth&) = default;
};

/// The inverse of SpaceToDepth (pixel-shuffle).
struct PATCHFOLD_API DepthToSpace {
  static constexpr std::string_view name = "depth_to_space";
  Axes block{};
  DepthMode mode = DepthMode::blocks_first;
  Layout layout = Layout::channels_first;

  Dims output_shape(const Dims& deep) const;
  Plan plan(const ConstTensorView& deep, const TensorView& image) const;
  friend bool operator==(const DepthToSpace&, const DepthToSpace&) = default;
};

}  // namespace patchfold
