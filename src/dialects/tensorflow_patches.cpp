// SPDX-License-Identifier: Apache-2.0
// TensorFlow: ExtractImagePatches and ExtractVolumePatches.
#include "dialects/checks.hpp"
#include "dialects/rows.hpp"
#include "dialects/tensorflow_rows.hpp"
#include "ops/patches.hpp"
#include "patchfold/tensorflow.hpp"
#include "tensor/checked.hpp"
#include "tensor/fail.hpp"

namespace patchfold::tensorflow {
namespace {

/// The entries of the spatial axes of a list [1, .., 1].
Dims spatial_entries(std::string_view name, std::string_view argument, const Dims& list, int rank) {
  dialects::check_length(name, argument, list, rank);
  dialects::check_each(name, argument, list, 1);
  if (list[0] != 1 || list.back() != 1)
    fail(ErrorCode::value, name, argument, "the entries of the batch and the channels must be 1", list);
  return list.slice(1, rank - 1);
}

/// VALID: an image smaller than the kernel by two strides or more is an error; smaller by less, it has no patches.
void check_valid(std::string_view name, std::string_view input_name, const Dims& extents, const Dims& kernel,
                 const Dims& strides, const Dims& rates) {
  for (int i = 0; i < extents.size(); ++i) {
    const auto missing = (Checked(kernel[i] - 1) * Checked(rates[i]) + Checked(1) - Checked(extents[i])).value();
    const auto limit = checked_mul(strides[i], 2);
    if (missing && limit && *missing >= *limit)
      fail(ErrorCode::value, name, input_name, "the effective kernel must not exceed the image by two strides or more",
           extents, "at least " + std::to_string(extents[i] + *missing - *limit + 1) + " on axis " + std::to_string(i + 1));
  }
}

constexpr ops::Names image_names{.op = ExtractImagePatches::name,
                                 .image = "images",
                                 .columns = "output",
                                 .kernel_size = "ksizes",
                                 .stride = "strides",
                                 .dilation = "rates",
                                 .padding = "padding"};
constexpr ops::Names volume_names{.op = ExtractVolumePatches::name,
                                  .image = "input",
                                  .columns = "output",
                                  .kernel_size = "ksizes",
                                  .stride = "strides",
                                  .padding = "padding"};

Unfold unfold_of(const ExtractImagePatches& op, const Dims& images) {
  constexpr std::string_view name = ExtractImagePatches::name;
  dialects::check_rank(name, "images", images, 4);
  const Dims kernel = spatial_entries(name, "ksizes", op.ksizes, 4);
  const Dims strides = spatial_entries(name, "strides", op.strides, 4);
  const Dims rates = spatial_entries(name, "rates", op.rates, 4);
  ops::check_given(name, "padding", op.padding.has_value());
  const bool same = *op.padding == PaddingType::SAME;
  if (!same) check_valid(name, "images", images.slice(1, 3), kernel, strides, rates);
  return {.kernel_size = kernel,
          .stride = strides,
          .dilation = rates,
          .padding = same ? Padding::same_upper : Padding::valid,
          .layout = Layout::channels_last,
          .order = Order::kernel,
          .columns = Columns::grid};
}

/// SAME of ExtractVolumePatches: where the stride exceeds the kernel the total is negative, and the first sample moves
/// into the image by half of it (TensorFlow 2.21 does so; its ExtractImagePatches does not).
PadsList volume_pads(const Dims& extents, const Dims& kernel, const Dims& strides) {
  PadsList pads;
  for (int i = 0; i < extents.size(); ++i) {
    std::int64_t total = 0;
    if (extents[i] > 0) {
      const std::int64_t start_of_last = (ceil_div(extents[i], strides[i]) - 1) * strides[i];
      total = start_of_last - extents[i] + kernel[i];  // the first two differ by less than the extent
    }
    pads.push_back({total / 2, total - total / 2});
  }
  return pads;
}

Unfold unfold_of(const ExtractVolumePatches& op, const Dims& input) {
  constexpr std::string_view name = ExtractVolumePatches::name;
  dialects::check_rank(name, "input", input, 5);
  const Dims kernel = spatial_entries(name, "ksizes", op.ksizes, 5);
  const Dims strides = spatial_entries(name, "strides", op.strides, 5);
  ops::check_given(name, "padding", op.padding.has_value());
  const bool same = *op.padding == PaddingType::SAME;
  const Dims extents = input.slice(1, 4);
  if (!same) check_valid(name, "input", extents, kernel, strides, {1, 1, 1});
  return {.kernel_size = kernel,
          .stride = strides,
          .padding = same ? Padding(volume_pads(extents, kernel, strides)) : Padding::valid,
          .layout = Layout::channels_last,
          .order = Order::kernel,
          .columns = Columns::grid};
}

}  // namespace

Dims ExtractImagePatches::output_shape(const Dims& images) const {
  return ops::unfold_shape(unfold_of(*this, images), images, image_names);
}
Plan ExtractImagePatches::plan(const ConstTensorView& images, const TensorView& output) const {
  return ops::unfold_plan(unfold_of(*this, images.shape), images, output, image_names);
}

Dims ExtractVolumePatches::output_shape(const Dims& input) const {
  return ops::unfold_shape(unfold_of(*this, input), input, volume_names);
}
Plan ExtractVolumePatches::plan(const ConstTensorView& input, const TensorView& output) const {
  return ops::unfold_plan(unfold_of(*this, input.shape), input, output, volume_names);
}

std::vector<OperatorSpec> patch_rows() {
  using dialects::attribute;
  using dialects::Need;
  using dialects::row;
  constexpr std::string_view padding = "SAME: zeros around the image, the odd one at the end; VALID: none";
  return {
      row<ExtractImagePatches>(
          {ExtractImagePatches::name, "Copies patches of (N, H, W, C) to the channels, tap-major: (N, oh, ow, kh*kw*C).",
           "TensorFlow ExtractImagePatches", "images"},
          {attribute<&ExtractImagePatches::ksizes>("ksizes", Need::required, "[1, rows, columns, 1], at least 1"),
           attribute<&ExtractImagePatches::strides>("strides", Need::required, "[1, rows, columns, 1], at least 1"),
           attribute<&ExtractImagePatches::rates>("rates", Need::required, "[1, rows, columns, 1], at least 1"),
           attribute<&ExtractImagePatches::padding>("padding", Need::required, padding)}),
      row<ExtractVolumePatches>(
          {ExtractVolumePatches::name, "Copies patches of (N, D, H, W, C) to the channels, tap-major.",
           "TensorFlow ExtractVolumePatches", "input"},
          {attribute<&ExtractVolumePatches::ksizes>("ksizes", Need::required, "[1, planes, rows, columns, 1], at least 1"),
           attribute<&ExtractVolumePatches::strides>("strides", Need::required, "[1, planes, rows, columns, 1], at least 1"),
           attribute<&ExtractVolumePatches::padding>("padding", Need::required, padding)}),
  };
}

}  // namespace patchfold::tensorflow
