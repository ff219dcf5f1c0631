// SPDX-License-Identifier: Apache-2.0
// The neutral block operators, reorder and copy.
#include "reference/array.hpp"
#include "reference/operators.hpp"

namespace reference {
namespace {

std::size_t spatial_rank(const Arguments& arguments, std::initializer_list<const char*> names, std::size_t otherwise) {
  for (const auto* name : names) {
    const auto found = arguments.find(name);
    if (found == arguments.end()) continue;
    if (const auto* list = std::get_if<List>(&found->second)) return list->size();
    if (const auto* pairs = std::get_if<Pairs>(&found->second)) return pairs->size();
  }
  return otherwise;
}

List every_axis(const Value& value, std::size_t rank) {
  if (const auto* list = std::get_if<List>(&value)) return *list;
  return List(rank, std::get<std::int64_t>(value));
}

/// Returns the pads (begin, end) of every axis. The rules same_upper and same_lower pad until the last block is full.
Pairs pads_of(const Arguments& arguments, const std::string& name, const List& extents, const List& block) {
  const Value value = arguments.contains(name) ? arguments.at(name) : Value(std::int64_t{0});
  if (const auto* pairs = std::get_if<Pairs>(&value)) return *pairs;
  Pairs pads;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (const auto* word = std::get_if<std::string>(&value)) {
      const std::int64_t total = *word == "valid" ? 0 : (block[d] - extents[d] % block[d]) % block[d];
      const std::int64_t begin = *word == "same_lower" ? (total + 1) / 2 : total / 2;
      pads.emplace_back(begin, total - begin);
    } else {
      const std::int64_t both = every_axis(value, extents.size())[d];
      pads.emplace_back(both, both);
    }
  }
  return pads;
}

bool is(const Arguments& arguments, const std::string& name, const std::string& word) {
  const auto found = arguments.find(name);
  return found != arguments.end() && std::get<std::string>(found->second) == word;
}

/// Returns the channel of the deep tensor for a block offset and a channel of the image.
std::int64_t deep_channel(const Arguments& arguments, std::int64_t offset, std::int64_t offsets, std::int64_t channel,
                          std::int64_t channels) {
  return is(arguments, "mode", "depth_first") ? channel * offsets + offset : offset * channels + channel;
}

}  // namespace

Array reorder(const Array& columns, const Arguments& arguments) {
  const std::size_t axes = columns.shape.size();
  const bool grid = is(arguments, "positions", "grid");
  const std::size_t rank = spatial_rank(arguments, {"kernel_size"}, axes - 2);
  const std::int64_t taps = product(every_axis(arguments.at("kernel_size"), rank));
  const std::size_t axis = is(arguments, "layout", "channels_last") ? axes - 1 : axes - 1 - (grid ? rank : 1);
  const std::int64_t channels = columns.shape[axis] / taps;
  const bool from_kernel = is(arguments, "source", "kernel");
  const bool to_channel = is(arguments, "target", "channel");

  Array reordered = zeros(columns.shape, columns);
  for_each(columns.shape, [&](const List& index) {
    const std::int64_t row = index[axis];
    const std::int64_t channel = from_kernel ? row % channels : row / taps;
    const std::int64_t tap = from_kernel ? row / channels : row % taps;
    List to = index;
    to[axis] = to_channel ? channel * taps + tap : tap * channels + channel;
    copy(reordered, to, columns, index);
  });
  return reordered;
}

Array copied(const Array& tensor, const Arguments&) {
  Array output = zeros(tensor.shape, tensor);
  for_each(tensor.shape, [&](const List& index) { copy(output, index, tensor, index); });
  return output;
}

Array space_to_batch(const Array& image, const Arguments& arguments) {
  const std::size_t axes = image.shape.size();
  const std::size_t rank = spatial_rank(arguments, {"block", "padding"}, axes - 2);
  const std::size_t first = is(arguments, "layout", "channels_last") ? 1 : axes - rank;
  const List extents = slice(image.shape, first, first + rank);
  const List block = every_axis(arguments.at("block"), rank);
  const Pairs pads = pads_of(arguments, "padding", extents, block);
  const std::int64_t batch = image.shape[0];

  List shape = image.shape;
  shape[0] = batch * product(block);
  for (std::size_t d = 0; d < rank; ++d) shape[first + d] = (extents[d] + pads[d].first + pads[d].second) / block[d];
  Array batches = zeros(shape, image);
  for_each(block, [&](const List& offset) {
    for (std::int64_t n = 0; n < batch; ++n) {
      List rest = shape;
      rest[0] = 1;
      for_each(rest, [&](const List& index) {
        List to = index;
        to[0] = lex(offset, block) * batch + n;
        List from = index;
        from[0] = n;
        for (std::size_t d = 0; d < rank; ++d) from[first + d] = index[first + d] * block[d] + offset[d] - pads[d].first;
        if (inside(from, image.shape)) copy(batches, to, image, from);
      });
    }
  });
  return batches;
}

