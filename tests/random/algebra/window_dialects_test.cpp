// SPDX-License-Identifier: Apache-2.0
// Every extract and fold of a dialect is one setting of the neutral operator.
#include "support.hpp"

namespace patchfold::testing {
namespace {

Fold neutral_fold(const Geometry& g) {
  return {.output_size = g.image, .kernel_size = g.kernel, .stride = g.stride, .dilation = g.dilation, .padding = g.pads};
}

Dims without_batch(const Dims& shape) {
  return shape.slice(1, shape.size());
}

RC_GTEST_PROP(Dialects, TorchFoldIsFold, ()) {
  const Geometry g = random_geometry({.lowest_extent = 1, .lowest_pad = 0, .lowest_dilation = 1, .symmetric = true});
  RC_PRE(g.all_positions() > 0);
  const torch::Fold fold{
      .output_size = g.image, .kernel_size = g.kernel, .dilation = g.dilation, .padding = g.begins(), .stride = g.stride};
  const auto y = arbitrary<float>(flip() ? g.flat_columns() : without_batch(g.flat_columns()));
  RC_ASSERT(apply(fold, y) == apply(neutral_fold(g), y));
}

RC_GTEST_PROP(Dialects, TorchUnfoldIsUnfold, ()) {
  const Geometry g = random_geometry({.lowest_extent = 1, .lowest_pad = 0, .lowest_dilation = 1, .symmetric = true});
  RC_PRE(g.all_positions() > 0);
  const torch::Unfold unfold{.kernel_size = g.kernel, .dilation = g.dilation, .padding = g.begins(), .stride = g.stride};
  const Unfold neutral{.kernel_size = g.kernel, .stride = g.stride, .dilation = g.dilation, .padding = g.pads};
  const auto x = arbitrary<float>(flip() ? g.channels_first() : without_batch(g.channels_first()));
  RC_ASSERT(apply(unfold, x) == apply(neutral, x));
}

RC_GTEST_PROP(Dialects, OnnxCol2ImIsFold, ()) {
  const Geometry g = random_geometry({.lowest_extent = 1, .lowest_pad = 0, .lowest_dilation = 1});
  Dims pads = g.begins();
  pads.append(g.ends());
  const onnx::Col2Im col2im{
      .image_shape = g.image, .block_shape = g.kernel, .dilations = g.dilation, .pads = pads, .strides = g.stride};
  const auto y = arbitrary<float>(g.flat_columns());
  RC_ASSERT(apply(col2im, y) == apply(neutral_fold(g), y));
}

RC_GTEST_PROP(Dialects, OpenVinoCol2ImIsFold, ()) {
  const Geometry g = random_geometry({.lowest_rank = 2, .highest_rank = 2, .lowest_extent = 1, .lowest_pad = 0});
  const openvino::Col2Im col2im{.output_size = g.image,
                                .kernel_size = g.kernel,
                                .strides = g.stride,
                                .dilations = g.dilation,
                                .pads_begin = g.begins(),
                                .pads_end = g.ends()};
  const auto y = arbitrary<float>(flip() ? g.flat_columns() : without_batch(g.flat_columns()));
  RC_ASSERT(apply(col2im, y) == apply(neutral_fold(g), y));
}

RC_GTEST_PROP(Dialects, OpenVinoExtractImagePatchesIsUnfold, ()) {
  const Geometry g = random_geometry({.lowest_rank = 2, .highest_rank = 2, .lowest_extent = 1, .lowest_dilation = 1});
  const auto rule =
      *rc::gen::element(openvino::AutoPad::valid, openvino::AutoPad::same_lower, openvino::AutoPad::same_upper);
  const openvino::ExtractImagePatches extract{.sizes = g.kernel, .strides = g.stride, .rates = g.dilation, .auto_pad = rule};
  const Padding padding = rule == openvino::AutoPad::valid        ? Padding::valid
                          : rule == openvino::AutoPad::same_lower ? Padding::same_lower
                                                                  : Padding::same_upper;
  const Unfold neutral{.kernel_size = g.kernel,
                       .stride = g.stride,
                       .dilation = g.dilation,
                       .padding = padding,
                       .order = Order::kernel,
                       .positions = Positions::grid};
  const auto x = arbitrary<std::int32_t>(g.channels_first());
  RC_ASSERT(apply(extract, x) == apply(neutral, x));
}

/// [1, list.., 1].
Dims framed(const Dims& list) {
  Dims result = {1};
  result.append(list);
  result.push_back(1);
  return result;
}

/// Whether TensorFlow accepts the geometry for VALID.
bool valid_is_legal(const Geometry& g) {
  for (int d = 0; d < g.rank; ++d)
    if (g.image[d] - (g.kernel[d] - 1) * g.dilation[d] - 1 + g.stride[d] <= -g.stride[d]) return false;
  return true;
}

RC_GTEST_PROP(Dialects, TensorFlowExtractImagePatchesIsUnfold, ()) {
  const Geometry g = random_geometry({.lowest_rank = 2, .highest_rank = 2, .lowest_extent = 1, .lowest_dilation = 1});
  const bool same = flip();
  RC_PRE(same || valid_is_legal(g));
  const tensorflow::ExtractImagePatches extract{
      .ksizes = framed(g.kernel),
      .strides = framed(g.stride),
      .rates = framed(g.dilation),
      .padding = same ? tensorflow::PaddingType::SAME : tensorflow::PaddingType::VALID};
  const Unfold neutral{.kernel_size = g.kernel,
                       .stride = g.stride,
                       .dilation = g.dilation,
                       .padding = same ? Padding::same_upper : Padding::valid,
                       .layout = Layout::channels_last,
                       .order = Order::kernel,
                       .positions = Positions::grid};
  const auto x = arbitrary<std::int32_t>(g.channels_last());
  RC_ASSERT(apply(extract, x) == apply(neutral, x));
}

RC_GTEST_PROP(Dialects, TensorFlowExtractVolumePatchesIsUnfold, ()) {
  Geometry g = random_geometry({.lowest_rank = 3, .highest_rank = 3, .lowest_extent = 1});
  g.dilation = {1, 1, 1};
  const bool same = flip();
  RC_PRE(same || valid_is_legal(g));
  PadsList pads;
  for (int d = 0; d < 3; ++d) {
    // Not clamped: a stride larger than the kernel starts inside of the volume.
    const std::int64_t total = ((g.image[d] + g.stride[d] - 1) / g.stride[d] - 1) * g.stride[d] + g.kernel[d] - g.image[d];
    pads.push_back(same ? Pads{total / 2, total - total / 2} : Pads{});
  }
  const tensorflow::ExtractVolumePatches extract{
      .ksizes = framed(g.kernel),
      .strides = framed(g.stride),
      .padding = same ? tensorflow::PaddingType::SAME : tensorflow::PaddingType::VALID};
  const Unfold neutral{.kernel_size = g.kernel,
                       .stride = g.stride,
                       .padding = pads,
                       .layout = Layout::channels_last,
                       .order = Order::kernel,
                       .positions = Positions::grid};
  const auto x = arbitrary<std::int32_t>(g.channels_last());
  RC_ASSERT(apply(extract, x) == apply(neutral, x));
}

}  // namespace
}  // namespace patchfold::testing
