// SPDX-License-Identifier: Apache-2.0
// OpenVINO's operators, with the names, defaults and checks of its operation sets (https://docs.openvino.ai/). In errors
// (patchfold::Error) operators and arguments have OpenVINO's names too. docs/dialects.md says which neutral operator each of them
// is.
#pragma once

#include <optional>

#include "patchfold/operators.hpp"

namespace patchfold::openvino {

/// The padding rule. valid: no padding. same_lower, same_upper: zeros around the image so that there are ceil(extent /
/// stride) patches; an odd zero goes to the beginning (same_lower) or to the end (same_upper).
enum class AutoPad : std::uint8_t { valid, same_lower, same_upper };
/// The order of the new channels: channel = offset * C + c (blocks_first), or channel = c * K + offset (depth_first), where
/// K = b^R.
enum class BlocksMode : std::uint8_t { blocks_first, depth_first };

}  // namespace patchfold::openvino

namespace patchfold {
template <>
inline constexpr auto words<openvino::AutoPad> =
    std::to_array<Word<openvino::AutoPad>>({{openvino::AutoPad::valid, "valid"},
                                            {openvino::AutoPad::same_lower, "same_lower"},
                                            {openvino::AutoPad::same_upper, "same_upper"}});
template <>
inline constexpr auto words<openvino::BlocksMode> = std::to_array<Word<openvino::BlocksMode>>(
    {{openvino::BlocksMode::blocks_first, "blocks_first"}, {openvino::BlocksMode::depth_first, "depth_first"}});
}  // namespace patchfold

namespace patchfold::openvino {

/// Col2Im-15. data (N, C*K, L) or (C*K, L) -> (N, C, H, W) or (C, H, W); channel-major columns; two spatial axes.
struct PATCHFOLD_API Col2Im {
  static constexpr std::string_view name = "openvino.Col2Im-15";
  Dims output_size{};        ///< required: height and width of the image, at least 1
  Dims kernel_size{};        ///< required: height and width of a patch, at least 1
  Dims strides = {1, 1};     ///< at least 1
  Dims dilations = {1, 1};   ///< at least 0
  Dims pads_begin = {0, 0};  ///< at least 0
  Dims pads_end = {0, 0};    ///< at least 0

  Dims output_shape(const Dims& data) const;
  Plan plan(const ConstTensorView& data, const TensorView& output) const;
  friend bool operator==(const Col2Im&, const Col2Im&) = default;
};

/// ExtractImagePatches-3. data (N, C, H, W) -> (N, kh*kw*C, oh, ow); kernel-major channels: tap * C + c.
struct PATCHFOLD_API ExtractImagePatches {
  static constexpr std::string_view name = "openvino.ExtractImagePatches-3";
  Dims sizes{};                       ///< required: rows and columns of a patch, at least 1
  Dims strides{};                     ///< required: step between patches, at least 1
  Dims rates{};                       ///< required: step between taps, at least 1
  std::optional<AutoPad> auto_pad{};  ///< required

  Dims output_shape(const Dims& data) const;
  Plan plan(const ConstTensorView& data, const TensorView& output) const;
  friend bool operator==(const ExtractImagePatches&, const ExtractImagePatches&) = default;
};

/// SpaceToBatch-2. Lists have one entry for each axis of data; the entries of the batch axis must be 1, 0 and 0.
struct PATCHFOLD_API SpaceToBatch {
  static constexpr std::string_view name = "openvino.SpaceToBatch-2";
  Dims block_shape{};
  Dims pads_begin{};
  Dims pads_end{};

  Dims output_shape(const Dims& data) const;
  Plan plan(const ConstTensorView& data, const TensorView& output) const;
  friend bool operator==(const SpaceToBatch&, const SpaceToBatch&) = default;
};

/// BatchToSpace-2. Lists as in SpaceToBatch-2.
struct PATCHFOLD_API BatchToSpace {
  static constexpr std::string_view name = "openvino.BatchToSpace-2";
  Dims block_shape{};
  Dims crops_begin{};
  Dims crops_end{};

  Dims output_shape(const Dims& data) const;
  Plan plan(const ConstTensorView& data, const TensorView& output) const;
  friend bool operator==(const BatchToSpace&, const BatchToSpace&) = default;
};

/// SpaceToDepth-1. (N, C, D1..DR) -> (N, C * b^R, D1/b..DR/b), R >= 1.
struct PATCHFOLD_API SpaceToDepth {
  static constexpr std::string_view name = "openvino.SpaceToDepth-1";
  std::int64_t block_size = 1;              ///< b, at least 1
  std::optional<BlocksMode> blocks_mode{};  ///< required: the order of the new channels

  Dims output_shape(const Dims& data) const;
  Plan plan(const ConstTensorView& data, const TensorView& output) const;
  friend bool operator==(const SpaceToDepth&, const SpaceToDepth&) = default;
};

/// DepthToSpace-1. The inverse of SpaceToDepth-1.
struct PATCHFOLD_API DepthToSpace {
  static constexpr std::string_view name = "openvino.DepthToSpace-1";
  std::int64_t block_size = 1;              ///< b, at least 1
  std::optional<BlocksMode> blocks_mode{};  ///< required: the order of the new channels

  Dims output_shape(const Dims& data) const;
  Plan plan(const ConstTensorView& data, const TensorView& output) const;
  friend bool operator==(const DepthToSpace&, const DepthToSpace&) = default;
};

}  // namespace patchfold::openvino
