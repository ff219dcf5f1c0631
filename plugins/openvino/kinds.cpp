// SPDX-License-Identifier: Apache-2.0
#include "plugins/openvino/kinds.hpp"

#include <openvino/op/op.hpp>

namespace patchfold::plugins::openvino {
namespace {

Setting integers(const char* name) {
  Setting setting;
  setting.name = name;
  return setting;
}

Setting integer(const char* name, std::int64_t value) {
  Setting setting = integers(name);
  setting.kind = Setting::Kind::integer;
  setting.integers = {value};
  return setting;
}

Setting text(const char* name, const char* value) {
  Setting setting = integers(name);
  setting.kind = Setting::Kind::text;
  setting.text = value;
  return setting;
}

ov::DiscreteTypeInfo type_of(const char* name) {
  ov::DiscreteTypeInfo type(name, "extension", &ov::op::Op::get_type_info_static());
  type.hash();  // computed now, so that no two threads compute it at once
  return type;
}

constexpr auto begins_ends = Argument::Pairs::begins_ends;
constexpr auto in_turn = Argument::Pairs::in_turn;

int same(int data, int) {
  return data;
}

}  // namespace

const Kind& col2im() {
  static const Kind kind = {type_of("PatchfoldCol2Im"),
                            {"Col2Im",
                             "fold",
                             {{"output_size"}, {"kernel_size"}},
                             {{"strides", "stride"}, {"dilations", "dilation"}, {"pads", "padding", begins_ends}}},
                            {integers("strides"), integers("dilations"), integers("pads_begin"), integers("pads_end")},
                            [](int data, int spatial) { return data - 1 + spatial; },
                            3};
  return kind;
}

const Kind& im2col() {
  static const Kind kind = {
      type_of("PatchfoldIm2Col"),
      {"Im2Col",
       "unfold",
       {},
       {{"kernel_size"}, {"strides", "stride"}, {"dilations", "dilation"}, {"pads", "padding", begins_ends}}},
      {integers("kernel_size"), integers("strides"), integers("dilations"), integers("pads_begin"), integers("pads_end")},
      [](int data, int spatial) { return data - spatial + 1; },
      4};
  return kind;
}

const Kind& extract_image_patches() {
  static const Kind kind = {
      type_of("PatchfoldExtractImagePatches"),
      {"ExtractImagePatches", "openvino.ExtractImagePatches", {}, {{"sizes"}, {"strides"}, {"rates"}, {"auto_pad"}}},
      {integers("sizes"), integers("strides"), integers("rates"), text("auto_pad", "")},
      same,
      4};
  return kind;
}

const Kind& space_to_batch() {
  static const Kind kind = {type_of("PatchfoldSpaceToBatch"),
                            {"SpaceToBatch", "openvino.SpaceToBatch", {{"block_shape"}, {"pads_begin"}, {"pads_end"}}, {}},
                            {},
                            same};
  return kind;
}

const Kind& batch_to_space() {
  static const Kind kind = {type_of("PatchfoldBatchToSpace"),
                            {"BatchToSpace", "openvino.BatchToSpace", {{"block_shape"}, {"crops_begin"}, {"crops_end"}}, {}},
                            {},
                            same};
  return kind;
}

const Kind& space_to_depth() {
  static const Kind kind = {type_of("PatchfoldSpaceToDepth"),
                            {"SpaceToDepth", "openvino.SpaceToDepth", {}, {{"mode", "blocks_mode"}, {"block_size"}}},
                            {text("mode", "blocks_first"), integer("block_size", 1)},
                            same,
                            3};
  return kind;
}

const Kind& depth_to_space() {
  static const Kind kind = {type_of("PatchfoldDepthToSpace"),
                            {"DepthToSpace", "openvino.DepthToSpace", {}, {{"mode", "blocks_mode"}, {"block_size"}}},
                            {text("mode", "blocks_first"), integer("block_size", 1)},
                            same,
                            3};
  return kind;
}

const Kind& pixel_shuffle() {
  static const Kind kind = {type_of("PatchfoldPixelShuffle"),
                            {"PixelShuffle", "torch.pixel_shuffle", {}, {{"upscale_factor"}}},
                            {integer("upscale_factor", 1)},
                            same,
                            4};
  return kind;
}

const Kind& pixel_unshuffle() {
  static const Kind kind = {type_of("PatchfoldPixelUnshuffle"),
                            {"PixelUnshuffle", "torch.pixel_unshuffle", {}, {{"downscale_factor"}}},
                            {integer("downscale_factor", 1)},
                            same,
                            4};
  return kind;
}

const Kind& tensorflow_extract_image_patches() {
  static const Kind kind = {
      type_of("PatchfoldExtractImagePatchesNHWC"),
      {"ExtractImagePatches", "tensorflow.ExtractImagePatches", {}, {{"ksizes"}, {"strides"}, {"rates"}, {"padding"}}},
      {integers("ksizes"), integers("strides"), integers("rates"), text("padding", "")},
      same,
      4};
  return kind;
}

const Kind& tensorflow_space_to_batch() {
  static const Kind kind = {
      type_of("PatchfoldSpaceToBatchND"),
      {"SpaceToBatchND", "tensorflow.SpaceToBatchND", {{"block_shape"}, {"paddings", nullptr, in_turn}}, {}},
      {},
      same};
  return kind;
}

const Kind& tensorflow_batch_to_space() {
  static const Kind kind = {
      type_of("PatchfoldBatchToSpaceND"),
      {"BatchToSpaceND", "tensorflow.BatchToSpaceND", {{"block_shape"}, {"crops", nullptr, in_turn}}, {}},
      {},
      same};
  return kind;
}

const Kind& tensorflow_space_to_depth() {
  static const Kind kind = {type_of("PatchfoldSpaceToDepthNHWC"),
                            {"SpaceToDepth", "tensorflow.SpaceToDepth", {}, {{"block_size"}, {"data_format"}}},
                            {integer("block_size", 1), text("data_format", "NHWC")},
                            same,
                            4};
  return kind;
}

const Kind& tensorflow_depth_to_space() {
  static const Kind kind = {type_of("PatchfoldDepthToSpaceNHWC"),
                            {"DepthToSpace", "tensorflow.DepthToSpace", {}, {{"block_size"}, {"data_format"}}},
                            {integer("block_size", 1), text("data_format", "NHWC")},
                            same,
                            4};
  return kind;
}

const std::vector<const Kind*>& all_kinds() {
  static const std::vector<const Kind*> all = {&col2im(),
                                               &im2col(),
                                               &extract_image_patches(),
                                               &space_to_batch(),
                                               &batch_to_space(),
                                               &space_to_depth(),
                                               &depth_to_space(),
                                               &pixel_shuffle(),
                                               &pixel_unshuffle(),
                                               &tensorflow_extract_image_patches(),
                                               &tensorflow_space_to_batch(),
                                               &tensorflow_batch_to_space(),
                                               &tensorflow_space_to_depth(),
                                               &tensorflow_depth_to_space()};
  return all;
}

}  // namespace patchfold::plugins::openvino
