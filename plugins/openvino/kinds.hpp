// SPDX-License-Identifier: Apache-2.0
// The kinds of nodes that the extension adds to OpenVINO.
#pragma once

#include <openvino/core/type.hpp>
#include <vector>

#include "plugins/common/operation.hpp"

namespace patchfold::plugins::openvino {

/// The type of a node: its name, and its operator of the library.
struct Kind {
  ov::DiscreteTypeInfo
      type;  ///< the node's type: unlike any type of OpenVINO, with a version, so that saved models can be read
  Definition definition;
  std::vector<Setting> attributes;  ///< the node's attributes, with their defaults
  /// Returns the number of axes of the output, for data of `data` axes of which `spatial` are spatial.
  int (*rank)(int data, int spatial);
  /// If the data has at least this many axes, its first axis is a batch that the output keeps; 0: the output has another batch.
  int batched = 0;
};

/// Return a kind, which lives as long as the process.
const Kind& col2im();
const Kind& im2col();
const Kind& extract_image_patches();
const Kind& space_to_batch();
const Kind& batch_to_space();
const Kind& space_to_depth();
const Kind& depth_to_space();
const Kind& pixel_shuffle();
const Kind& pixel_unshuffle();
/// Returns TensorFlow's operator, with channels last.
const Kind& tensorflow_extract_image_patches();
const Kind& tensorflow_space_to_batch();
const Kind& tensorflow_batch_to_space();
const Kind& tensorflow_space_to_depth();
const Kind& tensorflow_depth_to_space();
const std::vector<const Kind*>& all_kinds();

}  // namespace patchfold::plugins::openvino
