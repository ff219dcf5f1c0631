// SPDX-License-Identifier: Apache-2.0
// OpenVINO: Col2Im-15, ExtractImagePatches-3, SpaceToBatch-2, BatchToSpace-2, SpaceToDepth-1, DepthToSpace-1.
#include "patchfold/openvino.hpp"

#include "base/fail.hpp"
#include "dialects/checks.hpp"
#include "dialects/rows.hpp"
#include "ops/axes.hpp"

namespace patchfold::openvino {
namespace {

using namespace dialects;
using ops::Names;
using ops::Neutral;

constexpr Names col2im_names{
    .op = Col2Im::name, .stride = "strides", .dilation = "dilations", .padding = "pads_begin, pads_end"};

Neutral neutral(const Col2Im& op, const Dims& data, const Names& names) {
  if (data.size() != 2 && data.size() != 3)
    fail_rank(names.op, names.data, "must be (N, C * product of kernel_size, L) or without N", data, "rank 3 or 2",
              grid_hint(ops::Change<Col2Im>{neutral, op, data, names}, 2));
  check_lists(names.op, {{"output_size", op.output_size, 2, 1},
                         {"kernel_size", op.kernel_size, 2, 1},
                         {"strides", op.strides, 2, 1},
                         {"dilations", op.dilations, 2, 0},
                         {"pads_begin", op.pads_begin, 2, 0},
                         {"pads_end", op.pads_end, 2, 0}});
  return patchfold::Fold{.output_size = op.output_size,
                         .kernel_size = op.kernel_size,
                         .stride = op.strides,
                         .dilation = op.dilations,
                         .padding = pairs_of(op.pads_begin, op.pads_end)};
}

constexpr Names patches_names{.op = ExtractImagePatches::name,
                              .kernel_size = "sizes",
                              .stride = "strides",
                              .dilation = "rates",
                              .padding = "auto_pad"};

Neutral neutral(const ExtractImagePatches& op, const Dims& data, const Names& names) {
  if (data.size() != 4) fail_rank(names.op, names.data, "must be 4D: [batch, depth, in_rows, in_cols]", data, "rank 4");
  check_lists(names.op, {{"sizes", op.sizes, 2, 1}, {"strides", op.strides, 2, 1}, {"rates", op.rates, 2, 1}});
  ops::check_given(names.op, "auto_pad", op.auto_pad.has_value());
  const auto rule = *op.auto_pad == AutoPad::valid        ? Padding::valid
                    : *op.auto_pad == AutoPad::same_lower ? Padding::same_lower
                                                          : Padding::same_upper;
  return patchfold::Unfold{.kernel_size = op.sizes,
                           .stride = op.strides,
                           .dilation = op.rates,
                           .padding = rule,
                           .order = Order::kernel,
                           .positions = Positions::grid,
                           .allow_empty = true};
}

/// Checks lists with one entry for each axis of the data. The first entry of each list belongs to the batch, which is neither
/// cut nor padded, so this entry must be the list's lower bound: 1 for blocks, 0 for pads and crops.
void check_batch_lists(std::initializer_list<BoundedList> lists, const Dims& data, const Names& names) {
  if (data.size() < 2) fail_rank(names.op, names.data, "must be [batch, D_1, ..]", data, "rank 2 or more");
  check_lists(names.op, lists);
  for (const BoundedList& each : lists)
    if (each.list[0] != each.bound)
      fail(ErrorCode::value, names.op, each.argument, "the entry of the batch axis must be " + std::to_string(each.bound),
           each.list[0], each.bound);
}

Dims without_batch(const Dims& list) {
  return list.slice(1, list.size());
}

constexpr Names space_to_batch_names{
    .op = SpaceToBatch::name, .kernel_size = "block_shape", .stride = "block_shape", .padding = "pads_begin, pads_end"};

Neutral neutral(const SpaceToBatch& op, const Dims& data, const Names& names) {
  const int rank = data.size();
  check_batch_lists(
      {{"block_shape", op.block_shape, rank, 1}, {"pads_begin", op.pads_begin, rank, 0}, {"pads_end", op.pads_end, rank, 0}},
      data, names);
  return patchfold::SpaceToBatch{.block = without_batch(op.block_shape),
                                 .padding = pairs_of(without_batch(op.pads_begin), without_batch(op.pads_end))};
}

constexpr Names batch_to_space_names{.op = BatchToSpace::name,
                                     .output_size = "data",
                                     .kernel_size = "block_shape",
                                     .stride = "block_shape",
                                     .padding = "crops_begin, crops_end"};

Neutral neutral(const BatchToSpace& op, const Dims& data, const Names& names) {
  const int rank = data.size();
  check_batch_lists({{"block_shape", op.block_shape, rank, 1},
                     {"crops_begin", op.crops_begin, rank, 0},
                     {"crops_end", op.crops_end, rank, 0}},
                    data, names);
  return patchfold::BatchToSpace{.block = without_batch(op.block_shape),
                                 .crops = pairs_of(without_batch(op.crops_begin), without_batch(op.crops_end))};
}

constexpr Names space_to_depth_names = depth_names(SpaceToDepth::name, "data", "block_size");
constexpr Names depth_to_space_names = depth_names(DepthToSpace::name, "data", "block_size");

template <class Depth>
Neutral neutral_depth(const auto& op, const Dims& data, const Names& names) {
  if (data.size() < 3) fail_rank(names.op, names.data, "must be [N, C, D1, ..]", data, "rank 3 or more");
  check_number(names.op, "block_size", op.block_size, 1);
  ops::check_given(names.op, "blocks_mode", op.blocks_mode.has_value());
  return Depth{.block = Dims::filled(data.size() - 2, op.block_size),
               .mode = *op.blocks_mode == BlocksMode::blocks_first ? DepthMode::blocks_first : DepthMode::depth_first};
}
Neutral neutral(const SpaceToDepth& op, const Dims& data, const Names& names) {
  return neutral_depth<patchfold::SpaceToDepth>(op, data, names);
}
Neutral neutral(const DepthToSpace& op, const Dims& data, const Names& names) {
  return neutral_depth<patchfold::DepthToSpace>(op, data, names);
}

}  // namespace

PATCHFOLD_OPERATOR(Col2Im, col2im_names)
PATCHFOLD_OPERATOR(ExtractImagePatches, patches_names)
PATCHFOLD_OPERATOR(SpaceToBatch, space_to_batch_names)
PATCHFOLD_OPERATOR(BatchToSpace, batch_to_space_names)
PATCHFOLD_OPERATOR(SpaceToDepth, space_to_depth_names)
PATCHFOLD_OPERATOR(DepthToSpace, depth_to_space_names)

[[gnu::cold]] static std::vector<OperatorSpec> rows() {
  constexpr std::string_view mode_doc = "blocks_first: channel = offset * C + c; depth_first: c * K + offset";
  return {
      row<Col2Im>(neutral,
                  {col2im_names, "Sums columns (N, C*K, L) into images (N, C, H, W).", "OpenVINO Col2Im-15",
                   "f32 2x18x9 output_size=6,5 kernel_size=2,3 strides=2,1 dilations=1,2 pads_begin=1,0 pads_end=0,2",
                   IndexTypes::same_int32_or_int64},
                  {shape_input<&Col2Im::output_size>("output_size", "height and width of the image, at least 1"),
                   shape_input<&Col2Im::kernel_size>("kernel_size", "height and width of a patch, at least 1"),
                   attribute<&Col2Im::strides>("strides", Need::optional, "step between patches, at least 1"),
                   attribute<&Col2Im::dilations>("dilations", Need::optional,
                                                 "step between the taps (elements) of a patch, at least 0"),
                   attribute<&Col2Im::pads_begin>("pads_begin", Need::optional, "pads before each axis, at least 0"),
                   attribute<&Col2Im::pads_end>("pads_end", Need::optional, "pads after each axis, at least 0")}),
      row<ExtractImagePatches>(
          neutral,
          {patches_names, "Copies patches of (N, C, H, W) to the channels, tap-major: (N, kh*kw*C, oh, ow).",
           "OpenVINO ExtractImagePatches-3", "f32 2x3x7x8 sizes=2,3 strides=3,2 rates=2,1 auto_pad=same_lower"},
          {attribute<&ExtractImagePatches::sizes>("sizes", Need::required, "rows and columns of a patch, at least 1"),
           attribute<&ExtractImagePatches::strides>("strides", Need::required, "step between patches, at least 1"),
           attribute<&ExtractImagePatches::rates>("rates", Need::required,
                                                  "step between the taps (elements) of a patch, at least 1"),
           attribute<&ExtractImagePatches::auto_pad>(
               "auto_pad", Need::required,
               "valid: none; same_upper, same_lower: zeros around the image, the odd one at the end or at the beginning")}),
      row<SpaceToBatch>(
          neutral,
          {space_to_batch_names, "Moves blocks of the spatial axes to the batch.", "OpenVINO SpaceToBatch-2",
           "f32 2x3x5x7 block_shape=1,1,2,3 pads_begin=0,0,1,0 pads_end=0,0,0,2", IndexTypes::integral},
          {shape_input<&SpaceToBatch::block_shape>("block_shape", "extents of a block, at least 1; 1 for the batch"),
           shape_input<&SpaceToBatch::pads_begin>("pads_begin", "zeros before each axis, at least 0; 0 for the batch"),
           shape_input<&SpaceToBatch::pads_end>("pads_end", "zeros after each axis, at least 0; 0 for the batch")}),
      row<BatchToSpace>(
          neutral,
          {batch_to_space_names, "Moves blocks of the batch back to the spatial axes.", "OpenVINO BatchToSpace-2",
           "f32 12x3x3x2 block_shape=1,1,2,3 crops_begin=0,0,1,0 crops_end=0,0,0,2", IndexTypes::same_integral},
          {shape_input<&BatchToSpace::block_shape>("block_shape", "extents of a block, at least 1; 1 for the batch"),
           shape_input<&BatchToSpace::crops_begin>(
               "crops_begin", "elements removed at the beginning of each axis, at least 0; 0 for the batch"),
           shape_input<&BatchToSpace::crops_end>("crops_end",
                                                 "elements removed at the end of each axis, at least 0; 0 for the batch")}),
      row<SpaceToDepth>(
          neutral,
          {space_to_depth_names, "Moves blocks of the spatial axes to the channels.", "OpenVINO SpaceToDepth-1",
           "f32 2x3x4x6 block_size=2 blocks_mode=blocks_first"},
          {attribute<&SpaceToDepth::blocks_mode>("blocks_mode", Need::required, mode_doc),
           attribute<&SpaceToDepth::block_size>("block_size", Need::optional, "block on every spatial axis, at least 1")}),
      row<DepthToSpace>(
          neutral,
          {depth_to_space_names, "Moves channels back to blocks of the spatial axes.", "OpenVINO DepthToSpace-1",
           "f32 2x12x2x3 block_size=2 blocks_mode=depth_first"},
          {attribute<&DepthToSpace::blocks_mode>("blocks_mode", Need::required, mode_doc),
           attribute<&DepthToSpace::block_size>("block_size", Need::optional, "block on every spatial axis, at least 1")}),
  };
}

Dialect dialect() {
  return {{"openvino", "OpenVINO's operators, each with its operation set.", "https://docs.openvino.ai/, operation sets"},
          rows()};
}

}  // namespace patchfold::openvino