Array batch_to_space(const Array& batches, const Arguments& arguments) {
  const std::size_t axes = batches.shape.size();
  const std::size_t rank = spatial_rank(arguments, {"block", "crops"}, axes - 2);
  const std::size_t first = is(arguments, "layout", "channels_last") ? 1 : axes - rank;
  const List extents = slice(batches.shape, first, first + rank);
  const List block = every_axis(arguments.at("block"), rank);
  const Pairs crops = pads_of(arguments, "crops", extents, block);
  const std::int64_t batch = batches.shape[0] / product(block);

  List shape = batches.shape;
  shape[0] = batch;
  for (std::size_t d = 0; d < rank; ++d) shape[first + d] = extents[d] * block[d] - crops[d].first - crops[d].second;
  Array image = zeros(shape, batches);
  for_each(shape, [&](const List& to) {
    List offset(rank);
    List from = to;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t y = to[first + d] + crops[d].first;
      assert(y >= 0 && y < extents[d] * block[d]);
      offset[d] = y % block[d];
      from[first + d] = y / block[d];
    }
    from[0] = lex(offset, block) * batch + to[0];
    copy(image, to, batches, from);
  });
  return image;
}

Array space_to_depth(const Array& image, const Arguments& arguments) {
  const std::size_t axes = image.shape.size();
  const std::size_t rank = spatial_rank(arguments, {"block"}, axes - 2);
  const List block = every_axis(arguments.at("block"), rank);
  const bool last = is(arguments, "layout", "channels_last");
  const std::size_t batch_axes = axes - 1 - rank;
  const std::size_t channel_axis = last ? axes - 1 : batch_axes;
  const std::size_t first = last ? batch_axes : batch_axes + 1;
  const std::int64_t channels = image.shape[channel_axis];

  List shape = image.shape;
  shape[channel_axis] = channels * product(block);
  for (std::size_t d = 0; d < rank; ++d) shape[first + d] = image.shape[first + d] / block[d];
  Array deep = zeros(shape, image);
  for_each(image.shape, [&](const List& from) {
    List to = from;
    List offset(rank);
    for (std::size_t d = 0; d < rank; ++d) {
      offset[d] = from[first + d] % block[d];
      to[first + d] = from[first + d] / block[d];
    }
    to[channel_axis] = deep_channel(arguments, lex(offset, block), product(block), from[channel_axis], channels);
    copy(deep, to, image, from);
  });
  return deep;
}

Array depth_to_space(const Array& deep, const Arguments& arguments) {
  const std::size_t axes = deep.shape.size();
  const std::size_t rank = spatial_rank(arguments, {"block"}, axes - 2);
  const List block = every_axis(arguments.at("block"), rank);
  const bool last = is(arguments, "layout", "channels_last");
  const std::size_t batch_axes = axes - 1 - rank;
  const std::size_t channel_axis = last ? axes - 1 : batch_axes;
  const std::size_t first = last ? batch_axes : batch_axes + 1;
  const std::int64_t channels = deep.shape[channel_axis] / product(block);

  List shape = deep.shape;
  shape[channel_axis] = channels;
  for (std::size_t d = 0; d < rank; ++d) shape[first + d] = deep.shape[first + d] * block[d];
  Array image = zeros(shape, deep);
  for_each(shape, [&](const List& to) {
    List from = to;
    List offset(rank);
    for (std::size_t d = 0; d < rank; ++d) {
      offset[d] = to[first + d] % block[d];
      from[first + d] = to[first + d] / block[d];
    }
    from[channel_axis] = deep_channel(arguments, lex(offset, block), product(block), to[channel_axis], channels);
    copy(image, to, deep, from);
  });
  return image;
}

}  // namespace reference
