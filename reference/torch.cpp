// SPDX-License-Identifier: Apache-2.0
// PyTorch: fold, unfold, pixel_shuffle, pixel_unshuffle. fold and unfold take any number of spatial axes.
#include "reference/array.hpp"
#include "reference/operators.hpp"
#include "reference/sum.hpp"

namespace reference::torch {
namespace {

/// Returns the number of spatial axes: the length of any list; 2 if there are single numbers only.
std::size_t spatial_rank(const Arguments& arguments) {
  for (const auto& [name, value] : arguments)
    if (const auto* list = std::get_if<List>(&value)) return list->size();
  return 2;
}

List every_axis(const Arguments& arguments, const std::string& name, std::int64_t otherwise, std::size_t rank) {
  const auto found = arguments.find(name);
  if (found == arguments.end()) return List(rank, otherwise);
  if (const auto* list = std::get_if<List>(&found->second)) return *list;
  return List(rank, std::get<std::int64_t>(found->second));
}

List positions_of(const List& image, const List& kernel, const List& dilation, const List& padding, const List& stride) {
  List positions;
  for (std::size_t d = 0; d < image.size(); ++d)
    positions.push_back((image[d] + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1) / stride[d] + 1);
  return positions;
}

/// Returns the tuple of a row-major index.
List tuple_of(std::int64_t index, const List& extents) {
  List tuple(extents.size());
  for (std::size_t d = extents.size(); d-- > 0; index /= extents[d]) tuple[d] = index % extents[d];
  return tuple;
}

}  // namespace

// input (N, C*K, L) or (C*K, L) -> (N, C, H, W) or (C, H, W). Goes through the rows of the input in ascending order, so every pixel
// adds its taps in ascending order.
Array fold(const Array& input, const Arguments& arguments) {
  const std::size_t rank = spatial_rank(arguments);
  const List size = every_axis(arguments, "output_size", 0, rank);
  const List kernel = every_axis(arguments, "kernel_size", 0, rank);
  const List dilation = every_axis(arguments, "dilation", 1, rank);
  const List padding = every_axis(arguments, "padding", 0, rank);
  const List stride = every_axis(arguments, "stride", 1, rank);
  const List positions = positions_of(size, kernel, dilation, padding, stride);
  const List batch = input.shape.size() == 3 ? List{input.shape[0]} : List{};
  const std::int64_t rows = input.shape[batch.size()];

  Array output = zeros(join({batch, {rows / product(kernel)}, size}), input);
  std::vector<Sum> sums(static_cast<std::size_t>(product(output.shape)), Sum(input.dtype));
  for_each(join({batch, {rows, product(positions)}}), [&](const List& index) {
    const std::int64_t row = index[batch.size()];
    const List tap = tuple_of(row % product(kernel), kernel);
    const List block = tuple_of(index.back(), positions);
    List pixel(rank);
    for (std::size_t d = 0; d < rank; ++d) pixel[d] = block[d] * stride[d] - padding[d] + tap[d] * dilation[d];
    if (!inside(pixel, size)) return;
    const List to = join({slice(index, 0, batch.size()), {row / product(kernel)}, pixel});
    sums[static_cast<std::size_t>(lex(to, output.shape))].add(at(input, index));
  });
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i].store(output.bytes.data() + i * output.element_size);
  return output;
}

// input (N, C, H, W) or (C, H, W) -> (N, C*K, L) or (C*K, L).
Array unfold(const Array& input, const Arguments& arguments) {
  const std::size_t rank = spatial_rank(arguments);
  const List kernel = every_axis(arguments, "kernel_size", 0, rank);
  const List dilation = every_axis(arguments, "dilation", 1, rank);
  const List padding = every_axis(arguments, "padding", 0, rank);
  const List stride = every_axis(arguments, "stride", 1, rank);
  const bool batched = input.shape.size() == rank + 2;
  const List batch = batched ? List{input.shape[0]} : List{};
  const std::int64_t channels = input.shape[batch.size()];
  const List positions =
      positions_of(slice(input.shape, batch.size() + 1, input.shape.size()), kernel, dilation, padding, stride);

  Array output = zeros(join({batch, {channels * product(kernel), product(positions)}}), input);
  for_each(output.shape, [&](const List& index) {
    const std::int64_t row = index[batch.size()];
    const List tap = tuple_of(row % product(kernel), kernel);
    const List block = tuple_of(index.back(), positions);
    List from = slice(index, 0, batch.size());
    from.push_back(row / product(kernel));
    for (std::size_t d = 0; d < rank; ++d) from.push_back(block[d] * stride[d] - padding[d] + tap[d] * dilation[d]);
    if (inside(from, input.shape)) copy(output, index, input, from);
  });
  return output;
}

// (.., C*r*r, H, W) -> (.., C, H*r, W*r).
Array pixel_shuffle(const Array& input, const Arguments& arguments) {
  const auto r = get<std::int64_t>(arguments, "upscale_factor");
  const std::size_t c = input.shape.size() - 3;
  List shape = input.shape;
  shape[c] /= r * r;
  shape[c + 1] *= r;
  shape[c + 2] *= r;
  Array output = zeros(shape, input);
  for_each(shape, [&](const List& to) {
    List from = to;
    from[c] = to[c] * r * r + to[c + 1] % r * r + to[c + 2] % r;
    from[c + 1] = to[c + 1] / r;
    from[c + 2] = to[c + 2] / r;
    copy(output, to, input, from);
  });
  return output;
}

// (.., C, H*r, W*r) -> (.., C*r*r, H, W).
Array pixel_unshuffle(const Array& input, const Arguments& arguments) {
  const auto r = get<std::int64_t>(arguments, "downscale_factor");
  const std::size_t c = input.shape.size() - 3;
  List shape = input.shape;
  shape[c] *= r * r;
  shape[c + 1] /= r;
  shape[c + 2] /= r;
  Array output = zeros(shape, input);
  for_each(shape, [&](const List& to) {
    List from = to;
    const std::int64_t offset = to[c] % (r * r);
    from[c] = to[c] / (r * r);
    from[c + 1] = to[c + 1] * r + offset / r;
    from[c + 2] = to[c + 2] * r + offset % r;
    copy(output, to, input, from);
  });
  return output;
}

const Listed listed({
    {"torch.fold", fold},
    {"torch.unfold", unfold},
    {"torch.pixel_shuffle", pixel_shuffle},
    {"torch.pixel_unshuffle", pixel_unshuffle},
});

}  // namespace reference::torch
