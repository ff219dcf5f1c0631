// SPDX-License-Identifier: Apache-2.0
// The neutral operators: names, members and rows. Their geometries are in src/ops.
#include "dialects/rows.hpp"
#include "patchfold/operators.hpp"

namespace patchfold {
namespace {

constexpr std::string_view here = "include/patchfold/operators.hpp";
constexpr std::string_view kernel_doc = "extents of a patch, at least 1";
constexpr std::string_view stride_doc = "step between patches, at least 1";
constexpr std::string_view dilation_doc = "step between taps, at least 0";
constexpr std::string_view padding_doc = "pads of each axis, negative ones crop; or valid, same_upper, same_lower";
constexpr std::string_view layout_doc = "where the channel axis lies";
constexpr std::string_view order_doc = "slow index of the C*K axis";
constexpr std::string_view positions_doc = "all positions on one axis, or one axis for each spatial axis";
constexpr std::string_view size_doc = "spatial extents of the image, at least 0";
constexpr std::string_view block_doc = "extents of a block, at least 1";
constexpr std::string_view mode_doc = "blocks_first: channel = offset * C + c; depth_first: c * K + offset";
constexpr std::string_view blocked_doc = "channels_first: the last axes are cut; channels_last: those after the batch";

using ops::Names;
using ops::neutral;

constexpr Names unfold_names{.op = Unfold::name, .data = "image", .output = "columns"};
constexpr Names fold_names{.op = Fold::name, .data = "columns", .output = "image"};
constexpr Names coverage_names{.op = Coverage::name, .data = "ones", .output = "counts"};
constexpr Names reorder_names{.op = Reorder::name, .data = "columns", .output = "reordered"};
constexpr Names copy_names{.op = Copy::name, .data = "tensor", .output = "copied"};
constexpr Names space_to_batch_names{
    .op = SpaceToBatch::name, .data = "image", .output = "batches", .kernel_size = "block", .stride = "block"};
constexpr Names batch_to_space_names{.op = BatchToSpace::name,
                                     .data = "batches",
                                     .output = "image",
                                     .output_size = "batches",
                                     .kernel_size = "block",
                                     .stride = "block",
                                     .padding = "crops"};
constexpr Names block_names(std::string_view op, std::string_view data, std::string_view output) {
  return {.op = op, .data = data, .output = output, .output_size = "block", .kernel_size = "block", .stride = "block"};
}
constexpr Names space_to_depth_names = block_names(SpaceToDepth::name, "image", "deep");
constexpr Names depth_to_space_names = block_names(DepthToSpace::name, "deep", "image");

}  // namespace

PATCHFOLD_OPERATOR(Unfold, unfold_names)
PATCHFOLD_OPERATOR(Fold, fold_names)
PATCHFOLD_OPERATOR(Coverage, coverage_names)
PATCHFOLD_OPERATOR(Reorder, reorder_names)
PATCHFOLD_OPERATOR(Copy, copy_names)
PATCHFOLD_OPERATOR(SpaceToBatch, space_to_batch_names)
PATCHFOLD_OPERATOR(BatchToSpace, batch_to_space_names)
PATCHFOLD_OPERATOR(SpaceToDepth, space_to_depth_names)
PATCHFOLD_OPERATOR(DepthToSpace, depth_to_space_names)

[[gnu::cold]] static std::vector<OperatorSpec> rows() {
  using namespace dialects;
  constexpr Need optional = Need::optional;
  constexpr Need required = Need::required;
  return {
      row<Unfold>(
          neutral,
          {unfold_names, "Copies every patch of an image into columns (im2col).", here,
           "f32 2x3x5x6 kernel_size=2,3 stride=2,1 dilation=1,2 padding=1:0,2:1 value=7"},
          {attribute<&Unfold::kernel_size>("kernel_size", required, kernel_doc),
           attribute<&Unfold::stride>("stride", optional, stride_doc),
           attribute<&Unfold::dilation>("dilation", optional, dilation_doc),
           attribute<&Unfold::padding>("padding", optional, padding_doc),
           attribute<&Unfold::padding_mode>("padding_mode", optional, "what lies outside the image, as in numpy.pad"),
           attribute<&Unfold::value>("value", optional, "fill of padding_mode constant"),
           attribute<&Unfold::layout>("layout", optional, layout_doc),
           attribute<&Unfold::order>("order", optional, order_doc),
           renamed<&Unfold::positions>("positions", "columns", optional, positions_doc),
           attribute<&Unfold::allow_empty>("allow_empty", optional, "an image smaller than a patch gives no columns")}),
      row<Fold>(
          neutral,
          {fold_names, "Sums or averages columns into the image that they were cut from (col2im).", here,
           "f32 2x18x9 output_size=6,5 kernel_size=2,3 stride=2,1 dilation=1,2 padding=1:0,0:2"},
          {attribute<&Fold::output_size>("output_size", required, size_doc),
           attribute<&Fold::kernel_size>("kernel_size", required, kernel_doc),
           attribute<&Fold::stride>("stride", optional, stride_doc),
           attribute<&Fold::dilation>("dilation", optional, dilation_doc),
           attribute<&Fold::padding>("padding", optional, padding_doc),
           attribute<&Fold::layout>("layout", optional, layout_doc), attribute<&Fold::order>("order", optional, order_doc),
           renamed<&Fold::positions>("positions", "columns", optional, positions_doc),
           attribute<&Fold::accumulate>("accumulate", optional, "add the result to what the output holds"),
           attribute<&Fold::reduce>("reduce", optional, "sum, or mean of the elements that meet, rounded once"),
           attribute<&Fold::fill>("fill", optional, "with mean: elements that no patch touches")}),
      row<Coverage>(neutral,
                    {coverage_names, "Counts how many patches touch each pixel.", here,
                     "f32 - output_size=6,5 kernel_size=2,3 stride=2,1 dilation=1,2 padding=1:0,0:2"},
                    {attribute<&Coverage::output_size>("output_size", required, size_doc),
                     attribute<&Coverage::kernel_size>("kernel_size", required, kernel_doc),
                     attribute<&Coverage::stride>("stride", optional, stride_doc),
                     attribute<&Coverage::dilation>("dilation", optional, dilation_doc),
                     attribute<&Coverage::padding>("padding", optional, padding_doc)}),
      row<Reorder>(neutral,
                   {reorder_names, "Changes the order of the C*K axis of columns: channel-major, kernel-major.", here,
                    "f32 2x18x5 kernel_size=2,3"},
                   {attribute<&Reorder::kernel_size>("kernel_size", required, kernel_doc),
                    attribute<&Reorder::source>("source", optional, "slow index of the C*K axis that comes in"),
                    attribute<&Reorder::target>("target", optional, "slow index of the C*K axis that goes out"),
                    attribute<&Reorder::layout>("layout", optional, layout_doc),
                    renamed<&Reorder::positions>("positions", "columns", optional, positions_doc)}),
      row<Copy>(neutral, {copy_names, "Copies a tensor of any rank from one memory layout to another.", here, "f32 2x3x5"},
                {}),
      row<SpaceToBatch>(neutral,
                        {space_to_batch_names, "Moves blocks of the spatial axes to the batch.", here,
                         "f32 2x3x5x7 block=2,3 padding=1:0,0:2"},
                        {attribute<&SpaceToBatch::block>("block", required, block_doc),
                         attribute<&SpaceToBatch::padding>("padding", optional, padding_doc),
                         attribute<&SpaceToBatch::layout>("layout", optional, blocked_doc)}),
      row<BatchToSpace>(neutral,
                        {batch_to_space_names, "Moves blocks of the batch back to the spatial axes.", here,
                         "f32 12x3x3x2 block=2,3 crops=1:0,0:2"},
                        {attribute<&BatchToSpace::block>("block", required, block_doc),
                         attribute<&BatchToSpace::crops>("crops", optional, "crops of each axis, at least 0"),
                         attribute<&BatchToSpace::layout>("layout", optional, blocked_doc)}),
      row<SpaceToDepth>(neutral,
                        {space_to_depth_names, "Moves blocks of the spatial axes to the channels (pixel-unshuffle).", here,
                         "f32 2x3x4x6 block=2,3"},
                        {attribute<&SpaceToDepth::block>("block", required, block_doc),
                         attribute<&SpaceToDepth::mode>("mode", optional, mode_doc),
                         attribute<&SpaceToDepth::layout>("layout", optional, layout_doc)}),
      row<DepthToSpace>(neutral,
                        {depth_to_space_names, "Moves channels back to blocks of the spatial axes (pixel-shuffle).", here,
                         "f32 2x18x2x3 block=2,3 mode=depth_first"},
                        {attribute<&DepthToSpace::block>("block", required, block_doc),
                         attribute<&DepthToSpace::mode>("mode", optional, mode_doc),
                         attribute<&DepthToSpace::layout>("layout", optional, layout_doc)}),
  };
}

dialects::Dialect dialect() {
  return {{"neutral", "patchfold's own operators, without the restrictions of a system.", "include/patchfold/operators.hpp"},
          rows()};
}

}  // namespace patchfold
