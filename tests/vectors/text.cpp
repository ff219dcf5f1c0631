// SPDX-License-Identifier: Apache-2.0
#include "vectors/text.hpp"

namespace patchfold::vectors {
namespace {

std::string text(std::int64_t value) {
  return std::to_string(value);
}
std::string text(const Dims& values) {
  std::string result;
  for (const auto value : values) result += (result.empty() ? "" : ",") + std::to_string(value);
  return result;
}
std::string text(const Axes& values) {
  if (values.is_scalar()) return text(values.values()[0]);
  return text(values.values()) + (values.values().size() == 1 ? "," : "");
}
std::string text(const PadsList& values) {
  std::string result;
  for (int i = 0; i < values.size(); ++i)
    result += (result.empty() ? "" : ",") + std::to_string(values[i].begin) + ":" + std::to_string(values[i].end);
  return result;
}
std::string text(const Padding& value) {
  return value.is_scalar() ? text(value.pads()[0].begin) : text(value.pads());
}
template <class Enum>
requires std::is_enum_v<Enum> std::string text(Enum value) {
  return std::string(word_of(value));
}
template <class T>
std::string text(const std::optional<T>& value) {
  return value ? text(*value) : "";
}

struct Word {
  template <class T>
  Word(std::string_view name, const T& value) : text(" " + std::string(name) + "=" + vectors::text(value)) {}
  std::string text;
};

/// An empty value is one that is left out.
std::string joined(std::string_view op, std::initializer_list<Word> words) {
  std::string result(op);
  for (const Word& word : words)
    if (word.text.back() != '=') result += word.text;
  return result;
}

}  // namespace

std::string text_of(const Fold& op) {
  return joined(op.name, {{"output_size", op.output_size},
                          {"kernel_size", op.kernel_size},
                          {"stride", op.stride},
                          {"dilation", op.dilation},
                          {"padding", op.padding},
                          {"layout", op.layout},
                          {"order", op.order},
                          {"positions", op.positions},
                          {"reduce", op.reduce},
                          {"fill", op.fill.as_signed()}});
}
std::string text_of(const keras::ExtractPatches& op) {
  return joined(op.name, {{"size", op.size},
                          {"strides", op.strides},
                          {"dilation_rate", op.dilation_rate},
                          {"padding", op.padding},
                          {"data_format", op.data_format}});
}
std::string text_of(const keras::Fold& op) {
  return joined(op.name, {{"output_size", op.output_size},
                          {"kernel_size", op.kernel_size},
                          {"dilation", op.dilation},
                          {"padding", op.padding},
                          {"stride", op.stride}});
}
std::string text_of(const keras::Unfold& op) {
  return joined(
      op.name, {{"kernel_size", op.kernel_size}, {"dilation", op.dilation}, {"padding", op.padding}, {"stride", op.stride}});
}
std::string text_of(const onnx::Col2Im& op) {
  return joined(op.name, {{"image_shape", op.image_shape},
                          {"block_shape", op.block_shape},
                          {"dilations", op.dilations},
                          {"pads", op.pads},
                          {"strides", op.strides}});
}
std::string text_of(const onnx::DepthToSpace& op) {
  return joined(op.name, {{"blocksize", op.blocksize}, {"mode", op.mode}});
}
std::string text_of(const onnx::SpaceToDepth& op) {
  return joined(op.name, {{"blocksize", op.blocksize}, {"mode", op.mode}});
}
std::string text_of(const openvino::BatchToSpace& op) {
  return joined(op.name, {{"block_shape", op.block_shape}, {"crops_begin", op.crops_begin}, {"crops_end", op.crops_end}});
}
std::string text_of(const openvino::Col2Im& op) {
  return joined(op.name, {{"output_size", op.output_size},
                          {"kernel_size", op.kernel_size},
                          {"strides", op.strides},
                          {"dilations", op.dilations},
                          {"pads_begin", op.pads_begin},
                          {"pads_end", op.pads_end}});
}
std::string text_of(const openvino::DepthToSpace& op) {
  return joined(op.name, {{"blocks_mode", op.blocks_mode}, {"block_size", op.block_size}});
}
std::string text_of(const openvino::ExtractImagePatches& op) {
  return joined(op.name, {{"sizes", op.sizes}, {"strides", op.strides}, {"rates", op.rates}, {"auto_pad", op.auto_pad}});
}
std::string text_of(const openvino::SpaceToBatch& op) {
  return joined(op.name, {{"block_shape", op.block_shape}, {"pads_begin", op.pads_begin}, {"pads_end", op.pads_end}});
}
std::string text_of(const openvino::SpaceToDepth& op) {
  return joined(op.name, {{"blocks_mode", op.blocks_mode}, {"block_size", op.block_size}});
}
std::string text_of(const tensorflow::BatchToSpace& op) {
  return joined(op.name, {{"crops", op.crops}, {"block_size", op.block_size}});
}
std::string text_of(const tensorflow::BatchToSpaceND& op) {
  return joined(op.name, {{"block_shape", op.block_shape}, {"crops", op.crops}});
}
std::string text_of(const tensorflow::DepthToSpace& op) {
  return joined(op.name, {{"block_size", op.block_size}, {"data_format", op.data_format}});
}
std::string text_of(const tensorflow::ExtractImagePatches& op) {
  return joined(op.name, {{"ksizes", op.ksizes}, {"strides", op.strides}, {"rates", op.rates}, {"padding", op.padding}});
}
std::string text_of(const tensorflow::ExtractVolumePatches& op) {
  return joined(op.name, {{"ksizes", op.ksizes}, {"strides", op.strides}, {"padding", op.padding}});
}
std::string text_of(const tensorflow::SpaceToBatch& op) {
  return joined(op.name, {{"paddings", op.paddings}, {"block_size", op.block_size}});
}
std::string text_of(const tensorflow::SpaceToBatchND& op) {
  return joined(op.name, {{"block_shape", op.block_shape}, {"paddings", op.paddings}});
}
std::string text_of(const tensorflow::SpaceToDepth& op) {
  return joined(op.name, {{"block_size", op.block_size}, {"data_format", op.data_format}});
}
std::string text_of(const torch::Fold& op) {
  return joined(op.name, {{"output_size", op.output_size},
                          {"kernel_size", op.kernel_size},
                          {"dilation", op.dilation},
                          {"padding", op.padding},
                          {"stride", op.stride}});
}
std::string text_of(const torch::PixelShuffle& op) {
  return joined(op.name, {{"upscale_factor", op.upscale_factor}});
}
std::string text_of(const torch::PixelUnshuffle& op) {
  return joined(op.name, {{"downscale_factor", op.downscale_factor}});
}
std::string text_of(const torch::Unfold& op) {
  return joined(
      op.name, {{"kernel_size", op.kernel_size}, {"dilation", op.dilation}, {"padding", op.padding}, {"stride", op.stride}});
}

std::string text_of(std::string_view op, const std::vector<Argument>& arguments) {
  std::string result(op);
  for (const Argument& argument : arguments) result += " " + argument.name + "=" + to_string(argument.value);
  return result;
}

}  // namespace patchfold::vectors
