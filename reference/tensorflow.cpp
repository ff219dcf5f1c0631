// SPDX-License-Identifier: Apache-2.0
// TensorFlow: SpaceToBatch(ND), BatchToSpace(ND), SpaceToDepth, DepthToSpace, ExtractImagePatches, ExtractVolumePatches.
#include "reference/array.hpp"
#include "reference/operators.hpp"

namespace reference::tensorflow {
namespace {

/// The extent of the output along one axis, and the number of elements by which the first patch begins before the image.
struct Window {
  std::int64_t out;
  std::int64_t begin;
};

Window window(std::int64_t extent, std::int64_t size, std::int64_t stride, std::int64_t rate, const std::string& padding,
              bool clamp) {
  const std::int64_t effective = (size - 1) * rate + 1;
  if (padding == "VALID") {
    const std::int64_t out = (extent - effective + stride) / stride;  // rounds towards zero; the library refuses a negative extent
    assert(out >= 0);
    return {out, 0};
  }
  const std::int64_t out = extent / stride + (extent % stride > 0 ? 1 : 0);
  std::int64_t total = (out - 1) * stride + effective - extent;
  if (clamp && total < 0) total = 0;
  return {out, total / 2};
}

}  // namespace

// input (N, I1..IM, rest..) -> (N * product of blocks, .., rest..).
Array space_to_batch_nd(const Array& input, const Arguments& arguments) {
  const List block = get<List>(arguments, "block_shape");
  const Pairs paddings = get<Pairs>(arguments, "paddings");
  const std::size_t m = block.size();
  const std::int64_t batch = input.shape[0];
  List shape = input.shape;
  shape[0] *= product(block);
  for (std::size_t d = 0; d < m; ++d) shape[1 + d] = (shape[1 + d] + paddings[d].first + paddings[d].second) / block[d];
  Array output = zeros(shape, input);
  for_each(block, [&](const List& b) {
    for_each(join({{batch}, slice(shape, 1, shape.size())}), [&](const List& y) {
      List from = y;
      for (std::size_t d = 0; d < m; ++d) from[1 + d] = y[1 + d] * block[d] + b[d] - paddings[d].first;
      if (!inside(from, input.shape)) return;
      List to = y;
      to[0] = lex(b, block) * batch + y[0];
      copy(output, to, input, from);
    });
  });
  return output;
}

// input (N, I1..IM, rest..): the inverse of space_to_batch_nd.
Array batch_to_space_nd(const Array& input, const Arguments& arguments) {
  const List block = get<List>(arguments, "block_shape");
  const Pairs crops = get<Pairs>(arguments, "crops");
  const std::size_t m = block.size();
  List shape = input.shape;
  shape[0] /= product(block);
  for (std::size_t d = 0; d < m; ++d) shape[1 + d] = shape[1 + d] * block[d] - crops[d].first - crops[d].second;
  Array output = zeros(shape, input);
  for_each(shape, [&](const List& y) {
    List from = y;
    List b(m);
    for (std::size_t d = 0; d < m; ++d) {
      b[d] = (y[1 + d] + crops[d].first) % block[d];
      from[1 + d] = (y[1 + d] + crops[d].first) / block[d];
    }
    from[0] = lex(b, block) * shape[0] + y[0];
    copy(output, y, input, from);
  });
  return output;
}

// input (N, H, W, C).
Array space_to_batch(const Array& input, const Arguments& arguments) {
  const auto bs = get<std::int64_t>(arguments, "block_size");
  const Pairs paddings = get<Pairs>(arguments, "paddings");
  const std::int64_t batch = input.shape[0];
  Array output = zeros({batch * bs * bs, (input.shape[1] + paddings[0].first + paddings[0].second) / bs,
                        (input.shape[2] + paddings[1].first + paddings[1].second) / bs, input.shape[3]},
                       input);
  for_each(output.shape, [&](const List& o) {
    const std::int64_t offset = o[0] / batch;
    const List from = {o[0] % batch, o[1] * bs + offset / bs - paddings[0].first,
                       o[2] * bs + offset % bs - paddings[1].first, o[3]};
    if (inside(from, input.shape)) copy(output, o, input, from);
  });
  return output;
}

Array batch_to_space(const Array& input, const Arguments& arguments) {
  const auto bs = get<std::int64_t>(arguments, "block_size");
  const Pairs crops = get<Pairs>(arguments, "crops");
  const std::int64_t batch = input.shape[0] / (bs * bs);
  Array output = zeros({batch, input.shape[1] * bs - crops[0].first - crops[0].second,
                        input.shape[2] * bs - crops[1].first - crops[1].second, input.shape[3]},
                       input);
  // Every input element has one place in the output, unless it is cropped.
  for_each(input.shape, [&](const List& i) {
    const std::int64_t offset = i[0] / batch;
    const List to = {i[0] % batch, i[1] * bs + offset / bs - crops[0].first, i[2] * bs + offset % bs - crops[1].first, i[3]};
    if (inside(to, output.shape)) copy(output, to, input, i);
  });
  return output;
}

// (N, H, W, C) or (N, C, H, W); the channel of the deep tensor is block offset * C + c.
Array space_to_depth(const Array& input, const Arguments& arguments) {
  const auto bs = get<std::int64_t>(arguments, "block_size");
  const bool nchw = get<std::string>(arguments, "data_format", "NHWC") == "NCHW";
  const List& s = input.shape;
  const std::int64_t depth = nchw ? s[1] : s[3];
  Array output = zeros(
      nchw ? List{s[0], depth * bs * bs, s[2] / bs, s[3] / bs} : List{s[0], s[1] / bs, s[2] / bs, depth * bs * bs}, input);
  for_each(input.shape, [&](const List& i) {
    const std::int64_t h = nchw ? i[2] : i[1];
    const std::int64_t w = nchw ? i[3] : i[2];
    const std::int64_t channel = (h % bs * bs + w % bs) * depth + (nchw ? i[1] : i[3]);
    copy(output, nchw ? List{i[0], channel, h / bs, w / bs} : List{i[0], h / bs, w / bs, channel}, input, i);
  });
  return output;
}

Array depth_to_space(const Array& input, const Arguments& arguments) {
  const auto bs = get<std::int64_t>(arguments, "block_size");
  const bool nchw = get<std::string>(arguments, "data_format", "NHWC") == "NCHW";
  const List& s = input.shape;
  const std::int64_t depth = (nchw ? s[1] : s[3]) / (bs * bs);
  Array output = zeros(nchw ? List{s[0], depth, s[2] * bs, s[3] * bs} : List{s[0], s[1] * bs, s[2] * bs, depth}, input);
  for_each(input.shape, [&](const List& i) {
    const std::int64_t channel = nchw ? i[1] : i[3];
    const std::int64_t offset = channel / depth;
    const std::int64_t h = (nchw ? i[2] : i[1]) * bs + offset / bs;
    const std::int64_t w = (nchw ? i[3] : i[2]) * bs + offset % bs;
    copy(output, nchw ? List{i[0], channel % depth, h, w} : List{i[0], h, w, channel % depth}, input, i);
  });
  return output;
}

// images (N, H, W, C) -> (N, OH, OW, kh*kw*C), channel = tap * C + c.
Array extract_image_patches(const Array& images, const Arguments& arguments) {
  const List ksizes = get<List>(arguments, "ksizes");
  const List strides = get<List>(arguments, "strides");
  const List rates = get<List>(arguments, "rates");
  const auto padding = get<std::string>(arguments, "padding");
  const std::int64_t depth = images.shape[3];
  const Window rows = window(images.shape[1], ksizes[1], strides[1], rates[1], padding, true);
  const Window columns = window(images.shape[2], ksizes[2], strides[2], rates[2], padding, true);
  Array output = zeros({images.shape[0], rows.out, columns.out, ksizes[1] * ksizes[2] * depth}, images);
  for_each({images.shape[0], rows.out, columns.out, ksizes[1], ksizes[2], depth}, [&](const List& i) {
    const std::int64_t y = i[1] * strides[1] - rows.begin + i[3] * rates[1];
    const std::int64_t x = i[2] * strides[2] - columns.begin + i[4] * rates[2];
    const List from = {i[0], y, x, i[5]};
    if (inside(from, images.shape)) copy(output, {i[0], i[1], i[2], (i[3] * ksizes[2] + i[4]) * depth + i[5]}, images, from);
  });
  return output;
}

// input (N, D, H, W, C) -> (N, OD, OH, OW, kd*kh*kw*C). With SAME and a stride larger than the kernel, the first patch starts
// inside of the volume, as in TensorFlow.
Array extract_volume_patches(const Array& input, const Arguments& arguments) {
  const List ksizes = get<List>(arguments, "ksizes");
  const List strides = get<List>(arguments, "strides");
  const auto padding = get<std::string>(arguments, "padding");
  const std::int64_t depth = input.shape[4];
  Window w[3] = {};
  for (std::size_t d = 0; d < 3; ++d) w[d] = window(input.shape[1 + d], ksizes[1 + d], strides[1 + d], 1, padding, false);
  Array output = zeros({input.shape[0], w[0].out, w[1].out, w[2].out, ksizes[1] * ksizes[2] * ksizes[3] * depth}, input);
  for_each(output.shape, [&](const List& o) {
    const std::int64_t tap = o[4] / depth;
    const std::int64_t k = tap / (ksizes[2] * ksizes[3]);
    const std::int64_t j = tap / ksizes[3] % ksizes[2];
    const std::int64_t i = tap % ksizes[3];
    const List from = {o[0], o[1] * strides[1] - w[0].begin + k, o[2] * strides[2] - w[1].begin + j,
                       o[3] * strides[3] - w[2].begin + i, o[4] % depth};
    if (inside(from, input.shape)) copy(output, o, input, from);
  });
  return output;
}

const Listed listed({
    {"tensorflow.SpaceToBatch", space_to_batch},
    {"tensorflow.SpaceToBatchND", space_to_batch_nd},
    {"tensorflow.BatchToSpace", batch_to_space},
    {"tensorflow.BatchToSpaceND", batch_to_space_nd},
    {"tensorflow.SpaceToDepth", space_to_depth},
    {"tensorflow.DepthToSpace", depth_to_space},
    {"tensorflow.ExtractImagePatches", extract_image_patches},
    {"tensorflow.ExtractVolumePatches", extract_volume_patches},
});

}  // namespace reference::tensorflow
