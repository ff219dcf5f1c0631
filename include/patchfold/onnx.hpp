// SPDX-License-Identifier: Apache-2.0
// ONNX's operators, with the names, defaults and checks of https://onnx.ai/onnx/operators/. In errors (patchfold::Error) operators
// and arguments have ONNX's names too. docs/dialects.md says which neutral operator each of them is.
#pragma once

#include "patchfold/operators.hpp"

namespace patchfold::onnx {

/// The order of the new channels. DCR: the offset within the block is slow, channel = offset * C + c. CRD: the channel is
/// slow, channel = c * b * b + offset.
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
  Dims image_shape{};  ///< required: I1..IR, at least 0
  Dims block_shape{};  ///< required: extents of a patch, at least 1
  Dims dilations{};    ///< R entries, at least 1; empty: 1
  Dims pads{};         ///< R begins, then R ends, at least 0; empty: 0
  Dims strides{};      ///< R entries, at least 1; empty: 1

  Dims output_shape(const Dims& input) const;
  Plan plan(const ConstTensorView& input, const TensorView& output) const;
  friend bool operator==(const Col2Im&, const Col2Im&) = default;
};

/// SpaceToDepth-28. (N, C, H, W) -> (N, C * b * b, H/b, W/b). Opsets 1 and 13 have only the mode DCR; opset 28 added `mode`.
struct PATCHFOLD_API SpaceToDepth {
  static constexpr std::string_view name = "onnx.SpaceToDepth-28";
  std::int64_t blocksize = 0;  ///< required: b, at least 1
  Mode mode = Mode::DCR;

  Dims output_shape(const Dims& input) const;
  Plan plan(const ConstTensorView& input, const TensorView& output) const;
  friend bool operator==(const SpaceToDepth&, const SpaceToDepth&) = default;
};

/// DepthToSpace-28. (N, C, H, W) -> (N, C / (b * b), H*b, W*b). Opset 1 has only the mode DCR; opset 11 added `mode`.
struct PATCHFOLD_API DepthToSpace {
  static constexpr std::string_view name = "onnx.DepthToSpace-28";
  std::int64_t blocksize = 0;  ///< required: b, at least 1
  Mode mode = Mode::DCR;

  Dims output_shape(const Dims& input) const;
  Plan plan(const ConstTensorView& input, const TensorView& output) const;
  friend bool operator==(const DepthToSpace&, const DepthToSpace&) = default;
};

}  // namespace patchfold::onnx
