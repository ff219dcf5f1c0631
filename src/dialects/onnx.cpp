// SPDX-License-Identifier: Apache-2.0
// ONNX: Col2Im-18, SpaceToDepth-1/13/28, DepthToSpace-1/11/13/28.
#include "patchfold/onnx.hpp"

#include "base/fail.hpp"
#include "dialects/checks.hpp"
#include "dialects/rows.hpp"
#include "engine/problem.hpp"
#include "ops/axes.hpp"

namespace patchfold::onnx {
namespace {

using namespace dialects;
using ops::Names;
using ops::Neutral;

constexpr Names col2im_names{.op = Col2Im::name,
                             .data = "input",
                             .output_size = "image_shape",
                             .kernel_size = "block_shape",
                             .stride = "strides",
                             .dilation = "dilations",
                             .padding = "pads"};

Neutral neutral(const Col2Im& op, const Dims& input, const Names& names) {
  if (input.size() != 3)
    fail_rank(names.op, names.data, "must be (N, C * product of block_shape, L)", input, "rank 3",
              grid_hint(ops::Change<Col2Im>{neutral, op, input, names}, op.image_shape.size()));
  ops::check_given(names.op, "image_shape", !op.image_shape.empty());
  const int rank = op.image_shape.size();
  if (rank > engine::max_axes)
    fail(ErrorCode::limit, names.op, "image_shape", "must not have more axes than a problem can", rank,
         ErrorValue("at most ", engine::max_axes));
  if (!op.block_shape.empty())
    ops::deciding_argument(names.op, {{"image_shape", rank}, {"block_shape", op.block_shape.size()}});
  const Dims ones = Dims::filled(rank, 1);
  const Dims zeros = Dims::filled(2 * rank, 0);
  const Dims& dilations = op.dilations.empty() ? ones : op.dilations;
  const Dims& strides = op.strides.empty() ? ones : op.strides;
  const Dims& pads = op.pads.empty() ? zeros : op.pads;
  check_lists(names.op, {{"image_shape", op.image_shape, rank, 0},
                         {"block_shape", op.block_shape, rank, 1},
                         {"dilations", dilations, rank, 1},
                         {"strides", strides, rank, 1},
                         {"pads", pads, 2 * rank, 0}});
  return patchfold::Fold{.output_size = op.image_shape,
                         .kernel_size = op.block_shape,
                         .stride = strides,
                         .dilation = dilations,
                         .padding = pairs_of(pads.slice(0, rank), pads.slice(rank, 2 * rank))};
}

constexpr Names space_to_depth_names = depth_names(SpaceToDepth::name, "input", "blocksize");
constexpr Names depth_to_space_names = depth_names(DepthToSpace::name, "input", "blocksize");

template <class Depth>
Neutral neutral_depth(const auto& op, const Dims& input, const Names& names) {
  if (input.size() != 4) fail_rank(names.op, names.data, "must be (N, C, H, W)", input, "rank 4");
  check_number(names.op, "blocksize", op.blocksize, 1);
  return Depth{.block = {op.blocksize, op.blocksize},
               .mode = op.mode == Mode::DCR ? DepthMode::blocks_first : DepthMode::depth_first};
}
Neutral neutral(const SpaceToDepth& op, const Dims& input, const Names& names) {
  return neutral_depth<patchfold::SpaceToDepth>(op, input, names);
}
Neutral neutral(const DepthToSpace& op, const Dims& input, const Names& names) {
  return neutral_depth<patchfold::DepthToSpace>(op, input, names);
}

}  // namespace

PATCHFOLD_OPERATOR(Col2Im, col2im_names)
PATCHFOLD_OPERATOR(SpaceToDepth, space_to_depth_names)
PATCHFOLD_OPERATOR(DepthToSpace, depth_to_space_names)

[[gnu::cold]] static std::vector<OperatorSpec> rows() {
  constexpr std::string_view to_depth = "Moves blocks of (N, C, H, W) to the channels.";
  constexpr std::string_view to_space = "Moves channels back to blocks of (N, C, H, W).";
  constexpr std::string_view block_doc = "block on both axes, at least 1";
  constexpr std::string_view mode_doc = "DCR: channel = offset * C + c; CRD: c * b * b + offset";
  constexpr std::string_view to_depth_example = "f32 2x3x4x6 blocksize=2";
  constexpr std::string_view to_depth_modes = "f32 2x3x4x6 blocksize=2 mode=CRD";
  constexpr std::string_view to_space_example = "f32 2x12x2x3 blocksize=2";
  constexpr std::string_view to_space_modes = "f32 2x12x2x3 blocksize=2 mode=CRD";
  const auto depth_block = attribute<&SpaceToDepth::blocksize>("blocksize", Need::required, block_doc);
  const auto depth_mode = attribute<&SpaceToDepth::mode>("mode", Need::optional, mode_doc);
  const auto space_block = attribute<&DepthToSpace::blocksize>("blocksize", Need::required, block_doc);
  const auto space_mode = attribute<&DepthToSpace::mode>("mode", Need::optional, mode_doc);
  return {
      row<Col2Im>(neutral,
                  {col2im_names, "Sums columns (N, C*K, L) into images (N, C, I1, .., IR).", "ONNX Col2Im, opset 18",
                   "f32 2x18x9 image_shape=6,5 block_shape=2,3 dilations=1,2 pads=1,0,0,2 strides=2,1", IndexTypes::int64},
                  {shape_input<&Col2Im::image_shape>("image_shape", "spatial extents of the image, at least 0"),
                   shape_input<&Col2Im::block_shape>("block_shape", "extents of a patch, at least 1"),
                   attribute<&Col2Im::dilations>("dilations", Need::optional,
                                                 "step between the taps (elements) of a patch, at least 1; left out: 1"),
                   attribute<&Col2Im::pads>("pads", Need::optional, "all begins, then all ends, at least 0; left out: 0"),
                   attribute<&Col2Im::strides>("strides", Need::optional, "step between patches, at least 1; left out: 1")}),
      row<SpaceToDepth>(
          neutral,
          {named(space_to_depth_names, "onnx.SpaceToDepth-1"), to_depth, "ONNX SpaceToDepth, opset 1", to_depth_example},
          {depth_block}),
      row<SpaceToDepth>(
          neutral,
          {named(space_to_depth_names, "onnx.SpaceToDepth-13"), to_depth, "ONNX SpaceToDepth, opset 13", to_depth_example},
          {depth_block}),
      row<SpaceToDepth>(neutral, {space_to_depth_names, to_depth, "ONNX SpaceToDepth, opset 28", to_depth_modes},
                        {depth_block, depth_mode}),
      row<DepthToSpace>(
          neutral,
          {named(depth_to_space_names, "onnx.DepthToSpace-1"), to_space, "ONNX DepthToSpace, opset 1", to_space_example},
          {space_block}),
      row<DepthToSpace>(
          neutral,
          {named(depth_to_space_names, "onnx.DepthToSpace-11"), to_space, "ONNX DepthToSpace, opset 11", to_space_modes},
          {space_block, space_mode}),
      row<DepthToSpace>(
          neutral,
          {named(depth_to_space_names, "onnx.DepthToSpace-13"), to_space, "ONNX DepthToSpace, opset 13", to_space_modes},
          {space_block, space_mode}),
      row<DepthToSpace>(neutral, {depth_to_space_names, to_space, "ONNX DepthToSpace, opset 28", to_space_modes},
                        {space_block, space_mode}),
  };
}

Dialect dialect() {
  return {{"onnx", "ONNX's operators, each with its opset.", "https://onnx.ai/onnx/operators/"}, rows()};
}

}  // namespace patchfold::onnx
