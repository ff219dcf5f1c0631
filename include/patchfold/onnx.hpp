// SPDX-License-Identifier: Apache-2.0
// ONNX's operators, with the names, defaults and checks of their specifications.
#pragma once

#include "patchfold/operators.hpp"

namespace patchfold::onnx {

/// Which index of the block's channels is slow: the offset within the block (DCR), or the channel (CRD).
enum class Mode : std::uint8_t { DCR, CRD };

}  // namespace patchfold::onnx

namespace patchfold {
template <>
inline constexpr auto words<onnx::Mode> = std::to_array<Word<onnx::Mode>>({{onnx::Mode::DCR, "DCR"},
                                                                           {onnx::Mode::CRD, "CRD"}});
}  // namespace patchfold

namespace patchfold::onnx {

/// Col2Im-18. input (N, C*K, L) -> (N, C, I1..IR); channel-major columns; R is the length of image_shape.
struct PATCHFOLD_API Col2Im {
  static constexpr std::string_view name = "onnx.Col2Im-18";
  Dims image_shape{};
  Dims block_shape{};
  Dims dilations{};  ///< R entries; empty: 1
  Dims pads{};       ///< R begins, then R ends; empty: 0
  Dims strides{};    ///< R entries; empty: 1

  Dims output_shape(const Dims& input) const;
  Plan plan(const ConstTensorView& input, const TensorView& output) const;
  friend bool operator==(const Col2Im&, const Col2Im&) = default;
};

/// SpaceToDepth. (N, C, H, W) -> (N, C * b * b, H/b, W/b). Opsets 1 and 13 know the mode DCR only; opset 28 adds `mode`.
struct PATCHFOLD_API SpaceToDepth {
  static constexpr std::string_view name = "onnx.SpaceToDepth-28";
  std::int64_t blocksize = 0;  ///< required
  Mode mode = Mode::DCR;

  Dims output_shape(const Dims& input) const;
  Plan plan(const ConstTensorView& input, const TensorView& output) const;
  friend bool operator==(const SpaceToDepth&, const SpaceToDepth&) = default;
};

/// DepthToSpace. (N, C, H, W) -> (N, C / (b * b), H*b, W*b). Opset 1 knows the mode DCR only; opset 11 added `mode`.
struct PATCHFOLD_API DepthToSpace {
  static constexpr std::string_view name = "onnx.DepthToSpace-28";
  std::int64_t blocksize = 0;  ///< required
  Mode mode = Mode::DCR;

  Dims output_shape(const Dims& input) const;
  Plan plan(const ConstTensorView& input, const TensorView& output) const;
  friend bool operator==(const DepthToSpace&, const DepthToSpace&) = default;
};

}  // namespace patchfold::onnx
