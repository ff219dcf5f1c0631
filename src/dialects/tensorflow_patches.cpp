// SPDX-License-Identifier: Apache-2.0
// TensorFlow: ExtractImagePatches and ExtractVolumePatches.
#include "base/checked.hpp"
#include "base/fail.hpp"
#include "dialects/checks.hpp"
#include "dialects/rows.hpp"
#include "ops/axes.hpp"
#include "patchfold/tensorflow.hpp"

namespace patchfold::tensorflow {
namespace {

using namespace dialects;
using ops::Names;
using ops::Neutral;

/// Returns the entries of the spatial axes in a list [1, .., 1].
Dims spatial_entries(std::string_view name, std::string_view argument, const Dims& list, int rank) {
  check_length(name, argument, list, rank);
  check_each(name, argument, list, 1);
  if (list[0] != 1 || list.back() != 1)
    fail(ErrorCode::value, name, argument, "the entries of the batch and the channels must be 1", list);
  return list.slice(1, rank - 1);
}

/// Throws Error if, with VALID, an image is smaller than the kernel by two strides or more. An image that is
/// smaller than the kernel, but by less than two strides, is accepted and has no patches.
void check_valid(const Dims& extents, const Dims& kernel, const Dims& strides, const Dims& rates, const Names& names) {
  for (int i = 0; i < extents.size(); ++i) {
    const auto missing = (Checked(kernel[i] - 1) * Checked(rates[i]) + Checked(1) - Checked(extents[i])).value();
    const auto limit = checked_mul(strides[i], 2);
    if (missing && limit && *missing >= *limit)
      fail(ErrorCode::value, names.op, names.data, "the effective kernel must not exceed the image by two strides or more",
           extents, ErrorValue("at least ", extents[i] + *missing - *limit + 1, " on axis ", i + 1));
  }
}

constexpr Names image_names{
    .op = ExtractImagePatches::name, .data = "images", .kernel_size = "ksizes", .stride = "strides", .dilation = "rates"};
constexpr Names volume_names{
    .op = ExtractVolumePatches::name, .data = "input", .kernel_size = "ksizes", .stride = "strides"};

Neutral neutral(const ExtractImagePatches& op, const Dims& images, const Names& names) {
  check_rank(neutral, op, images, names, 4);
  const Dims kernel = spatial_entries(names.op, "ksizes", op.ksizes, 4);
  const Dims strides = spatial_entries(names.op, "strides", op.strides, 4);
  const Dims rates = spatial_entries(names.op, "rates", op.rates, 4);
  ops::check_given(names.op, "padding", op.padding.has_value());
  const bool same = *op.padding == PaddingType::SAME;
  if (!same) check_valid(images.slice(1, 3), kernel, strides, rates, names);
  return Unfold{.kernel_size = kernel,
                .stride = strides,
                .dilation = rates,
                .padding = same ? Padding::same_upper : Padding::valid,
                .layout = Layout::channels_last,
                .order = Order::kernel,
                .positions = Positions::grid,
                .allow_empty = true};
}

/// Returns the pads of ExtractVolumePatches for SAME. If the stride exceeds the kernel, the total of the pads is negative, and the
/// first patch begins inside the image, half of the total from its border. TensorFlow 2.21 does this in ExtractVolumePatches, but
/// not in ExtractImagePatches.
PadsList volume_pads(const Dims& extents, const Dims& kernel, const Dims& strides) {
  PadsList pads;
  for (int i = 0; i < extents.size(); ++i) {
    std::int64_t total = 0;
    if (extents[i] > 0) {
      const std::int64_t start_of_last = (ceil_div(extents[i], strides[i]) - 1) * strides[i];
      total = start_of_last - extents[i] + kernel[i];  // cannot overflow: the first two differ by less than the extent
    }
    pads.push_back({total / 2, total - total / 2});
  }
  return pads;
}

Neutral neutral(const ExtractVolumePatches& op, const Dims& input, const Names& names) {
  check_rank(neutral, op, input, names, 5);
  const Dims kernel = spatial_entries(names.op, "ksizes", op.ksizes, 5);
  const Dims strides = spatial_entries(names.op, "strides", op.strides, 5);
  ops::check_given(names.op, "padding", op.padding.has_value());
  const bool same = *op.padding == PaddingType::SAME;
  const Dims extents = input.slice(1, 4);
  if (!same) check_valid(extents, kernel, strides, {1, 1, 1}, names);
  return Unfold{.kernel_size = kernel,
                .stride = strides,
                .padding = same ? Padding(volume_pads(extents, kernel, strides)) : Padding::valid,
                .layout = Layout::channels_last,
                .order = Order::kernel,
                .positions = Positions::grid,
                .allow_empty = true};
}

}  // namespace

PATCHFOLD_OPERATOR(ExtractImagePatches, image_names)
PATCHFOLD_OPERATOR(ExtractVolumePatches, volume_names)

[[gnu::cold]] std::vector<OperatorSpec> patch_rows() {
  constexpr std::string_view padding = "SAME: zeros around the image, the odd one at the end; VALID: none";
  return {
      row<ExtractImagePatches>(
          neutral,
          {image_names, "Copies patches of (N, H, W, C) to the channels, tap-major: (N, oh, ow, kh*kw*C).",
           "TensorFlow ExtractImagePatches", "f32 2x7x8x3 ksizes=1,2,3,1 strides=1,3,2,1 rates=1,2,1,1 padding=SAME"},
          {attribute<&ExtractImagePatches::ksizes>("ksizes", Need::required, "[1, rows, columns, 1] of a patch, at least 1"),
           attribute<&ExtractImagePatches::strides>("strides", Need::required,
                                                    "[1, rows, columns, 1] between patches, at least 1"),
           attribute<&ExtractImagePatches::rates>("rates", Need::required,
                                                  "[1, rows, columns, 1] between the elements of a patch, at least 1"),
           attribute<&ExtractImagePatches::padding>("padding", Need::required, padding)}),
      row<ExtractVolumePatches>(
          neutral,
          {volume_names, "Copies patches of (N, D, H, W, C) to the channels, tap-major.", "TensorFlow ExtractVolumePatches",
           "f32 2x4x5x6x3 ksizes=1,1,2,3,1 strides=1,4,1,2,1 padding=SAME"},
          {attribute<&ExtractVolumePatches::ksizes>("ksizes", Need::required,
                                                    "[1, planes, rows, columns, 1] of a patch, at least 1"),
           attribute<&ExtractVolumePatches::strides>("strides", Need::required,
                                                     "[1, planes, rows, columns, 1] between patches, at least 1"),
           attribute<&ExtractVolumePatches::padding>("padding", Need::required, padding)}),
  };
}

}  // namespace patchfold::tensorflow
