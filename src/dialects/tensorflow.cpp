// SPDX-License-Identifier: Apache-2.0
// TensorFlow: SpaceToBatch(ND), BatchToSpace(ND), SpaceToDepth, DepthToSpace. Patches are in tensorflow_patches.cpp.
#include "patchfold/tensorflow.hpp"

#include "base/fail.hpp"
#include "dialects/checks.hpp"
#include "dialects/rows.hpp"
#include "ops/operands.hpp"

namespace patchfold::tensorflow {

/// Returns the rows of tensorflow_patches.cpp.
std::vector<OperatorSpec> patch_rows();

namespace {

using namespace dialects;
using ops::Names;
using ops::Neutral;

/// Makes the checks that SpaceToBatchND and BatchToSpaceND share.
void check_blocks(const Dims& input, const Dims& block_shape, std::string_view pads_name, const PadsList& pads,
                  const Names& names) {
  const int blocked = block_shape.size();
  if (input.size() < 1 + blocked)
    fail_rank(names.op, names.data, "must have a batch axis and the axes of block_shape", input,
              ErrorValue("rank ", 1 + blocked, " or more"));
  if (pads.size() != blocked)
    fail(ErrorCode::length, names.op, pads_name, "must have one pair for each entry of block_shape", pads.size(), blocked);
  check_each(names.op, "block_shape", block_shape, 1);
  check_each(names.op, pads_name, pads, 0);
  ops::check_shape(names.op, names.data, input);
}

/// Makes the checks that SpaceToBatch and BatchToSpace share, except that of the rank, which comes first.
void check_legacy(std::int64_t block_size, std::string_view pads_name, const PadsList& pads, const Names& names) {
  check_number(names.op, "block_size", block_size, 2);
  if (pads.size() != 2)
    fail(ErrorCode::length, names.op, pads_name, "must have two pairs, for the height and the width", pads.size(), 2);
  check_each(names.op, pads_name, pads, 0);
}

constexpr Names to_batch_names(std::string_view name, std::string_view block) {
  return {.op = name, .data = "input", .kernel_size = block, .stride = block, .padding = "paddings"};
}
constexpr Names to_space_names(std::string_view name, std::string_view block) {
  return {.op = name, .data = "input", .output_size = "input", .kernel_size = block, .stride = block, .padding = "crops"};
}
constexpr Names space_to_batch_names = to_batch_names(SpaceToBatch::name, "block_size");
constexpr Names space_to_batch_nd_names = to_batch_names(SpaceToBatchND::name, "block_shape");
constexpr Names batch_to_space_names = to_space_names(BatchToSpace::name, "block_size");
constexpr Names batch_to_space_nd_names = to_space_names(BatchToSpaceND::name, "block_shape");

Neutral neutral(const SpaceToBatch& op, const Dims& input, const Names& names) {
  check_rank(neutral, op, input, names, 4);
  check_legacy(op.block_size, "paddings", op.paddings, names);
  return patchfold::SpaceToBatch{
      .block = {op.block_size, op.block_size}, .padding = op.paddings, .layout = Layout::channels_last};
}
Neutral neutral(const BatchToSpace& op, const Dims& input, const Names& names) {
  check_rank(neutral, op, input, names, 4);
  check_legacy(op.block_size, "crops", op.crops, names);
  return patchfold::BatchToSpace{
      .block = {op.block_size, op.block_size}, .crops = op.crops, .layout = Layout::channels_last};
}
Neutral neutral(const SpaceToBatchND& op, const Dims& input, const Names& names) {
  check_blocks(input, op.block_shape, "paddings", op.paddings, names);
  if (op.block_shape.empty()) return Copy{};
  return patchfold::SpaceToBatch{.block = op.block_shape, .padding = op.paddings, .layout = Layout::channels_last};
}
Neutral neutral(const BatchToSpaceND& op, const Dims& input, const Names& names) {
  check_blocks(input, op.block_shape, "crops", op.crops, names);
  if (op.block_shape.empty()) return Copy{};
  return patchfold::BatchToSpace{.block = op.block_shape, .crops = op.crops, .layout = Layout::channels_last};
}

constexpr Names space_to_depth_names = depth_names(SpaceToDepth::name, "input", "block_size");
constexpr Names depth_to_space_names = depth_names(DepthToSpace::name, "input", "block_size");

template <class Depth, class Op>
Neutral neutral_depth(ops::NeutralOf<Op> neutral, const Op& op, const Dims& input, const Names& names) {
  if (op.data_format == DataFormat::NCHW_VECT_C)
    fail(ErrorCode::value, names.op, "data_format", "NCHW_VECT_C is not supported", "NCHW_VECT_C", "NHWC or NCHW");
  check_rank(neutral, op, input, names, 4);
  check_number(names.op, "block_size", op.block_size, 2);
  return Depth{.block = {op.block_size, op.block_size},
               .mode = DepthMode::blocks_first,
               .layout = op.data_format == DataFormat::NHWC ? Layout::channels_last : Layout::channels_first};
}
Neutral neutral(const SpaceToDepth& op, const Dims& input, const Names& names) {
  return neutral_depth<patchfold::SpaceToDepth>(neutral, op, input, names);
}
Neutral neutral(const DepthToSpace& op, const Dims& input, const Names& names) {
  return neutral_depth<patchfold::DepthToSpace>(neutral, op, input, names);
}

}  // namespace

PATCHFOLD_OPERATOR(SpaceToBatch, space_to_batch_names)
PATCHFOLD_OPERATOR(SpaceToBatchND, space_to_batch_nd_names)
PATCHFOLD_OPERATOR(BatchToSpace, batch_to_space_names)
PATCHFOLD_OPERATOR(BatchToSpaceND, batch_to_space_nd_names)
PATCHFOLD_OPERATOR(SpaceToDepth, space_to_depth_names)
PATCHFOLD_OPERATOR(DepthToSpace, depth_to_space_names)

[[gnu::cold]] static std::vector<OperatorSpec> rows() {
  constexpr IndexTypes index = IndexTypes::int32_or_int64;
  constexpr std::string_view format = "order of the axes; NCHW_VECT_C is refused";
  std::vector<OperatorSpec> list = {
      row<SpaceToBatch>(
          neutral,
          {space_to_batch_names, "Moves blocks of (N, H, W, C) to the batch.", "TensorFlow SpaceToBatch",
           "f32 2x3x4x3 paddings=1:0,2:2 block_size=2", index},
          {shape_input<&SpaceToBatch::paddings>("paddings", "zeros: (top, bottom) and (left, right), at least 0"),
           attribute<&SpaceToBatch::block_size>("block_size", Need::required, "block on both axes, at least 2")}),
      row<SpaceToBatchND>(neutral,
                          {space_to_batch_nd_names, "Moves blocks of the axes after the batch to the batch.",
                           "TensorFlow SpaceToBatchND", "f32 2x3x4x3 block_shape=2,3 paddings=1:0,0:2", index},
                          {shape_input<&SpaceToBatchND::block_shape>("block_shape", "extents of a block, at least 1"),
                           shape_input<&SpaceToBatchND::paddings>(
                               "paddings", "zeros: (begin, end) for each entry of block_shape, at least 0")}),
      row<BatchToSpace>(
          neutral,
          {batch_to_space_names, "Moves blocks of the batch back to (N, H, W, C).", "TensorFlow BatchToSpace",
           "f32 8x2x3x3 crops=1:0,1:2 block_size=2", index},
          {shape_input<&BatchToSpace::crops>("crops", "elements removed: (top, bottom) and (left, right), at least 0"),
           attribute<&BatchToSpace::block_size>("block_size", Need::required, "block on both axes, at least 2")}),
      row<BatchToSpaceND>(neutral,
                          {batch_to_space_nd_names, "Moves blocks of the batch back to the axes after it.",
                           "TensorFlow BatchToSpaceND", "f32 12x2x3x3 block_shape=2,3 crops=1:0,0:2", index},
                          {shape_input<&BatchToSpaceND::block_shape>("block_shape", "extents of a block, at least 1"),
                           shape_input<&BatchToSpaceND::crops>(
                               "crops", "elements removed: (begin, end) for each entry of block_shape, at least 0")}),
      row<SpaceToDepth>(
          neutral,
          {space_to_depth_names, "Moves blocks of (N, H, W, C) to the channels.", "TensorFlow SpaceToDepth",
           "f32 2x4x6x3 block_size=2"},
          {attribute<&SpaceToDepth::block_size>("block_size", Need::required, "block on both axes, at least 2"),
           attribute<&SpaceToDepth::data_format>("data_format", Need::optional, format)}),
      row<DepthToSpace>(
          neutral,
          {depth_to_space_names, "Moves channels back to blocks of (N, H, W, C).", "TensorFlow DepthToSpace",
           "f32 2x12x2x3 block_size=2 data_format=NCHW"},
          {attribute<&DepthToSpace::block_size>("block_size", Need::required, "block on both axes, at least 2"),
           attribute<&DepthToSpace::data_format>("data_format", Need::optional, format)}),
  };
  for (OperatorSpec& spec : patch_rows()) list.push_back(std::move(spec));
  return list;
}

Dialect dialect() {
  return {{"tensorflow", "TensorFlow's operators.", "https://www.tensorflow.org/api_docs/python/tf/raw_ops"}, rows()};
}

}  // namespace patchfold::tensorflow
