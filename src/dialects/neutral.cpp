// SPDX-License-Identifier: Apache-2.0
// The neutral operators' rows of the operator table.
#include "dialects/rows.hpp"
#include "patchfold/operators.hpp"

namespace patchfold::dialects {
namespace {

constexpr std::string_view here = "include/patchfold/operators.hpp";
constexpr std::string_view kernel_doc = "extents of a patch, at least 1";
constexpr std::string_view stride_doc = "step between patches, at least 1";
constexpr std::string_view dilation_doc = "step between taps, at least 0";
constexpr std::string_view padding_doc = "pads of each axis, negative ones crop; or valid, same_upper, same_lower";
constexpr std::string_view layout_doc = "where the channel axis lies";
constexpr std::string_view order_doc = "slow index of the C*K axis";
constexpr std::string_view columns_doc = "all positions on one axis, or one axis for each spatial axis";
constexpr std::string_view size_doc = "spatial extents of the image, at least 0";
constexpr std::string_view block_doc = "extents of a block, at least 1";
constexpr std::string_view mode_doc = "blocks_first: channel = offset * C + c; depth_first: c * K + offset";
constexpr std::string_view blocked_doc = "channels_first: the last axes are cut; channels_last: those after the batch";

}  // namespace

std::vector<OperatorSpec> neutral_rows() {
  constexpr Need optional = Need::optional;
  constexpr Need required = Need::required;
  return {
      row<Unfold>(
          {Unfold::name, "Copies every patch of an image into columns (im2col).", here, "image"},
          {attribute<&Unfold::kernel_size>("kernel_size", required, kernel_doc),
           attribute<&Unfold::stride>("stride", optional, stride_doc),
           attribute<&Unfold::dilation>("dilation", optional, dilation_doc),
           attribute<&Unfold::padding>("padding", optional, padding_doc),
           attribute<&Unfold::padding_mode>("padding_mode", optional, "what lies outside the image, as in numpy.pad"),
           attribute<&Unfold::value>("value", optional, "fill of padding_mode constant"),
           attribute<&Unfold::layout>("layout", optional, layout_doc),
           attribute<&Unfold::order>("order", optional, order_doc),
           attribute<&Unfold::columns>("columns", optional, columns_doc)}),
      row<Fold>(
          {Fold::name, "Sums columns into the image that they were cut from (col2im).", here, "columns",
           IndexTypes::int32_or_int64, /*sums=*/true},
          {attribute<&Fold::output_size>("output_size", required, size_doc),
           attribute<&Fold::kernel_size>("kernel_size", required, kernel_doc),
           attribute<&Fold::stride>("stride", optional, stride_doc),
           attribute<&Fold::dilation>("dilation", optional, dilation_doc),
           attribute<&Fold::padding>("padding", optional, padding_doc),
           attribute<&Fold::layout>("layout", optional, layout_doc), attribute<&Fold::order>("order", optional, order_doc),
           attribute<&Fold::columns>("columns", optional, columns_doc),
           attribute<&Fold::accumulate>("accumulate", optional, "add the result to what the output holds")}),
      row<Coverage>(
          {Coverage::name, "Counts how many patches touch each pixel.", here, "", IndexTypes::int32_or_int64, /*sums=*/true},
          {attribute<&Coverage::output_size>("output_size", required, size_doc),
           attribute<&Coverage::kernel_size>("kernel_size", required, kernel_doc),
           attribute<&Coverage::stride>("stride", optional, stride_doc),
           attribute<&Coverage::dilation>("dilation", optional, dilation_doc),
           attribute<&Coverage::padding>("padding", optional, padding_doc)}),
      row<Reorder>(
          {Reorder::name, "Changes the order of the C*K axis of columns: channel-major, kernel-major.", here, "columns"},
          {attribute<&Reorder::kernel_size>("kernel_size", required, kernel_doc),
           attribute<&Reorder::source>("source", optional, "slow index of the C*K axis that comes in"),
           attribute<&Reorder::target>("target", optional, "slow index of the C*K axis that goes out"),
           attribute<&Reorder::layout>("layout", optional, layout_doc),
           attribute<&Reorder::columns>("columns", optional, columns_doc)}),
      row<SpaceToBatch>({SpaceToBatch::name, "Moves blocks of the spatial axes to the batch.", here, "image"},
                        {attribute<&SpaceToBatch::block>("block", required, block_doc),
                         attribute<&SpaceToBatch::padding>("padding", optional, padding_doc),
                         attribute<&SpaceToBatch::layout>("layout", optional, blocked_doc)}),
      row<BatchToSpace>({BatchToSpace::name, "Moves blocks of the batch back to the spatial axes.", here, "batches"},
                        {attribute<&BatchToSpace::block>("block", required, block_doc),
                         attribute<&BatchToSpace::crops>("crops", optional, "crops of each axis, at least 0"),
                         attribute<&BatchToSpace::layout>("layout", optional, blocked_doc)}),
      row<SpaceToDepth>(
          {SpaceToDepth::name, "Moves blocks of the spatial axes to the channels (pixel-unshuffle).", here, "image"},
          {attribute<&SpaceToDepth::block>("block", required, block_doc),
           attribute<&SpaceToDepth::mode>("mode", optional, mode_doc),
           attribute<&SpaceToDepth::layout>("layout", optional, layout_doc)}),
      row<DepthToSpace>(
          {DepthToSpace::name, "Moves channels back to blocks of the spatial axes (pixel-shuffle).", here, "deep"},
          {attribute<&DepthToSpace::block>("block", required, block_doc),
           attribute<&DepthToSpace::mode>("mode", optional, mode_doc),
           attribute<&DepthToSpace::layout>("layout", optional, layout_doc)}),
  };
}

}  // namespace patchfold::dialects
