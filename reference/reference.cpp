// SPDX-License-Identifier: Apache-2.0
#include "reference/reference.hpp"

#include <cassert>
#include <functional>

#include "reference/operators.hpp"

namespace reference {
namespace {

using Function = std::function<Array(const Array&, const Arguments&)>;

const std::map<std::string, Function>& table() {
  static const std::map<std::string, Function> functions = {
      {"unfold", unfold},
      {"fold", [](const Array& data, const Arguments& arguments) { return fold(data, arguments, nullptr); }},
      {"coverage", coverage},
      {"reorder", reorder},
      {"space_to_batch", space_to_batch},
      {"batch_to_space", batch_to_space},
      {"space_to_depth", space_to_depth},
      {"depth_to_space", depth_to_space},
      {"onnx.Col2Im-18", onnx::col2im},
      {"onnx.SpaceToDepth-1", onnx::space_to_depth},
      {"onnx.SpaceToDepth-13", onnx::space_to_depth},
      {"onnx.SpaceToDepth-28", onnx::space_to_depth},
      {"onnx.DepthToSpace-1", onnx::depth_to_space},
      {"onnx.DepthToSpace-11", onnx::depth_to_space},
      {"onnx.DepthToSpace-13", onnx::depth_to_space},
      {"onnx.DepthToSpace-28", onnx::depth_to_space},
      {"openvino.Col2Im-15", openvino::col2im},
      {"openvino.ExtractImagePatches-3", openvino::extract_image_patches},
      {"openvino.SpaceToBatch-2", openvino::space_to_batch},
      {"openvino.BatchToSpace-2", openvino::batch_to_space},
      {"openvino.SpaceToDepth-1", openvino::space_to_depth},
      {"openvino.DepthToSpace-1", openvino::depth_to_space},
      {"tensorflow.SpaceToBatch", tensorflow::space_to_batch},
      {"tensorflow.SpaceToBatchND", tensorflow::space_to_batch_nd},
      {"tensorflow.BatchToSpace", tensorflow::batch_to_space},
      {"tensorflow.BatchToSpaceND", tensorflow::batch_to_space_nd},
      {"tensorflow.SpaceToDepth", tensorflow::space_to_depth},
      {"tensorflow.DepthToSpace", tensorflow::depth_to_space},
      {"tensorflow.ExtractImagePatches", tensorflow::extract_image_patches},
      {"tensorflow.ExtractVolumePatches", tensorflow::extract_volume_patches},
      {"torch.fold", torch::fold},
      {"torch.unfold", torch::unfold},
      {"torch.pixel_shuffle", torch::pixel_shuffle},
      {"torch.pixel_unshuffle", torch::pixel_unshuffle},
  };
  return functions;
}

}  // namespace

std::vector<std::string> operators() {
  std::vector<std::string> names;
  for (const auto& row : table()) names.push_back(row.first);
  return names;
}

Array run(const std::string& op, const Array& data, const Arguments& arguments, const Array* held) {
  if (op == "fold") return fold(data, arguments, held);
  return table().at(op)(data, arguments);
}

}  // namespace reference
