// SPDX-License-Identifier: Apache-2.0
#include "plugins/openvino/kinds.hpp"

#include <openvino/op/op.hpp>

namespace patchfold::plugins::openvino {
namespace {

ov::DiscreteTypeInfo type_of(const char* name) {
  ov::DiscreteTypeInfo type(name, "extension", &ov::op::Op::get_type_info_static());
  type.hash();  // computes the hash now; later, two threads could compute it at once
  return type;
}

constexpr auto begins_ends = Argument::Pairs::begins_ends;
constexpr auto in_turn = Argument::Pairs::in_turn;

int same(int data, int) {
  return data;
}

}  // namespace

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {type_of("PatchfoldCol2Im"),
       {"Col2Im",
        "fold",
        {{"output_size"}, {"kernel_size"}},
        {{"strides", "stride"}, {"dilations", "dilation"}, {"pads", "padding", begins_ends}}},
       {integers_setting("strides"), integers_setting("dilations"), integers_setting("pads_begin"),
        integers_setting("pads_end")},
       [](int data, int spatial) { return data - 1 + spatial; },
       3},
      {type_of("PatchfoldIm2Col"),
       {"Im2Col",
        "unfold",
        {},
        {{"kernel_size"}, {"strides", "stride"}, {"dilations", "dilation"}, {"pads", "padding", begins_ends}}},
       {integers_setting("kernel_size"), integers_setting("strides"), integers_setting("dilations"),
        integers_setting("pads_begin"), integers_setting("pads_end")},
       [](int data, int spatial) { return data - spatial + 1; },
       4},
      {type_of("PatchfoldExtractImagePatches"),
       {"ExtractImagePatches", "openvino.ExtractImagePatches", {}, {{"sizes"}, {"strides"}, {"rates"}, {"auto_pad"}}},
       {integers_setting("sizes"), integers_setting("strides"), integers_setting("rates"), text_setting("auto_pad", "")},
       same,
       4},
      {type_of("PatchfoldSpaceToBatch"),
       {"SpaceToBatch", "openvino.SpaceToBatch", {{"block_shape"}, {"pads_begin"}, {"pads_end"}}, {}},
       {},
       same},
      {type_of("PatchfoldBatchToSpace"),
       {"BatchToSpace", "openvino.BatchToSpace", {{"block_shape"}, {"crops_begin"}, {"crops_end"}}, {}},
       {},
       same},
      {type_of("PatchfoldSpaceToDepth"),
       {"SpaceToDepth", "openvino.SpaceToDepth", {}, {{"mode", "blocks_mode"}, {"block_size"}}},
       {text_setting("mode", "blocks_first"), integer_setting("block_size", 1)},
       same,
       3},
      {type_of("PatchfoldDepthToSpace"),
       {"DepthToSpace", "openvino.DepthToSpace", {}, {{"mode", "blocks_mode"}, {"block_size"}}},
       {text_setting("mode", "blocks_first"), integer_setting("block_size", 1)},
       same,
       3},
      {type_of("PatchfoldPixelShuffle"),
       {"PixelShuffle", "torch.pixel_shuffle", {}, {{"upscale_factor"}}},
       {integer_setting("upscale_factor", 1)},
       same,
       4},
      {type_of("PatchfoldPixelUnshuffle"),
       {"PixelUnshuffle", "torch.pixel_unshuffle", {}, {{"downscale_factor"}}},
       {integer_setting("downscale_factor", 1)},
       same,
       4},
      {type_of("PatchfoldExtractImagePatchesNHWC"),
       {"ExtractImagePatches", "tensorflow.ExtractImagePatches", {}, {{"ksizes"}, {"strides"}, {"rates"}, {"padding"}}},
       {integers_setting("ksizes"), integers_setting("strides"), integers_setting("rates"), text_setting("padding", "")},
       same,
       4},
      {type_of("PatchfoldSpaceToBatchND"),
       {"SpaceToBatchND", "tensorflow.SpaceToBatchND", {{"block_shape"}, {"paddings", nullptr, in_turn}}, {}},
       {},
       same},
      {type_of("PatchfoldBatchToSpaceND"),
       {"BatchToSpaceND", "tensorflow.BatchToSpaceND", {{"block_shape"}, {"crops", nullptr, in_turn}}, {}},
       {},
       same},
      {type_of("PatchfoldSpaceToDepthNHWC"),
       {"SpaceToDepth", "tensorflow.SpaceToDepth", {}, {{"block_size"}, {"data_format"}}},
       {integer_setting("block_size", 1), text_setting("data_format", "NHWC")},
       same,
       4},
      {type_of("PatchfoldDepthToSpaceNHWC"),
       {"DepthToSpace", "tensorflow.DepthToSpace", {}, {{"block_size"}, {"data_format"}}},
       {integer_setting("block_size", 1), text_setting("data_format", "NHWC")},
       same,
       4},
  };
  return all;
}

}  // namespace patchfold::plugins::openvino
