// SPDX-License-Identifier: Apache-2.0
// PyTorch: fold, unfold, pixel_shuffle, pixel_unshuffle.
#include "patchfold/torch.hpp"

#include "base/fail.hpp"
#include "dialects/checks.hpp"
#include "dialects/rows.hpp"
#include "ops/axes.hpp"
#include "ops/operands.hpp"

namespace patchfold::torch {
namespace {

using namespace dialects;
using ops::Names;
using ops::Neutral;

constexpr Names fold_names{.op = Fold::name, .data = "input"};
constexpr Names unfold_names{.op = Unfold::name, .data = "input"};

/// Checks the ranges that fold and unfold share. Returns the number of spatial axes: two unless a list has another length.
int check_sliding(const auto& op, ops::SpatialArgument output_size, const Names& names) {
  ops::check_given(names.op, "kernel_size", !op.kernel_size.empty());
  for (const std::int64_t pad : op.padding.values())
    if (pad < 0)
      fail(ErrorCode::value, names.op, "padding", "every entry must be at least 0", op.padding, {},
           {"negative pads crop in the neutral ", names.op.substr(names.op.find('.') + 1)});
  const int rank = ops::deciding_argument(names.op, {output_size, ops::spatial("kernel_size", op.kernel_size),
                                                     ops::spatial("dilation", op.dilation),
                                                     ops::spatial("padding", op.padding), ops::spatial("stride", op.stride)})
                       .length;
  check_each(names.op, "kernel_size", op.kernel_size, 1);
  check_each(names.op, "stride", op.stride, 1);
  check_each(names.op, "dilation", op.dilation, 1);
  return rank < 0 ? 2 : rank;
}

Padding both_ends(const Axes& padding) {
  if (padding.is_scalar()) return padding.values()[0];
  return pairs_of(padding.values(), padding.values());
}

/// Returns the neutral operator, after check(op) has completed it; errors of `check` get the hints for that operator.
template <class Op, class Check>
Neutral checked(Op op, const Dims& input, const Names& names, const Check& check) {
  try {
    check(op);
  } catch (const Error& error) {
    throw ops::with_hints(error, op, input, names);
  }
  return op;
}

Neutral neutral(const Unfold& op, const Dims& input, const Names& names);

/// Returns the hint for an image that torch's unfold refuses. `given` is the neutral operator with the settings of `op`.
ErrorValue image_hint(const Unfold& op, const patchfold::Unfold& given, const Dims& input, const Names& names) {
  ErrorValue hint = dialects::image_hint(ops::Change<Unfold>{neutral, op, input, names}, &Unfold::kernel_size);
  if (input.size() < 5 || !hint.empty()) return hint;
  return ops::Change<patchfold::Unfold>{ops::neutral, given, input, names}
      .set(&patchfold::Unfold::kernel_size, given.kernel_size, Setting("kernel_size", given.kernel_size.values()))
      .hint("for two spatial axes the neutral unfold with ");
}

/// Throws Error if an axis other than the batch is empty.
void check_not_empty(const Dims& input, int without_batch, const Names& names) {
  for (int axis = input.size() == without_batch ? 0 : 1; axis < input.size(); ++axis)
    if (input[axis] == 0) fail(ErrorCode::value, names.op, names.data, "only the batch axis may be empty", input);
}

/// Throws Error unless the padded image holds a patch.
void check_positions(const Dims& extents, const ops::Sliding& sliding, const Names& names) {
  Geometry geometry;
  ops::add_axes(geometry, extents, sliding, names);
  ops::check_positions(geometry, names);
}

Neutral neutral(const Fold& op, const Dims& input, const Names& names) {
  ops::check_given(names.op, "output_size", !op.output_size.empty());
  const patchfold::Fold given{.output_size = ops::spread(op.output_size, 2),
                              .kernel_size = op.kernel_size,
                              .stride = op.stride,
                              .dilation = op.dilation,
                              .padding = both_ends(op.padding)};
  return checked(given, input, names, [&](patchfold::Fold& fold) {
    const int rank = check_sliding(op, ops::spatial("output_size", op.output_size), names);
    if (input.size() != 2 && input.size() != 3)
      fail_rank(names.op, names.data, "must be (N, C * product of kernel_size, L) or without N", input, "rank 3 or 2",
                grid_hint(ops::Change<Fold>{neutral, op, input, names}, rank));
    check_not_empty(input, 2, names);
    check_each(names.op, "output_size", op.output_size, 1);
    fold.output_size = ops::spread(op.output_size, rank);
    check_positions(fold.output_size, {fold.kernel_size, fold.stride, fold.dilation, fold.padding}, names);
  });
}

Neutral neutral(const Unfold& op, const Dims& input, const Names& names) {
  const patchfold::Unfold given{
      .kernel_size = op.kernel_size, .stride = op.stride, .dilation = op.dilation, .padding = both_ends(op.padding)};
  return checked(given, input, names, [&](patchfold::Unfold& unfold) {
    const int rank = check_sliding(op, {"", -1}, names);
    // torch has two spatial axes. With another number of them, an image without a batch could have the rank of torch's own images.
    if (input.size() != rank + 2 && (rank != 2 || input.size() != 3))
      fail_rank(
          names.op, names.data,
          rank == 2 ? "must be (N, C, H, W) or (C, H, W)" : "must be (N, C, spatial axes), with as many as the lists have",
          input, rank == 2 ? ErrorValue("rank 4 or 3") : ErrorValue("rank ", rank + 2),
          rank == 2 ? image_hint(op, given, input, names) : ErrorValue());
    check_not_empty(input, rank + 1, names);
    ops::check_shape(names.op, names.data, input);
    unfold.kernel_size = ops::spread(op.kernel_size, rank);
    check_positions(input.slice(input.size() - rank, input.size()),
                    {unfold.kernel_size, unfold.stride, unfold.dilation, unfold.padding}, names);
  });
}

constexpr Names shuffle_names = depth_names(PixelShuffle::name, "input", "upscale_factor");
constexpr Names unshuffle_names = depth_names(PixelUnshuffle::name, "input", "downscale_factor");

template <class Depth>
Neutral neutral_depth(std::int64_t factor, const Dims& input, const Names& names) {
  if (input.size() < 3) fail_rank(names.op, names.data, "must be (.., C, H, W)", input, "rank 3 or more");
  check_number(names.op, names.kernel_size, factor, 1);
  return Depth{.block = {factor, factor}, .mode = DepthMode::depth_first};
}
Neutral neutral(const PixelShuffle& op, const Dims& input, const Names& names) {
  return neutral_depth<DepthToSpace>(op.upscale_factor, input, names);
}
Neutral neutral(const PixelUnshuffle& op, const Dims& input, const Names& names) {
  return neutral_depth<SpaceToDepth>(op.downscale_factor, input, names);
}

}  // namespace

PATCHFOLD_OPERATOR(Fold, fold_names)
PATCHFOLD_OPERATOR(Unfold, unfold_names)
PATCHFOLD_OPERATOR(PixelShuffle, shuffle_names)
PATCHFOLD_OPERATOR(PixelUnshuffle, unshuffle_names)

[[gnu::cold]] static std::vector<OperatorSpec> rows() {
  return {
      row<Fold>(
          neutral,
          {fold_names, "Sums columns (N, C*K, L) into images (N, C, H, W).", "torch.nn.functional.fold",
           "f32 2x18x9 output_size=6,5 kernel_size=2,3 dilation=1,2 padding=0,1 stride=2,1"},
          {attribute<&Fold::output_size>("output_size", Need::required, "spatial extents of the image, at least 1"),
           attribute<&Fold::kernel_size>("kernel_size", Need::required, "extents of a patch, at least 1"),
           attribute<&Fold::dilation>("dilation", Need::optional, "step between the taps (elements) of a patch, at least 1"),
           attribute<&Fold::padding>("padding", Need::optional, "pads at both ends of each axis, at least 0"),
           attribute<&Fold::stride>("stride", Need::optional, "step between patches, at least 1")}),
      row<Unfold>(neutral,
                  {unfold_names, "Copies patches of (N, C, H, W) into columns (N, C*K, L).", "torch.nn.functional.unfold",
                   "f32 2x3x5x6 kernel_size=2,3 dilation=1,2 padding=0,1 stride=2,1"},
                  {attribute<&Unfold::kernel_size>("kernel_size", Need::required, "extents of a patch, at least 1"),
                   attribute<&Unfold::dilation>("dilation", Need::optional,
                                                "step between the taps (elements) of a patch, at least 1"),
                   attribute<&Unfold::padding>("padding", Need::optional, "pads at both ends of each axis, at least 0"),
                   attribute<&Unfold::stride>("stride", Need::optional, "step between patches, at least 1")}),
      row<PixelShuffle>(
          neutral,
          {shuffle_names, "Moves channels to blocks of the last two axes.", "torch.nn.functional.pixel_shuffle",
           "f32 2x12x2x3 upscale_factor=2"},
          {attribute<&PixelShuffle::upscale_factor>("upscale_factor", Need::required, "block on both axes, at least 1")}),
      row<PixelUnshuffle>(neutral,
                          {unshuffle_names, "Moves blocks of the last two axes to the channels.",
                           "torch.nn.functional.pixel_unshuffle", "f32 2x3x4x6 downscale_factor=2"},
                          {attribute<&PixelUnshuffle::downscale_factor>("downscale_factor", Need::required,
                                                                        "block on both axes, at least 1")}),
  };
}

Dialect dialect() {
  return {{"torch", "PyTorch's operators.", "https://pytorch.org/docs/stable/nn.functional.html"}, rows()};
}

}  // namespace patchfold::torch
