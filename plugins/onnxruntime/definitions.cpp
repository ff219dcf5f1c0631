// SPDX-License-Identifier: Apache-2.0
#include "plugins/onnxruntime/definitions.hpp"

namespace patchfold::plugins::ort {

const std::vector<Definition>& definitions() {
  static const std::vector<Definition> all = {
      {"Im2Col",
       "unfold",
       {},
       {{"block_shape", "kernel_size"},
        {"strides", "stride"},
        {"dilations", "dilation"},
        {"pads", "padding", Argument::Pairs::begins_ends}}},
      {"Col2Im", "onnx.Col2Im", {{"image_shape"}, {"block_shape"}}, {{"dilations"}, {"pads"}, {"strides"}}},
      {"ExtractImagePatches", "tensorflow.ExtractImagePatches", {}, {{"ksizes"}, {"strides"}, {"rates"}, {"padding"}}},
      {"SpaceToBatch", "openvino.SpaceToBatch", {{"block_shape"}, {"pads_begin"}, {"pads_end"}}, {}},
      {"BatchToSpace", "openvino.BatchToSpace", {{"block_shape"}, {"crops_begin"}, {"crops_end"}}, {}},
      {"SpaceToDepth", "onnx.SpaceToDepth", {}, {{"blocksize"}, {"mode"}}},
      {"DepthToSpace", "onnx.DepthToSpace", {}, {{"blocksize"}, {"mode"}}},
  };
  return all;
}

}  // namespace patchfold::plugins::ort
