// SPDX-License-Identifier: Apache-2.0
// PyTorch: fold, unfold, pixel_shuffle, pixel_unshuffle.
#include "patchfold/torch.hpp"

#include "dialects/checks.hpp"
#include "dialects/rows.hpp"
#include "ops/operands.hpp"
#include "ops/patches.hpp"
#include "tensor/fail.hpp"

namespace patchfold::torch {
namespace {

using dialects::check_each;

constexpr ops::Names fold_names{.op = Fold::name, .image = "output", .columns = "input"};
constexpr ops::Names unfold_names{.op = Unfold::name, .image = "input", .columns = "output"};

/// Two axes unless a list says otherwise, and the ranges that fold and unfold share.
template <class Op>
int check_sliding(const Op& op, ops::SpatialArgument output_size) {
  ops::check_given(Op::name, "kernel_size", !op.kernel_size.empty());
  const int rank = ops::spatial_rank(
      Op::name, {output_size, ops::spatial("kernel_size", op.kernel_size), ops::spatial("dilation", op.dilation),
                 ops::spatial("padding", op.padding), ops::spatial("stride", op.stride)});
  check_each(Op::name, "kernel_size", op.kernel_size.values(), 1);
  check_each(Op::name, "stride", op.stride.values(), 1);
  check_each(Op::name, "dilation", op.dilation.values(), 1);
  check_each(Op::name, "padding", op.padding.values(), 0);
  return rank < 0 ? 2 : rank;
}

PadsList both_ends(const Axes& padding, int rank) {
  PadsList pads;
  for (int i = 0; i < rank; ++i) pads.push_back({ops::at(padding, i), ops::at(padding, i)});
  return pads;
}

Dims spread(const Axes& axes, int rank) {
  return axes.is_scalar() ? Dims::filled(rank, axes.values()[0]) : axes.values();
}

/// Only the batch may be empty.
void check_not_empty(std::string_view name, const Dims& input, int without_batch) {
  for (int axis = input.size() == without_batch ? 0 : 1; axis < input.size(); ++axis)
    if (input[axis] == 0) fail(ErrorCode::value, name, "input", "only the batch axis may be empty", input);
}

void check_blocks(const ops::Names& names, const ops::Geometry& geometry) {
  for (const ops::AxisGeometry& axis : geometry.axes)
    if (axis.positions < 1)
      fail(ErrorCode::value, names.op, names.kernel_size, "the padded image must hold at least one block",
           geometry.positions_per_axis(), "at least 1 block on every axis");
}

patchfold::Fold neutral(const Fold& op, const Dims& input) {
  ops::check_given(Fold::name, "output_size", !op.output_size.empty());
  const int rank = check_sliding(op, ops::spatial("output_size", op.output_size));
  if (input.size() != 2 && input.size() != 3)
    fail_rank(Fold::name, "input", "must be (N, C * product of kernel_size, L) or without N", input, "rank 3 or 2");
  check_not_empty(Fold::name, input, 2);
  check_each(Fold::name, "output_size", op.output_size.values(), 1);
  const patchfold::Fold fold{.output_size = spread(op.output_size, rank),
                             .kernel_size = op.kernel_size,
                             .stride = op.stride,
                             .dilation = op.dilation,
                             .padding = both_ends(op.padding, rank)};
  check_blocks(fold_names,
               ops::make_geometry(fold_names, fold.output_size, fold.kernel_size, fold.stride, fold.dilation, fold.padding));
  return fold;
}

patchfold::Unfold neutral(const Unfold& op, const Dims& input) {
  const int rank = check_sliding(op, {"", -1});
  if (input.size() != rank + 1 && input.size() != rank + 2)
    fail_rank(Unfold::name, "input", "must be (N, C, spatial axes) or without N", input,
              "rank " + std::to_string(rank + 2) + " or " + std::to_string(rank + 1));
  check_not_empty(Unfold::name, input, rank + 1);
  ops::check_shape(Unfold::name, "input", input);
  const patchfold::Unfold unfold{.kernel_size = spread(op.kernel_size, rank),
                                 .stride = op.stride,
                                 .dilation = op.dilation,
                                 .padding = both_ends(op.padding, rank)};
  const Dims extents = input.slice(input.size() - rank, input.size());
  check_blocks(unfold_names, ops::make_geometry(unfold_names, extents, unfold.kernel_size, unfold.stride, unfold.dilation,
                                                unfold.padding));
  return unfold;
}

constexpr ops::Names shuffle_names = ops::depth_names(PixelShuffle::name, "output", "input", "upscale_factor");
constexpr ops::Names unshuffle_names = ops::depth_names(PixelUnshuffle::name, "input", "output", "downscale_factor");

template <class Neutral>
Neutral neutral_depth(const ops::Names& names, const Dims& input, std::int64_t factor) {
  if (input.size() < 3) fail_rank(names.op, "input", "must be (.., C, H, W)", input, "rank 3 or more");
  dialects::check_number(names.op, names.kernel_size, factor, 1);
  return {.block = {factor, factor}, .mode = DepthMode::depth_first};
}

}  // namespace

Dims Fold::output_shape(const Dims& input) const {
  return ops::fold_shape(neutral(*this, input), input, fold_names);
}
Plan Fold::plan(const ConstTensorView& input, const TensorView& output) const {
  return ops::fold_plan(neutral(*this, input.shape), input, output, fold_names);
}

Dims Unfold::output_shape(const Dims& input) const {
  return ops::unfold_shape(neutral(*this, input), input, unfold_names);
}
Plan Unfold::plan(const ConstTensorView& input, const TensorView& output) const {
  return ops::unfold_plan(neutral(*this, input.shape), input, output, unfold_names);
}

Dims PixelShuffle::output_shape(const Dims& input) const {
  return ops::depth_to_space_shape(neutral_depth<DepthToSpace>(shuffle_names, input, upscale_factor), input, shuffle_names);
}
Plan PixelShuffle::plan(const ConstTensorView& input, const TensorView& output) const {
  return ops::depth_to_space_plan(neutral_depth<DepthToSpace>(shuffle_names, input.shape, upscale_factor), input, output,
                                  shuffle_names);
}

Dims PixelUnshuffle::output_shape(const Dims& input) const {
  return ops::space_to_depth_shape(neutral_depth<SpaceToDepth>(unshuffle_names, input, downscale_factor), input,
                                   unshuffle_names);
}
Plan PixelUnshuffle::plan(const ConstTensorView& input, const TensorView& output) const {
  return ops::space_to_depth_plan(neutral_depth<SpaceToDepth>(unshuffle_names, input.shape, downscale_factor), input, output,
                                  unshuffle_names);
}

std::vector<OperatorSpec> rows() {
  using dialects::attribute;
  using dialects::Need;
  using dialects::row;
  return {
      row<Fold>({Fold::name, "Sums columns (N, C*K, L) into images (N, C, H, W).", "torch.nn.functional.fold", "input",
                 IndexTypes::int32_or_int64, /*sums=*/true},
                {attribute<&Fold::output_size>("output_size", Need::required, "spatial extents of the image, at least 1"),
                 attribute<&Fold::kernel_size>("kernel_size", Need::required, "extents of a patch, at least 1"),
                 attribute<&Fold::dilation>("dilation", Need::optional, "step between taps, at least 1"),
                 attribute<&Fold::padding>("padding", Need::optional, "pads at both ends of each axis, at least 0"),
                 attribute<&Fold::stride>("stride", Need::optional, "step between patches, at least 1")}),
      row<Unfold>(
          {Unfold::name, "Copies patches of (N, C, H, W) into columns (N, C*K, L).", "torch.nn.functional.unfold", "input"},
          {attribute<&Unfold::kernel_size>("kernel_size", Need::required, "extents of a patch, at least 1"),
           attribute<&Unfold::dilation>("dilation", Need::optional, "step between taps, at least 1"),
           attribute<&Unfold::padding>("padding", Need::optional, "pads at both ends of each axis, at least 0"),
           attribute<&Unfold::stride>("stride", Need::optional, "step between patches, at least 1")}),
      row<PixelShuffle>(
          {PixelShuffle::name, "Moves channels to blocks of the last two axes.", "torch.nn.functional.pixel_shuffle",
           "input"},
          {attribute<&PixelShuffle::upscale_factor>("upscale_factor", Need::required, "block on both axes, at least 1")}),
      row<PixelUnshuffle>({PixelUnshuffle::name, "Moves blocks of the last two axes to the channels.",
                           "torch.nn.functional.pixel_unshuffle", "input"},
                          {attribute<&PixelUnshuffle::downscale_factor>("downscale_factor", Need::required,
                                                                        "block on both axes, at least 1")}),
  };
}

}  // namespace patchfold::torch
