// SPDX-License-Identifier: Apache-2.0
// Keras: extract_patches, unfold, fold.
#include "reference/array.hpp"
#include "reference/operators.hpp"

namespace reference::keras {
namespace {

/// Returns an argument as a list, with a single number repeated for each axis; `otherwise` if the argument is left out or empty.
List every_axis(const Arguments& arguments, const std::string& name, const List& otherwise) {
  const auto found = arguments.find(name);
  if (found == arguments.end()) return otherwise;
  if (const auto* list = std::get_if<List>(&found->second)) return list->empty() ? otherwise : *list;
  return List(otherwise.size(), std::get<std::int64_t>(found->second));
}

/// Returns the arguments with each single number replaced by a list for two axes.
Arguments for_two_axes(Arguments arguments) {
  for (auto& [name, value] : arguments)
    if (const auto* number = std::get_if<std::int64_t>(&value)) value = List(2, *number);
  return arguments;
}

}  // namespace

// images (N, spatial.., C) or (N, C, spatial..), or without N -> channels tap * C + c, tap row-major over the size.
Array extract_patches(const Array& images, const Arguments& arguments) {
  const auto given = arguments.find("size");
  const auto* list = std::get_if<List>(&given->second);
  const List size = list ? *list : List(2, std::get<std::int64_t>(given->second));
  const std::size_t rank = size.size();
  const List strides = every_axis(arguments, "strides", size);
  const List rates = every_axis(arguments, "dilation_rate", List(rank, 1));
  const bool same = get<std::string>(arguments, "padding", "valid") == "same";
  const bool first = get<std::string>(arguments, "data_format", "channels_last") == "channels_first";
  const std::size_t batch = images.shape.size() - rank - 1;
  const std::size_t spatial = first ? batch + 1 : batch;
  const std::size_t channel = first ? batch : images.shape.size() - 1;
  const std::int64_t channels = images.shape[channel];

  List shape = images.shape;
  List begins(rank, 0);
  shape[channel] = channels * product(size);
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t extent = images.shape[spatial + d];
    const std::int64_t effective = (size[d] - 1) * rates[d] + 1;
    std::int64_t& positions = shape[spatial + d];
    if (same) {
      positions = (extent + strides[d] - 1) / strides[d];
      const std::int64_t total = (positions - 1) * strides[d] + effective - extent;
      begins[d] = extent > 0 && total > 0 ? total / 2 : 0;
    } else {
      positions = extent < effective ? 0 : (extent - effective) / strides[d] + 1;
    }
  }
  Array output = zeros(shape, images);
  for_each(shape, [&](const List& to) {
    List from = to;
    from[channel] = to[channel] % channels;
    std::int64_t tap = to[channel] / channels;
    for (std::size_t d = rank; d-- > 0; tap /= size[d])
      from[spatial + d] = to[spatial + d] * strides[d] - begins[d] + tap % size[d] * rates[d];
    if (inside(from, images.shape)) copy(output, to, images, from);
  });
  return output;
}

// x (N, C, H, W) -> (N, C*K, L).
Array unfold(const Array& x, const Arguments& arguments) {
  return reference::unfold(x, for_two_axes(arguments));
}

// x (N, C*K, L) -> (N, C, H, W).
Array fold(const Array& x, const Arguments& arguments) {
  return reference::fold(x, for_two_axes(arguments), nullptr);
}

const Listed listed({
    {"keras.extract_patches", extract_patches},
    {"keras.unfold", unfold},
    {"keras.fold", fold},
});

}  // namespace reference::keras
