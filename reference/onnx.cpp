// SPDX-License-Identifier: Apache-2.0
// ONNX: Col2Im, SpaceToDepth, DepthToSpace.
#include "reference/array.hpp"
#include "reference/operators.hpp"
#include "reference/sum.hpp"

namespace reference::onnx {

namespace {

/// Returns a list argument; `otherwise` if the argument is left out or empty.
List list_or(const Arguments& arguments, const std::string& name, const List& otherwise) {
  const List given = get<List>(arguments, name, otherwise);
  return given.empty() ? otherwise : given;
}

}  // namespace

// input (N, C*K, L) -> (N, C, I1..IR). Every column element is added to its pixel, in ascending order of the taps.
Array col2im(const Array& input, const Arguments& arguments) {
  const List image = get<List>(arguments, "image_shape");
  const List block = get<List>(arguments, "block_shape");
  const std::size_t rank = image.size();
  const List strides = list_or(arguments, "strides", List(rank, 1));
  const List dilations = list_or(arguments, "dilations", List(rank, 1));
  const List pads = list_or(arguments, "pads", List(2 * rank, 0));  // all begins, then all ends
  const std::int64_t batch = input.shape[0];
  const std::int64_t channels = input.shape[1] / product(block);

  List positions;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t slack = image[d] + pads[d] + pads[rank + d] - dilations[d] * (block[d] - 1) - 1;
    positions.push_back(slack < 0 ? 0 : slack / strides[d] + 1);
  }

  Array output = zeros(join({{batch, channels}, image}), input);
  std::vector<Sum> sums(static_cast<std::size_t>(product(output.shape)), Sum(input.dtype));
  for (std::int64_t n = 0; n < batch; ++n) {
    for (std::int64_t c = 0; c < channels; ++c) {
      for_each(block, [&](const List& q) {
        for_each(positions, [&](const List& b) {
          List p(rank);
          for (std::size_t d = 0; d < rank; ++d) p[d] = b[d] * strides[d] + q[d] * dilations[d] - pads[d];
          if (!inside(p, image)) return;
          sums[static_cast<std::size_t>(lex(join({{n, c}, p}), output.shape))].add(
              at(input, {n, c * product(block) + lex(q, block), lex(b, positions)}));
        });
      });
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i].store(output.bytes.data() + i * output.element_size);
  return output;
}

// (N, C, H, W) -> (N, C*b*b, H/b, W/b). With DCR, the block offset varies slowest along the channels; with CRD, it varies
// fastest.
Array space_to_depth(const Array& input, const Arguments& arguments) {
  const auto b = get<std::int64_t>(arguments, "blocksize");
  const bool crd = get<std::string>(arguments, "mode", "DCR") == "CRD";
  const std::int64_t channels = input.shape[1];
  Array output = zeros({input.shape[0], channels * b * b, input.shape[2] / b, input.shape[3] / b}, input);
  for_each(input.shape, [&](const List& x) {
    const std::int64_t offset = x[2] % b * b + x[3] % b;
    const std::int64_t channel = crd ? x[1] * b * b + offset : offset * channels + x[1];
    copy(output, {x[0], channel, x[2] / b, x[3] / b}, input, x);
  });
  return output;
}

// (N, C, H, W) -> (N, C/(b*b), H*b, W*b): reshape, transpose, reshape.
Array depth_to_space(const Array& input, const Arguments& arguments) {
  const auto b = get<std::int64_t>(arguments, "blocksize");
  const bool crd = get<std::string>(arguments, "mode", "DCR") == "CRD";
  const std::int64_t batch = input.shape[0];
  const std::int64_t channels = input.shape[1] / (b * b);
  const std::int64_t height = input.shape[2];
  const std::int64_t width = input.shape[3];
  Array output = zeros({batch, channels, height * b, width * b}, input);
  for_each({batch, b, b, channels, height, width}, [&](const List& i) {
    const auto row = i[1];
    const auto column = i[2];
    const auto c = i[3];
    const std::int64_t channel = crd ? lex({c, row, column}, {channels, b, b}) : lex({row, column, c}, {b, b, channels});
    copy(output, {i[0], c, i[4] * b + row, i[5] * b + column}, input, {i[0], channel, i[4], i[5]});
  });
  return output;
}

const Listed listed({
    {"onnx.Col2Im-18", col2im},
    {"onnx.SpaceToDepth-1", space_to_depth},
    {"onnx.SpaceToDepth-13", space_to_depth},
    {"onnx.SpaceToDepth-28", space_to_depth},
    {"onnx.DepthToSpace-1", depth_to_space},
    {"onnx.DepthToSpace-11", depth_to_space},
    {"onnx.DepthToSpace-13", depth_to_space},
    {"onnx.DepthToSpace-28", depth_to_space},
});

}  // namespace reference::onnx
