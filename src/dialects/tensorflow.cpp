// SPDX-License-Identifier: Apache-2.0
// TensorFlow: SpaceToBatch(ND), BatchToSpace(ND), SpaceToDepth, DepthToSpace. Patches are in tensorflow_patches.cpp.
#include "patchfold/tensorflow.hpp"

#include "dialects/checks.hpp"
#include "dialects/rows.hpp"
#include "dialects/tensorflow_rows.hpp"
#include "ops/batches.hpp"
#include "ops/operands.hpp"
#include "ops/patches.hpp"
#include "tensor/fail.hpp"

namespace patchfold::tensorflow {
namespace {

using dialects::check_each;
using dialects::check_number;
using dialects::check_rank;

/// SpaceToBatchND and BatchToSpaceND with M = 0 copy: one block of 1 on an axis of 1 that is appended.
template <class View>
View with_unit_axis(View view) {
  view.shape.push_back(1);
  view.strides.push_back(0);
  return view;
}

/// Checks what SpaceToBatchND and BatchToSpaceND share.
void check_blocks(std::string_view name, const Dims& input, const Dims& block_shape, std::string_view pads_name,
                  const PadsList& pads) {
  const int blocked = block_shape.size();
  if (input.size() < 1 + blocked)
    fail_rank(name, "input", "must have a batch axis and the axes of block_shape", input,
              "rank " + std::to_string(1 + blocked) + " or more");
  if (pads.size() != blocked)
    fail(ErrorCode::length, name, pads_name, "must have one pair for each entry of block_shape", pads.size(), blocked);
  check_each(name, "block_shape", block_shape, 1);
  check_each(name, pads_name, pads, 0);
  ops::check_shape(name, "input", input);
}

/// Checks what SpaceToBatch and BatchToSpace share.
void check_legacy(std::string_view name, const Dims& input, std::int64_t block_size, std::string_view pads_name,
                  const PadsList& pads) {
  check_rank(name, "input", input, 4);
  check_number(name, "block_size", block_size, 2);
  if (pads.size() != 2)
    fail(ErrorCode::length, name, pads_name, "must have two pairs, for the height and the width", pads.size(), 2);
  check_each(name, pads_name, pads, 0);
}

constexpr ops::Names to_batch_names(std::string_view name, std::string_view block) {
  return {.op = name, .image = "input", .columns = "output", .kernel_size = block, .stride = block, .padding = "paddings"};
}
constexpr ops::Names to_space_names(std::string_view name, std::string_view block) {
  return {.op = name,
          .image = "output",
          .columns = "input",
          .output_size = "input",
          .kernel_size = block,
          .stride = block,
          .padding = "crops"};
}
constexpr ops::Names space_to_batch_names = to_batch_names(SpaceToBatch::name, "block_size");
constexpr ops::Names space_to_batch_nd_names = to_batch_names(SpaceToBatchND::name, "block_shape");
constexpr ops::Names batch_to_space_names = to_space_names(BatchToSpace::name, "block_size");
constexpr ops::Names batch_to_space_nd_names = to_space_names(BatchToSpaceND::name, "block_shape");

patchfold::SpaceToBatch neutral(const SpaceToBatch& op, const Dims& input) {
  check_legacy(SpaceToBatch::name, input, op.block_size, "paddings", op.paddings);
  return {.block = {op.block_size, op.block_size}, .padding = op.paddings, .layout = Layout::channels_last};
}
patchfold::BatchToSpace neutral(const BatchToSpace& op, const Dims& input) {
  check_legacy(BatchToSpace::name, input, op.block_size, "crops", op.crops);
  return {.block = {op.block_size, op.block_size}, .crops = op.crops, .layout = Layout::channels_last};
}
patchfold::SpaceToBatch neutral(const SpaceToBatchND& op, const Dims& input) {
  check_blocks(SpaceToBatchND::name, input, op.block_shape, "paddings", op.paddings);
  if (op.block_shape.empty()) return {.block = {1}, .layout = Layout::channels_last};
  return {.block = op.block_shape, .padding = op.paddings, .layout = Layout::channels_last};
}
patchfold::BatchToSpace neutral(const BatchToSpaceND& op, const Dims& input) {
  check_blocks(BatchToSpaceND::name, input, op.block_shape, "crops", op.crops);
  if (op.block_shape.empty()) return {.block = {1}, .layout = Layout::channels_last};
  return {.block = op.block_shape, .crops = op.crops, .layout = Layout::channels_last};
}

constexpr ops::Names space_to_depth_names = ops::depth_names(SpaceToDepth::name, "input", "output", "block_size");
constexpr ops::Names depth_to_space_names = ops::depth_names(DepthToSpace::name, "output", "input", "block_size");

template <class Neutral, class Op>
Neutral neutral_depth(const Op& op, const Dims& input) {
  if (op.data_format == DataFormat::NCHW_VECT_C)
    fail(ErrorCode::value, Op::name, "data_format", "NCHW_VECT_C is not supported", "NCHW_VECT_C", "NHWC or NCHW");
  check_rank(Op::name, "input", input, 4);
  check_number(Op::name, "block_size", op.block_size, 2);
  return {.block = {op.block_size, op.block_size},
          .mode = DepthMode::blocks_first,
          .layout = op.data_format == DataFormat::NHWC ? Layout::channels_last : Layout::channels_first};
}

}  // namespace

Dims SpaceToBatch::output_shape(const Dims& input) const {
  return ops::space_to_batch_shape(neutral(*this, input), input, space_to_batch_names);
}
Plan SpaceToBatch::plan(const ConstTensorView& input, const TensorView& output) const {
  return ops::space_to_batch_plan(neutral(*this, input.shape), input, output, space_to_batch_names);
}

Dims BatchToSpace::output_shape(const Dims& input) const {
  return ops::batch_to_space_shape(neutral(*this, input), input, batch_to_space_names);
}
Plan BatchToSpace::plan(const ConstTensorView& input, const TensorView& output) const {
  return ops::batch_to_space_plan(neutral(*this, input.shape), input, output, batch_to_space_names);
}

Dims SpaceToBatchND::output_shape(const Dims& input) const {
  const auto op = neutral(*this, input);
  if (block_shape.empty()) return input;
  return ops::space_to_batch_shape(op, input, space_to_batch_nd_names);
}
Plan SpaceToBatchND::plan(const ConstTensorView& input, const TensorView& output) const {
  const auto op = neutral(*this, input.shape);
  if (block_shape.empty())
    return ops::space_to_batch_plan(op, with_unit_axis(input), with_unit_axis(output), space_to_batch_nd_names);
  return ops::space_to_batch_plan(op, input, output, space_to_batch_nd_names);
}

Dims BatchToSpaceND::output_shape(const Dims& input) const {
  const auto op = neutral(*this, input);
  if (block_shape.empty()) return input;
  return ops::batch_to_space_shape(op, input, batch_to_space_nd_names);
}
Plan BatchToSpaceND::plan(const ConstTensorView& input, const TensorView& output) const {
  const auto op = neutral(*this, input.shape);
  if (block_shape.empty())
    return ops::batch_to_space_plan(op, with_unit_axis(input), with_unit_axis(output), batch_to_space_nd_names);
  return ops::batch_to_space_plan(op, input, output, batch_to_space_nd_names);
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
  constexpr IndexTypes index = IndexTypes::int32_or_int64;
  constexpr std::string_view format = "NHWC or NCHW";
  std::vector<OperatorSpec> list = {
      row<SpaceToBatch>(
          {SpaceToBatch::name, "Moves blocks of (N, H, W, C) to the batch.", "TensorFlow SpaceToBatch", "input", index},
          {shape_input<&SpaceToBatch::paddings>("paddings", "pads of the height and the width, at least 0"),
           attribute<&SpaceToBatch::block_size>("block_size", Need::required, "block on both axes, at least 2")}),
      row<SpaceToBatchND>(
          {SpaceToBatchND::name, "Moves blocks of the axes after the batch to the batch.", "TensorFlow SpaceToBatchND",
           "input", index},
          {shape_input<&SpaceToBatchND::block_shape>("block_shape", "block on each of the first axes, at least 1"),
           shape_input<&SpaceToBatchND::paddings>("paddings", "a pair of pads for each block, at least 0")}),
      row<BatchToSpace>(
          {BatchToSpace::name, "Moves blocks of the batch back to (N, H, W, C).", "TensorFlow BatchToSpace", "input", index},
          {shape_input<&BatchToSpace::crops>("crops", "crops of the height and the width, at least 0"),
           attribute<&BatchToSpace::block_size>("block_size", Need::required, "block on both axes, at least 2")}),
      row<BatchToSpaceND>(
          {BatchToSpaceND::name, "Moves blocks of the batch back to the axes after it.", "TensorFlow BatchToSpaceND",
           "input", index},
          {shape_input<&BatchToSpaceND::block_shape>("block_shape", "block on each of the first axes, at least 1"),
           shape_input<&BatchToSpaceND::crops>("crops", "a pair of crops for each block, at least 0")}),
      row<SpaceToDepth>(
          {SpaceToDepth::name, "Moves blocks of (N, H, W, C) to the channels.", "TensorFlow SpaceToDepth", "input"},
          {attribute<&SpaceToDepth::block_size>("block_size", Need::required, "block on both axes, at least 2"),
           attribute<&SpaceToDepth::data_format>("data_format", Need::optional, format)}),
      row<DepthToSpace>(
          {DepthToSpace::name, "Moves channels back to blocks of (N, H, W, C).", "TensorFlow DepthToSpace", "input"},
          {attribute<&DepthToSpace::block_size>("block_size", Need::required, "block on both axes, at least 2"),
           attribute<&DepthToSpace::data_format>("data_format", Need::optional, format)}),
  };
  for (OperatorSpec& spec : patch_rows()) list.push_back(std::move(spec));
  return list;
}

}  // namespace patchfold::tensorflow
