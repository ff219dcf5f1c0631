// SPDX-License-Identifier: Apache-2.0
// The effect of an operator on a tensor of one shape: which elements of the columns belong to which elements of the image.
//
// Every operator of every dialect comes down to one Geometry. Output shape, the problem that the engine runs, plan and explanation
// are made from the Geometry, and programs that use the library may read it too.
#pragma once

#include <cstdint>
#include <string_view>

#include "patchfold/fixed_list.hpp"
#include "patchfold/plan.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold {

/// The place of an index in a tensor: when the index grows by 1, the element moves by `step` elements along `axis`. With a step of
/// 0 the element does not move.
struct Place {
  int axis = 0;
  std::int64_t step = 0;
};

/// An index that both tensors share, such as a batch or a channel.
struct SharedIndex {
  std::int64_t extent = 1;
  Place image{};
  Place columns{};
};

/// A spatial axis of the image and the patches along it. The tap q of the patch at position b touches the coordinate
///   b * stride + q * dilation - pad_begin        0 <= b < positions, 0 <= q < kernel
/// of the image, which exists from 0 to extent - 1.
struct SpatialAxis {
  std::int64_t extent = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad_begin = 0;
  std::int64_t pad_end = 0;
  std::int64_t positions = 0;
  int image_axis = 0;  ///< axis of the image
  Place tap{};         ///< place in the columns
  Place position{};    ///< place in the columns
};

/// A checked operator at one shape of its data. Extraction copies from the image to the columns: the data is the image and
/// the output holds the columns. Combination copies or adds from the columns to the image.
struct Geometry {
  enum class Direction : std::uint8_t { extract, combine };

  Direction direction = Direction::extract;
  bool sums = false;        ///< column elements that belong to one image element are added; otherwise each element is copied
  bool has_data = true;     ///< false: the columns are ones, without a data input (coverage)
  bool is_block = false;    ///< patches are blocks: one argument gives kernel and stride
  bool accumulate = false;  ///< sums are added to the elements of the output
  bool means = false;       ///< sums are divided by the number of their terms
  PaddingMode padding_mode = PaddingMode::constant;
  Scalar value{};  ///< fill of PaddingMode::constant, and of means without terms
  Dims data{};     ///< shape of the data
  Dims output{};   ///< shape of the output
  FixedList<SharedIndex, 2 * max_rank> shared{};
  FixedList<SpatialAxis, max_rank> axes{};  ///< the taps of the last axis run fastest
  std::int64_t taps = 1;                    ///< taps of a patch, over all axes (K)
  std::int64_t positions = 1;               ///< positions over all axes (L)

  bool extracts() const noexcept { return direction == Direction::extract; }
  const Dims& image() const noexcept { return extracts() ? data : output; }
  const Dims& columns() const noexcept { return extracts() ? output : data; }
};

/// The names of an operator and its arguments, for error messages. A front end may give tensors other names.
struct ArgumentNames {
  std::string_view op;
  std::string_view data = "data";
  std::string_view output = "output";
  std::string_view output_size = "output_size";
  std::string_view kernel_size = "kernel_size";
  std::string_view stride = "stride";
  std::string_view dilation = "dilation";
  std::string_view padding = "padding";
};

/// An operator that is ready for tensors of one shape. The texts that `names` points to must live as long as this object.
struct PATCHFOLD_API Lowering {
  Geometry geometry{};
  ArgumentNames names{};

  /// Returns the plan for tensors of these layouts. Throws Error(shape, dtype, strides, overflow, value, limit).
  Plan plan(const ConstTensorView& data, const TensorView& output) const;
};

}  // namespace patchfold
