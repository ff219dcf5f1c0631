// SPDX-License-Identifier: Apache-2.0
// TensorFlow's operators, with the names, defaults and checks of tf.raw_ops
// (https://www.tensorflow.org/api_docs/python/tf/raw_ops). In errors (patchfold::Error) operators and arguments have TensorFlow's
// names too. docs/dialects.md says which neutral operator each of them is.
#pragma once

#include <optional>

#include "patchfold/operators.hpp"

namespace patchfold::tensorflow {

/// The padding rule. VALID: no padding. SAME: as many zeros around the image as ceil(extent / stride) patches need; an odd zero
/// goes to the end.
enum class PaddingType : std::uint8_t { SAME, VALID };
/// The order of the axes. NCHW_VECT_C is refused.
enum class DataFormat : std::uint8_t { NHWC, NCHW, NCHW_VECT_C };

}  // namespace patchfold::tensorflow

namespace patchfold {
template <>
inline constexpr auto words<tensorflow::PaddingType> = std::to_array<Word<tensorflow::PaddingType>>(
    {{tensorflow::PaddingType::SAME, "SAME"}, {tensorflow::PaddingType::VALID, "VALID"}});
template <>
inline constexpr auto words<tensorflow::DataFormat> =
    std::to_array<Word<tensorflow::DataFormat>>({{tensorflow::DataFormat::NHWC, "NHWC"},
                                                 {tensorflow::DataFormat::NCHW, "NCHW"},
                                                 {tensorflow::DataFormat::NCHW_VECT_C, "NCHW_VECT_C"}});
}  // namespace patchfold

namespace patchfold::tensorflow {

/// input (N, H, W, C), paddings [2, 2] -> (N * b * b, (H + pads) / b, (W + pads) / b, C); b >= 2.
struct PATCHFOLD_API SpaceToBatch {
  static constexpr std::string_view name = "tensorflow.SpaceToBatch";
  PadsList paddings{};
  std::int64_t block_size = 0;  ///< required: b, at least 2

  Dims output_shape(const Dims& input) const;
  Plan plan(const ConstTensorView& input, const TensorView& output) const;
  friend bool operator==(const SpaceToBatch&, const SpaceToBatch&) = default;
};

/// input (N, I1..IM, rest..), block_shape [M], paddings [M, 2] -> (N * product of blocks, .., rest..). With M = 0 the input is
/// copied.
struct PATCHFOLD_API SpaceToBatchND {
  static constexpr std::string_view name = "tensorflow.SpaceToBatchND";
  Dims block_shape{};
  PadsList paddings{};

  Dims output_shape(const Dims& input) const;
  Plan plan(const ConstTensorView& input, const TensorView& output) const;
  friend bool operator==(const SpaceToBatchND&, const SpaceToBatchND&) = default;
};

/// The inverse of SpaceToBatch.
struct PATCHFOLD_API BatchToSpace {
  static constexpr std::string_view name = "tensorflow.BatchToSpace";
  PadsList crops{};
  std::int64_t block_size = 0;  ///< required: b, at least 2

  Dims output_shape(const Dims& input) const;
  Plan plan(const ConstTensorView& input, const TensorView& output) const;
  friend bool operator==(const BatchToSpace&, const BatchToSpace&) = default;
};

/// The inverse of SpaceToBatchND.
struct PATCHFOLD_API BatchToSpaceND {
  static constexpr std::string_view name = "tensorflow.BatchToSpaceND";
  Dims block_shape{};
  PadsList crops{};

  Dims output_shape(const Dims& input) const;
  Plan plan(const ConstTensorView& input, const TensorView& output) const;
  friend bool operator==(const BatchToSpaceND&, const BatchToSpaceND&) = default;
};

/// (N, H, W, C) or, with NCHW, (N, C, H, W); channel = offset * C + c; b >= 2. NCHW_VECT_C is refused.
struct PATCHFOLD_API SpaceToDepth {
  static constexpr std::string_view name = "tensorflow.SpaceToDepth";
  std::int64_t block_size = 0;  ///< required: b, at least 2
  DataFormat data_format = DataFormat::NHWC;

  Dims output_shape(const Dims& input) const;
  Plan plan(const ConstTensorView& input, const TensorView& output) const;
  friend bool operator==(const SpaceToDepth&, const SpaceToDepth&) = default;
};

/// The inverse of SpaceToDepth.
struct PATCHFOLD_API DepthToSpace {
  static constexpr std::string_view name = "tensorflow.DepthToSpace";
  std::int64_t block_size = 0;  ///< required: b, at least 2
  DataFormat data_format = DataFormat::NHWC;

  Dims output_shape(const Dims& input) const;
  Plan plan(const ConstTensorView& input, const TensorView& output) const;
  friend bool operator==(const DepthToSpace&, const DepthToSpace&) = default;
};

/// images (N, H, W, C) -> (N, oh, ow, kh*kw*C); the new channel is tap * C + c. Lists are [1, rows, columns, 1].
struct PATCHFOLD_API ExtractImagePatches {
  static constexpr std::string_view name = "tensorflow.ExtractImagePatches";
  Dims ksizes{};
  Dims strides{};
  Dims rates{};
  std::optional<PaddingType> padding{};  ///< required

  Dims output_shape(const Dims& images) const;
  Plan plan(const ConstTensorView& images, const TensorView& output) const;
  friend bool operator==(const ExtractImagePatches&, const ExtractImagePatches&) = default;
};

/// input (N, D, H, W, C) -> (N, od, oh, ow, kd*kh*kw*C); the new channel is tap * C + c. Lists are [1, planes, rows, columns, 1].
struct PATCHFOLD_API ExtractVolumePatches {
  static constexpr std::string_view name = "tensorflow.ExtractVolumePatches";
  Dims ksizes{};
  Dims strides{};
  std::optional<PaddingType> padding{};  ///< required

  Dims output_shape(const Dims& input) const;
  Plan plan(const ConstTensorView& input, const TensorView& output) const;
  friend bool operator==(const ExtractVolumePatches&, const ExtractVolumePatches&) = default;
};

}  // namespace patchfold::tensorflow
