// SPDX-License-Identifier: Apache-2.0
// OpenVINO: Col2Im-15, ExtractImagePatches-3, SpaceToBatch-2, BatchToSpace-2, SpaceToDepth-1, DepthToSpace-1.
#include "reference/array.hpp"
#include "reference/operators.hpp"
#include "reference/sum.hpp"

namespace reference::openvino {

// data (N, C*K, L) or (C*K, L) -> (N, C, H, W) or (C, H, W).
Array col2im(const Array& data, const Arguments& arguments) {
  const List size = get<List>(arguments, "output_size");
  const List kernel = get<List>(arguments, "kernel_size");
  const List strides = get<List>(arguments, "strides", {1, 1});
  const List dilations = get<List>(arguments, "dilations", {1, 1});
  const List begin = get<List>(arguments, "pads_begin", {0, 0});
  const List end = get<List>(arguments, "pads_end", {0, 0});
  const bool batched = data.shape.size() == 3;
  const std::int64_t batch = batched ? data.shape[0] : 1;
  const std::int64_t taps = kernel[0] * kernel[1];
  const std::int64_t channels = data.shape[batched ? 1 : 0] / taps;

  std::int64_t blocks[2];
  for (int d = 0; d < 2; ++d) {
    const std::int64_t room = size[d] + begin[d] + end[d] - dilations[d] * (kernel[d] - 1) - 1;
    blocks[d] = room < 0 ? 0 : room / strides[d] + 1;
  }

  Array output = zeros(batched ? List{batch, channels, size[0], size[1]} : List{channels, size[0], size[1]}, data);
  for_each({batch, channels, size[0], size[1]}, [&](const List& i) {
    Sum sum(data.dtype);
    for (std::int64_t kh = 0; kh < kernel[0]; ++kh) {
      const std::int64_t row = i[2] + begin[0] - kh * dilations[0];
      if (row < 0 || row % strides[0] != 0 || row / strides[0] >= blocks[0]) continue;
      for (std::int64_t kw = 0; kw < kernel[1]; ++kw) {
        const std::int64_t column = i[3] + begin[1] - kw * dilations[1];
        if (column < 0 || column % strides[1] != 0 || column / strides[1] >= blocks[1]) continue;
        const std::int64_t r = i[1] * taps + kh * kernel[1] + kw;
        const std::int64_t j = row / strides[0] * blocks[1] + column / strides[1];
        sum.add(at(data, batched ? List{i[0], r, j} : List{r, j}));
      }
    }
    sum.store(at(output, batched ? i : slice(i, 1, 4)));
  });
  return output;
}

// (N, C, H, W) -> (N, kh*kw*C, OH, OW), channel = tap * C + c.
Array extract_image_patches(const Array& data, const Arguments& arguments) {
  const List sizes = get<List>(arguments, "sizes");
  const List strides = get<List>(arguments, "strides");
  const List rates = get<List>(arguments, "rates");
  const auto auto_pad = get<std::string>(arguments, "auto_pad");
  const std::int64_t channels = data.shape[1];
  const List image = {data.shape[2], data.shape[3]};
  List out(2);
  List begin(2, 0);
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t effective = (sizes[d] - 1) * rates[d] + 1;
    if (auto_pad == "valid") {
      out[d] = image[d] >= effective ? (image[d] - effective) / strides[d] + 1 : 0;
    } else {
      out[d] = image[d] / strides[d] + (image[d] % strides[d] > 0 ? 1 : 0);
      const std::int64_t total = (out[d] - 1) * strides[d] + effective - image[d];
      if (total > 0) begin[d] = auto_pad == "same_lower" ? (total + 1) / 2 : total / 2;
    }
  }
  Array output = zeros({data.shape[0], sizes[0] * sizes[1] * channels, out[0], out[1]}, data);
  for_each(output.shape, [&](const List& o) {
    const std::int64_t tap = o[1] / channels;
    const std::int64_t y = o[2] * strides[0] - begin[0] + tap / sizes[1] * rates[0];
    const std::int64_t x = o[3] * strides[1] - begin[1] + tap % sizes[1] * rates[1];
    const List from = {o[0], o[1] % channels, y, x};
    if (inside(from, data.shape)) copy(output, o, data, from);
  });
  return output;
}

