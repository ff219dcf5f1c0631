// SPDX-License-Identifier: Apache-2.0
// ONNX: Col2Im-18, SpaceToDepth-1/13/28, DepthToSpace-1/11/13/28.
#include "patchfold/onnx.hpp"

#include "dialects/checks.hpp"
#include "dialects/rows.hpp"
#include "ops/patches.hpp"
#include "tensor/fail.hpp"

namespace patchfold::onnx {
namespace {

using dialects::check_each;
using dialects::check_length;

constexpr ops::Names col2im_names{.op = Col2Im::name,
                                  .image = "output",
                                  .columns = "input",
                                  .output_size = "image_shape",
                                  .kernel_size = "block_shape",
                                  .stride = "strides",
                                  .dilation = "dilations",
                                  .padding = "pads"};

patchfold::Fold fold_of(const Col2Im& op, const Dims& input) {
  constexpr std::string_view name = Col2Im::name;
  if (input.size() != 3) fail_rank(name, "input", "must be (N, C * product of block_shape, L)", input, "rank 3");
  ops::check_given(name, "image_shape", !op.image_shape.empty());
  const int rank = op.image_shape.size();
  if (rank > engine::max_axes)
    fail(ErrorCode::limit, name, "image_shape", "must not have more axes than a problem can", rank,
         "at most " + std::to_string(engine::max_axes));
  const Dims ones = Dims::filled(rank, 1);
  const Dims zeros = Dims::filled(2 * rank, 0);
  const Dims& dilations = op.dilations.empty() ? ones : op.dilations;
  const Dims& strides = op.strides.empty() ? ones : op.strides;
  const Dims& pads = op.pads.empty() ? zeros : op.pads;
  check_length(name, "block_shape", op.block_shape, rank);
  check_length(name, "dilations", dilations, rank);
  check_length(name, "strides", strides, rank);
  check_length(name, "pads", pads, 2 * rank);
  check_each(name, "image_shape", op.image_shape, 0);
  check_each(name, "block_shape", op.block_shape, 1);
  check_each(name, "dilations", dilations, 1);
  check_each(name, "strides", strides, 1);
  check_each(name, "pads", pads, 0);
  return {.output_size = op.image_shape,
          .kernel_size = op.block_shape,
          .stride = strides,
          .dilation = dilations,
          .padding = dialects::pairs_of(pads.slice(0, rank), pads.slice(rank, 2 * rank))};
}

constexpr ops::Names space_to_depth_names = ops::depth_names(SpaceToDepth::name, "input", "output", "blocksize");
constexpr ops::Names depth_to_space_names = ops::depth_names(DepthToSpace::name, "output", "input", "blocksize");

template <class Neutral, class Op>
Neutral neutral_depth(const Op& op, const Dims& input) {
  if (input.size() != 4) fail_rank(Op::name, "input", "must be (N, C, H, W)", input, "rank 4");
  dialects::check_number(Op::name, "blocksize", op.blocksize, 1);
  return {.block = {op.blocksize, op.blocksize},
          .mode = op.mode == Mode::DCR ? DepthMode::blocks_first : DepthMode::depth_first};
}

}  // namespace

Dims Col2Im::output_shape(const Dims& input) const {
  return ops::fold_shape(fold_of(*this, input), input, col2im_names);
}
Plan Col2Im::plan(const ConstTensorView& input, const TensorView& output) const {
  return ops::fold_plan(fold_of(*this, input.shape), input, output, col2im_names);
}

Dims SpaceToDepth::output_shape(const Dims& input) const {
  return ops::space_to_depth_shape(neutral_depth<patchfold::SpaceToDepth>(*this, input), input, space_to_depth_names);
}
Plan SpaceToDepth::plan(const ConstTensorView& input, const TensorView& output) const {
  return ops::space_to_depth_plan(neutral_depth<patchfold::SpaceToDepth>(*this, input.shape), input, output,
                                  space_to_depth_names);
}

Dims DepthToSpace::output_shape(const Dims& input) const {
  return ops::depth_to_space_shape(neutral_depth<patchfold::DepthToSpace>(*this, input), input, depth_to_space_names);
}
Plan DepthToSpace::plan(const ConstTensorView& input, const TensorView& output) const {
  return ops::depth_to_space_plan(neutral_depth<patchfold::DepthToSpace>(*this, input.shape), input, output,
                                  depth_to_space_names);
}

std::vector<OperatorSpec> rows() {
  using dialects::attribute;
  using dialects::Need;
  using dialects::row;
  using dialects::shape_input;
  constexpr std::string_view to_depth = "Moves blocks of (N, C, H, W) to the channels.";
  constexpr std::string_view to_space = "Moves channels back to blocks of (N, C, H, W).";
  const auto depth_block =
      attribute<&SpaceToDepth::blocksize>("blocksize", Need::required, "block on both axes, at least 1");
  const auto depth_mode =
      attribute<&SpaceToDepth::mode>("mode", Need::optional, "DCR: channel = offset * C + c; CRD: c * b * b + offset");
  const auto space_block =
      attribute<&DepthToSpace::blocksize>("blocksize", Need::required, "block on both axes, at least 1");
  const auto space_mode =
      attribute<&DepthToSpace::mode>("mode", Need::optional, "DCR: channel = offset * C + c; CRD: c * b * b + offset");
  return {
      row<Col2Im>({Col2Im::name, "Sums columns (N, C*K, L) into images (N, C, I1, .., IR).", "ONNX Col2Im, opset 18",
                   "input", IndexTypes::int64, /*sums=*/true},
                  {shape_input<&Col2Im::image_shape>("image_shape", "spatial extents of the image, at least 0"),
                   shape_input<&Col2Im::block_shape>("block_shape", "extents of a patch, at least 1"),
                   attribute<&Col2Im::dilations>("dilations", Need::optional, "step between taps, at least 1; left out: 1"),
                   attribute<&Col2Im::pads>("pads", Need::optional, "all begins, then all ends, at least 0; left out: 0"),
                   attribute<&Col2Im::strides>("strides", Need::optional, "step between patches, at least 1; left out: 1")}),
      row<SpaceToDepth>({"onnx.SpaceToDepth-1", to_depth, "ONNX SpaceToDepth, opset 1", "input"}, {depth_block}),
      row<SpaceToDepth>({"onnx.SpaceToDepth-13", to_depth, "ONNX SpaceToDepth, opset 13", "input"}, {depth_block}),
      row<SpaceToDepth>({SpaceToDepth::name, to_depth, "ONNX SpaceToDepth, opset 28", "input"}, {depth_block, depth_mode}),
      row<DepthToSpace>({"onnx.DepthToSpace-1", to_space, "ONNX DepthToSpace, opset 1", "input"}, {space_block}),
      row<DepthToSpace>({"onnx.DepthToSpace-11", to_space, "ONNX DepthToSpace, opset 11", "input"},
                        {space_block, space_mode}),
      row<DepthToSpace>({"onnx.DepthToSpace-13", to_space, "ONNX DepthToSpace, opset 13", "input"},
                        {space_block, space_mode}),
      row<DepthToSpace>({DepthToSpace::name, to_space, "ONNX DepthToSpace, opset 28", "input"}, {space_block, space_mode}),
  };
}

}  // namespace patchfold::onnx
