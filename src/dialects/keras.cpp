// SPDX-License-Identifier: Apache-2.0
// Keras: extract_patches, unfold, fold.
#include "patchfold/keras.hpp"

#include "base/checked.hpp"
#include "base/fail.hpp"
#include "dialects/checks.hpp"
#include "dialects/rows.hpp"
#include "ops/axes.hpp"

namespace patchfold::keras {
namespace {

using namespace dialects;
using ops::Names;
using ops::Neutral;

/// Returns one entry for each of `rank` axes, each at least `bound`. Throws Error(missing, length, value).
Dims entries(const Axes& axes, int rank, std::int64_t bound, std::string_view argument, const Names& names) {
  const Dims list = axes.is_scalar() ? ops::spread(axes, rank) : axes.values();
  check_length(names.op, argument, list, rank);
  check_each(names.op, argument, list, bound);
  return list;
}

/// Throws Error if an image is smaller than a patch, unless the image is empty.
void check_valid(const Dims& images, int first, const Dims& size, const Dims& rates, const Names& names) {
  for (int i = 0; i < size.size(); ++i) {
    const std::int64_t extent = images[first + i];
    const auto effective = (Checked(size[i] - 1) * Checked(rates[i]) + Checked(1)).value();
    if (extent > 0 && effective && *effective > extent)
      fail(ErrorCode::value, names.op, names.data,
           "must be as large as a patch, (size - 1) * dilation_rate + 1, on each axis", images,
           ErrorValue("at least ", *effective, " on axis ", first + i));
  }
}

constexpr Names patches_names{
    .op = ExtractPatches::name, .data = "images", .kernel_size = "size", .stride = "strides", .dilation = "dilation_rate"};

Neutral neutral(const ExtractPatches& op, const Dims& images, const Names& names) {
  ops::check_given(names.op, "size", !op.size.empty());
  const int rank = op.size.is_scalar() ? 2 : op.size.values().size();
  if (rank != 2 && rank != 3)
    fail(ErrorCode::length, names.op, "size", "must be a number, or a list of 2 or 3 entries", op.size, "2 or 3 numbers");
  if (images.size() != rank + 1 && images.size() != rank + 2)
    fail_rank(names.op, names.data, "must have the spatial axes and a channel axis, with or without a batch", images,
              ErrorValue("rank ", rank + 2, " or ", rank + 1));
  const Dims size = entries(op.size, rank, 1, "size", names);
  const Dims rates = entries(op.dilation_rate, rank, 1, "dilation_rate", names);
  const bool last = op.data_format == DataFormat::channels_last;
  if (op.padding == PaddingType::valid) check_valid(images, images.size() - rank - (last ? 1 : 0), size, rates, names);
  return patchfold::Unfold{.kernel_size = size,
                           .stride = op.strides.empty() ? size : entries(op.strides, rank, 1, "strides", names),
                           .dilation = rates,
                           .padding = op.padding == PaddingType::same ? Padding::same_upper : Padding::valid,
                           .layout = last ? Layout::channels_last : Layout::channels_first,
                           .order = Order::kernel,
                           .positions = Positions::grid,
                           .allow_empty = true};
}

constexpr Names unfold_names{.op = Unfold::name, .data = "x"};
constexpr Names fold_names{.op = Fold::name, .data = "x"};

PadsList both_ends(const Axes& padding, const Names& names) {
  const Dims pads = entries(padding, 2, 0, "padding", names);
  return pairs_of(pads, pads);
}

/// Returns the hint for an image with more than two spatial axes, which the neutral unfold takes.
ErrorValue volume_hint(const Unfold& op, const Dims& x, const Names& names) {
  if (x.size() <= 4 || op.kernel_size.empty()) return {};
  const Dims& pads = op.padding.values();
  const patchfold::Unfold unfold{.kernel_size = op.kernel_size,
                                 .stride = op.stride,
                                 .dilation = op.dilation,
                                 .padding = op.padding.is_scalar() ? Padding(pads[0]) : pairs_of(pads, pads)};
  const ops::Change<patchfold::Unfold> call{ops::neutral, unfold, x, names};
  ErrorValue hint = dialects::image_hint(call, &patchfold::Unfold::kernel_size);
  if (!hint.empty()) hint.append(" of the neutral unfold");
  return hint;
}

Neutral neutral(const Unfold& op, const Dims& x, const Names& names) {
  check_rank(neutral, op, x, names, 4, volume_hint(op, x, names));
  return patchfold::Unfold{.kernel_size = entries(op.kernel_size, 2, 1, "kernel_size", names),
                           .stride = entries(op.stride, 2, 1, "stride", names),
                           .dilation = entries(op.dilation, 2, 1, "dilation", names),
                           .padding = both_ends(op.padding, names),
                           .allow_empty = true};
}

Neutral neutral(const Fold& op, const Dims& x, const Names& names) {
  check_rank(neutral, op, x, names, 3,
             x.size() == 4 ? grid_hint(ops::Change<Fold>{neutral, op, x, names}, 2) : ErrorValue());
  return patchfold::Fold{.output_size = entries(op.output_size, 2, 1, "output_size", names),
                         .kernel_size = entries(op.kernel_size, 2, 1, "kernel_size", names),
                         .stride = entries(op.stride, 2, 1, "stride", names),
                         .dilation = entries(op.dilation, 2, 1, "dilation", names),
                         .padding = both_ends(op.padding, names)};
}

}  // namespace

PATCHFOLD_OPERATOR(ExtractPatches, patches_names)
PATCHFOLD_OPERATOR(Unfold, unfold_names)
PATCHFOLD_OPERATOR(Fold, fold_names)

[[gnu::cold]] static std::vector<OperatorSpec> rows() {
  return {
      row<ExtractPatches>(
          neutral,
          {patches_names, "Copies patches of (N, H, W, C) or (N, D, H, W, C) to the channels, tap-major.",
           "keras.ops.image.extract_patches",
           "f32 2x3x5x7 size=2,3 strides=1,1 dilation_rate=2,1 padding=same data_format=channels_first"},
          {attribute<&ExtractPatches::size>(
               "size", Need::required,
               "extents of a patch, at least 1: two, three for volumes, or one for height and width"),
           attribute<&ExtractPatches::strides>("strides", Need::optional,
                                               "step between patches, at least 1; left out: the size"),
           attribute<&ExtractPatches::dilation_rate>("dilation_rate", Need::optional,
                                                     "step between the taps (elements) of a patch, at least 1"),
           attribute<&ExtractPatches::padding>("padding", Need::optional,
                                               "same: zeros around the image, the odd one at the end; valid: none"),
           attribute<&ExtractPatches::data_format>("data_format", Need::optional, "where the channel axis lies")}),
      row<Unfold>(
          neutral,
          {unfold_names, "Copies patches of (N, C, H, W) into columns (N, C*K, L).", "keras.ops.nn.unfold",
           "f32 2x3x5x7 kernel_size=2,3 dilation=2,1 padding=1,0 stride=1,2"},
          {attribute<&Unfold::kernel_size>("kernel_size", Need::required,
                                           "height and width of a patch, at least 1; one number stands for both"),
           attribute<&Unfold::dilation>("dilation", Need::optional,
                                        "step between the taps (elements) of a patch, at least 1"),
           attribute<&Unfold::padding>("padding", Need::optional, "zeros added at both ends of each axis, at least 0"),
           attribute<&Unfold::stride>("stride", Need::optional, "step between patches, at least 1")}),
      row<Fold>(
          neutral,
          {fold_names, "Sums columns (N, C*K, L) into images (N, C, H, W).", "keras.ops.nn.fold",
           "f32 2x12x8 output_size=4,6 kernel_size=2,3 dilation=1,2 padding=0,1 stride=2,1"},
          {attribute<&Fold::output_size>("output_size", Need::required,
                                         "height and width of the image, at least 1; one number stands for both"),
           attribute<&Fold::kernel_size>("kernel_size", Need::required,
                                         "height and width of a patch, at least 1; one number stands for both"),
           attribute<&Fold::dilation>("dilation", Need::optional, "step between the taps (elements) of a patch, at least 1"),
           attribute<&Fold::padding>("padding", Need::optional, "pads at both ends of each axis, at least 0"),
           attribute<&Fold::stride>("stride", Need::optional, "step between patches, at least 1")}),
  };
}

Dialect dialect() {
  return {{"keras", "The operators of Keras 3's keras.ops.", "https://keras.io/api/ops/"}, rows()};
}

}  // namespace patchfold::keras
