// SPDX-License-Identifier: Apache-2.0
// OpenVINO: Col2Im-15, ExtractImagePatches-3, SpaceToBatch-2, BatchToSpace-2, SpaceToDepth-1, DepthToSpace-1.
#include "patchfold/openvino.hpp"

#include "dialects/checks.hpp"
#include "dialects/rows.hpp"
#include "ops/batches.hpp"
#include "ops/patches.hpp"
#include "tensor/fail.hpp"

namespace patchfold::openvino {
namespace {

using dialects::check_each;
using dialects::check_length;
using dialects::check_number;
using dialects::check_rank;
using dialects::pairs_of;

constexpr ops::Names col2im_names{.op = Col2Im::name,
                                  .image = "output",
                                  .columns = "data",
                                  .stride = "strides",
                                  .dilation = "dilations",
                                  .padding = "pads_begin, pads_end"};

patchfold::Fold fold_of(const Col2Im& op, const Dims& data) {
  if (data.size() != 2 && data.size() != 3)
    fail_rank(Col2Im::name, "data", "must be (N, C * product of kernel_size, L) or without N", data, "rank 3 or 2");
  check_length(Col2Im::name, "output_size", op.output_size, 2);
  check_length(Col2Im::name, "kernel_size", op.kernel_size, 2);
  check_length(Col2Im::name, "strides", op.strides, 2);
  check_length(Col2Im::name, "dilations", op.dilations, 2);
  check_length(Col2Im::name, "pads_begin", op.pads_begin, 2);
  check_length(Col2Im::name, "pads_end", op.pads_end, 2);
  check_each(Col2Im::name, "output_size", op.output_size, 1);
  check_each(Col2Im::name, "kernel_size", op.kernel_size, 1);
  check_each(Col2Im::name, "strides", op.strides, 1);
  check_each(Col2Im::name, "dilations", op.dilations, 0);
  check_each(Col2Im::name, "pads_begin", op.pads_begin, 0);
  check_each(Col2Im::name, "pads_end", op.pads_end, 0);
  return {.output_size = op.output_size,
          .kernel_size = op.kernel_size,
          .stride = op.strides,
          .dilation = op.dilations,
          .padding = pairs_of(op.pads_begin, op.pads_end)};
}

constexpr ops::Names patches_names{.op = ExtractImagePatches::name,
                                   .image = "data",
                                   .columns = "output",
                                   .kernel_size = "sizes",
                                   .stride = "strides",
                                   .dilation = "rates",
                                   .padding = "auto_pad"};

patchfold::Unfold unfold_of(const ExtractImagePatches& op, const Dims& data) {
  constexpr std::string_view name = ExtractImagePatches::name;
  if (data.size() != 4) fail_rank(name, "data", "must be 4D: [batch, depth, in_rows, in_cols]", data, "rank 4");
  check_length(name, "sizes", op.sizes, 2);
  check_length(name, "strides", op.strides, 2);
  check_length(name, "rates", op.rates, 2);
  check_each(name, "sizes", op.sizes, 1);
  check_each(name, "strides", op.strides, 1);
  check_each(name, "rates", op.rates, 1);
  ops::check_given(name, "auto_pad", op.auto_pad.has_value());
  const auto rule = *op.auto_pad == AutoPad::valid        ? Padding::valid
                    : *op.auto_pad == AutoPad::same_lower ? Padding::same_lower
                                                          : Padding::same_upper;
  return {.kernel_size = op.sizes,
          .stride = op.strides,
          .dilation = op.rates,
          .padding = rule,
          .order = Order::kernel,
          .columns = Columns::grid};
}

/// Lists with one entry for each axis of data, whose first belongs to the batch.
void check_batch_lists(std::string_view name, const Dims& data, const Dims& block_shape, std::string_view begin_name,
                       const Dims& begins, std::string_view end_name, const Dims& ends) {
  if (data.size() < 2) fail_rank(name, "data", "must be [batch, D_1, ..]", data, "rank 2 or more");
  check_length(name, "block_shape", block_shape, data.size());
  check_length(name, begin_name, begins, data.size());
  check_length(name, end_name, ends, data.size());
  check_each(name, "block_shape", block_shape, 1);
  check_each(name, begin_name, begins, 0);
  check_each(name, end_name, ends, 0);
  const auto check_batch = [&](std::string_view argument, const Dims& list, std::int64_t expected) {
    if (list[0] != expected)
      fail(ErrorCode::value, name, argument, "the entry of the batch axis must leave the batch alone", list[0], expected);
  };
  check_batch("block_shape", block_shape, 1);
  check_batch(begin_name, begins, 0);
  check_batch(end_name, ends, 0);
}

Dims without_batch(const Dims& list) {
  return list.slice(1, list.size());
}

constexpr ops::Names space_to_batch_names{.op = SpaceToBatch::name,
                                          .image = "data",
                                          .columns = "output",
                                          .kernel_size = "block_shape",
                                          .stride = "block_shape",
                                          .padding = "pads_begin, pads_end"};

patchfold::SpaceToBatch neutral(const SpaceToBatch& op, const Dims& data) {
  check_batch_lists(SpaceToBatch::name, data, op.block_shape, "pads_begin", op.pads_begin, "pads_end", op.pads_end);
  return {.block = without_batch(op.block_shape),
          .padding = pairs_of(without_batch(op.pads_begin), without_batch(op.pads_end))};
}

constexpr ops::Names batch_to_space_names{.op = BatchToSpace::name,
                                          .image = "output",
                                          .columns = "data",
                                          .output_size = "data",
                                          .kernel_size = "block_shape",
                                          .stride = "block_shape",
                                          .padding = "crops_begin, crops_end"};

patchfold::BatchToSpace neutral(const BatchToSpace& op, const Dims& data) {
  check_batch_lists(BatchToSpace::name, data, op.block_shape, "crops_begin", op.crops_begin, "crops_end", op.crops_end);
  return {.block = without_batch(op.block_shape),
          .crops = pairs_of(without_batch(op.crops_begin), without_batch(op.crops_end))};
}

constexpr ops::Names space_to_depth_names = ops::depth_names(SpaceToDepth::name, "data", "output", "block_size");
constexpr ops::Names depth_to_space_names = ops::depth_names(DepthToSpace::name, "output", "data", "block_size");

template <class Neutral, class Op>
Neutral neutral_depth(const Op& op, const Dims& data) {
  if (data.size() < 3) fail_rank(Op::name, "data", "must be [N, C, D1, ..]", data, "rank 3 or more");
  check_number(Op::name, "block_size", op.block_size, 1);
  ops::check_given(Op::name, "blocks_mode", op.blocks_mode.has_value());
  return {.block = op.block_size,
          .mode = *op.blocks_mode == BlocksMode::blocks_first ? DepthMode::blocks_first : DepthMode::depth_first};
}

}  // namespace

Dims Col2Im::output_shape(const Dims& data) const {
  return ops::fold_shape(fold_of(*this, data), data, col2im_names);
}
Plan Col2Im::plan(const ConstTensorView& data, const TensorView& output) const {
  return ops::fold_plan(fold_of(*this, data.shape), data, output, col2im_names);
}

Dims ExtractImagePatches::output_shape(const Dims& data) const {
  return ops::unfold_shape(unfold_of(*this, data), data, patches_names);
}
Plan ExtractImagePatches::plan(const ConstTensorView& data, const TensorView& output) const {
  return ops::unfold_plan(unfold_of(*this, data.shape), data, output, patches_names);
}

Dims SpaceToBatch::output_shape(const Dims& data) const {
  return ops::space_to_batch_shape(neutral(*this, data), data, space_to_batch_names);
}
Plan SpaceToBatch::plan(const ConstTensorView& data, const TensorView& output) const {
  return ops::space_to_batch_plan(neutral(*this, data.shape), data, output, space_to_batch_names);
}

Dims BatchToSpace::output_shape(const Dims& data) const {
  return ops::batch_to_space_shape(neutral(*this, data), data, batch_to_space_names);
}
Plan BatchToSpace::plan(const ConstTensorView& data, const TensorView& output) const {
  return ops::batch_to_space_plan(neutral(*this, data.shape), data, output, batch_to_space_names);
}

Dims SpaceToDepth::output_shape(const Dims& data) const {
  return ops::space_to_depth_shape(neutral_depth<patchfold::SpaceToDepth>(*this, data), data, space_to_depth_names);
}
Plan SpaceToDepth::plan(const ConstTensorView& data, const TensorView& output) const {
  return ops::space_to_depth_plan(neutral_depth<patchfold::SpaceToDepth>(*this, data.shape), data, output,
                                  space_to_depth_names);
}

Dims DepthToSpace::output_shape(const Dims& data) const {
  return ops::depth_to_space_shape(neutral_depth<patchfold::DepthToSpace>(*this, data), data, depth_to_space_names);
}
Plan DepthToSpace::plan(const ConstTensorView& data, const TensorView& output) const {
  return ops::depth_to_space_plan(neutral_depth<patchfold::DepthToSpace>(*this, data.shape), data, output,
                                  depth_to_space_names);
}

std::vector<OperatorSpec> rows() {
  using dialects::attribute;
  using dialects::Need;
  using dialects::row;
  using dialects::shape_input;
  return {
      row<Col2Im>({Col2Im::name, "Sums columns (N, C*K, L) into images (N, C, H, W).", "OpenVINO Col2Im-15", "data",
                   IndexTypes::same_int32_or_int64, /*sums=*/true},
                  {shape_input<&Col2Im::output_size>("output_size", "height and width of the image, at least 1"),
                   shape_input<&Col2Im::kernel_size>("kernel_size", "height and width of a patch, at least 1"),
                   attribute<&Col2Im::strides>("strides", Need::optional, "step between patches, at least 1"),
                   attribute<&Col2Im::dilations>("dilations", Need::optional, "step between taps, at least 0"),
                   attribute<&Col2Im::pads_begin>("pads_begin", Need::optional, "pads before each axis, at least 0"),
                   attribute<&Col2Im::pads_end>("pads_end", Need::optional, "pads after each axis, at least 0")}),
      row<ExtractImagePatches>(
          {ExtractImagePatches::name, "Copies patches of (N, C, H, W) to the channels, tap-major: (N, kh*kw*C, oh, ow).",
           "OpenVINO ExtractImagePatches-3", "data"},
          {attribute<&ExtractImagePatches::sizes>("sizes", Need::required, "rows and columns of a patch, at least 1"),
           attribute<&ExtractImagePatches::strides>("strides", Need::required, "step between patches, at least 1"),
           attribute<&ExtractImagePatches::rates>("rates", Need::required, "step between taps, at least 1"),
           attribute<&ExtractImagePatches::auto_pad>("auto_pad", Need::required, "how the image is padded with zeros")}),
      row<SpaceToBatch>(
          {SpaceToBatch::name, "Moves blocks of the spatial axes to the batch.", "OpenVINO SpaceToBatch-2", "data",
           IndexTypes::integral},
          {shape_input<&SpaceToBatch::block_shape>("block_shape", "one entry for each axis, at least 1; 1 for the batch"),
           shape_input<&SpaceToBatch::pads_begin>("pads_begin", "one entry for each axis, at least 0; 0 for the batch"),
           shape_input<&SpaceToBatch::pads_end>("pads_end", "one entry for each axis, at least 0; 0 for the batch")}),
      row<BatchToSpace>(
          {BatchToSpace::name, "Moves blocks of the batch back to the spatial axes.", "OpenVINO BatchToSpace-2", "data",
           IndexTypes::same_integral},
          {shape_input<&BatchToSpace::block_shape>("block_shape", "one entry for each axis, at least 1; 1 for the batch"),
           shape_input<&BatchToSpace::crops_begin>("crops_begin", "one entry for each axis, at least 0; 0 for the batch"),
           shape_input<&BatchToSpace::crops_end>("crops_end", "one entry for each axis, at least 0; 0 for the batch")}),
      row<SpaceToDepth>(
          {SpaceToDepth::name, "Moves blocks of the spatial axes to the channels.", "OpenVINO SpaceToDepth-1", "data"},
          {attribute<&SpaceToDepth::blocks_mode>("blocks_mode", Need::required, "order of the new channels"),
           attribute<&SpaceToDepth::block_size>("block_size", Need::optional, "block on every spatial axis, at least 1")}),
      row<DepthToSpace>(
          {DepthToSpace::name, "Moves channels back to blocks of the spatial axes.", "OpenVINO DepthToSpace-1", "data"},
          {attribute<&DepthToSpace::blocks_mode>("blocks_mode", Need::required, "order of the channels"),
           attribute<&DepthToSpace::block_size>("block_size", Need::optional, "block on every spatial axis, at least 1")}),
  };
}

}  // namespace patchfold::openvino