// Lists have an entry for every axis; the entries of the batch axis are 1, 0 and 0.
Array space_to_batch(const Array& data, const Arguments& arguments) {
  const List block = get<List>(arguments, "block_shape");
  const List begin = get<List>(arguments, "pads_begin");
  const List end = get<List>(arguments, "pads_end");
  List shape = {data.shape[0] * product(block)};
  for (std::size_t d = 1; d < block.size(); ++d) shape.push_back((data.shape[d] + begin[d] + end[d]) / block[d]);
  Array output = zeros(shape, data);
  for_each(shape, [&](const List& o) {
    // The output's batch index is the block offset times the input's batch size, plus the input's batch index.
    List from = o;
    from[0] = o[0] % data.shape[0];
    std::int64_t offset = o[0] / data.shape[0];
    for (std::size_t d = block.size() - 1; d >= 1; --d) {
      from[d] = o[d] * block[d] + offset % block[d] - begin[d];
      offset /= block[d];
    }
    if (inside(from, data.shape)) copy(output, o, data, from);
  });
  return output;
}

Array batch_to_space(const Array& data, const Arguments& arguments) {
  const List block = get<List>(arguments, "block_shape");
  const List begin = get<List>(arguments, "crops_begin");
  const List end = get<List>(arguments, "crops_end");
  List shape = {data.shape[0] / product(block)};
  for (std::size_t d = 1; d < block.size(); ++d) shape.push_back(data.shape[d] * block[d] - begin[d] - end[d]);
  Array output = zeros(shape, data);
  for_each(shape, [&](const List& o) {
    List from = o;
    std::int64_t offset = 0;
    for (std::size_t d = 1; d < block.size(); ++d) {
      offset = offset * block[d] + (o[d] + begin[d]) % block[d];
      from[d] = (o[d] + begin[d]) / block[d];
    }
    from[0] = offset * shape[0] + o[0];
    copy(output, o, data, from);
  });
  return output;
}

// (N, C, D1..DR) -> (N, C * b^R, D1/b..DR/b).
Array space_to_depth(const Array& data, const Arguments& arguments) {
  const auto b = get<std::int64_t>(arguments, "block_size", 1);
  const bool depth_first = get<std::string>(arguments, "blocks_mode") == "depth_first";
  const std::size_t rank = data.shape.size() - 2;
  const List block(rank, b);
  List shape = {data.shape[0], data.shape[1] * product(block)};
  for (std::size_t d = 0; d < rank; ++d) shape.push_back(data.shape[2 + d] / b);
  Array output = zeros(shape, data);
  for_each(shape, [&](const List& o) {
    const std::int64_t c = depth_first ? o[1] / product(block) : o[1] % data.shape[1];
    std::int64_t offset = depth_first ? o[1] % product(block) : o[1] / data.shape[1];
    List from = o;
    from[1] = c;
    for (std::size_t d = rank; d-- > 0; offset /= b) from[2 + d] = o[2 + d] * b + offset % b;
    copy(output, o, data, from);
  });
  return output;
}

// (N, C * b^R, D1..DR) -> (N, C, D1*b..DR*b).
Array depth_to_space(const Array& data, const Arguments& arguments) {
  const auto b = get<std::int64_t>(arguments, "block_size", 1);
  const bool depth_first = get<std::string>(arguments, "blocks_mode") == "depth_first";
  const std::size_t rank = data.shape.size() - 2;
  const List block(rank, b);
  const std::int64_t channels = data.shape[1] / product(block);
  List shape = {data.shape[0], channels};
  for (std::size_t d = 0; d < rank; ++d) shape.push_back(data.shape[2 + d] * b);
  Array output = zeros(shape, data);
  for_each(shape, [&](const List& o) {
    List from = o;
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      offset = offset * b + o[2 + d] % b;
      from[2 + d] = o[2 + d] / b;
    }
    from[1] = depth_first ? o[1] * product(block) + offset : offset * channels + o[1];
    copy(output, o, data, from);
  });
  return output;
}

const Listed listed({
    {"openvino.Col2Im-15", col2im},
    {"openvino.ExtractImagePatches-3", extract_image_patches},
    {"openvino.SpaceToBatch-2", space_to_batch},
    {"openvino.BatchToSpace-2", batch_to_space},
    {"openvino.SpaceToDepth-1", space_to_depth},
    {"openvino.DepthToSpace-1", depth_to_space},
});

}  // namespace reference::openvino
