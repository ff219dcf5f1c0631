// SPDX-License-Identifier: Apache-2.0
// The nodes that this extension brings to OpenVINO.
#pragma once

#include <openvino/core/type.hpp>
#include <vector>

#include "plugins/common/operation.hpp"

namespace patchfold::plugins::openvino {

/// The type of a node: what it is called, and which operator of the library it is.
struct Kind {
  ov::DiscreteTypeInfo
      type;  ///< of the node, unlike any that OpenVINO has, with a version, so that a saved model is read again
  Definition definition;
  std::vector<Setting> attributes;  ///< those of the node, with what they are where none is given
  /// The axes of the output, for data of so many axes and so many spatial ones.
  int (*rank)(int data, int spatial);
  /// From this many axes of the data on, the first one is a batch, which the output has too; 0: it has another.
  int batched = 0;
};

/// Every kind lives as long as the process.
const Kind& col2im();
const Kind& im2col();
const Kind& extract_image_patches();
const Kind& space_to_batch();
const Kind& batch_to_space();
const Kind& space_to_depth();
const Kind& depth_to_space();
const Kind& pixel_shuffle();
const Kind& pixel_unshuffle();
/// TensorFlow's, with channels last.
const Kind& tensorflow_extract_image_patches();
const Kind& tensorflow_space_to_batch();
const Kind& tensorflow_batch_to_space();
const Kind& tensorflow_space_to_depth();
const Kind& tensorflow_depth_to_space();
const std::vector<const Kind*>& all_kinds();

}  // namespace patchfold::plugins::openvino
