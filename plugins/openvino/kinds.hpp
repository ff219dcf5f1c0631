// SPDX-License-Identifier: Apache-2.0
// The kinds of nodes that the extension adds to OpenVINO.
#pragma once

#include <cstddef>
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

enum KindName : std::size_t {
  col2im,
  im2col,
  extract_image_patches,
  space_to_batch,
  batch_to_space,
  space_to_depth,
  depth_to_space,
  pixel_shuffle,
  pixel_unshuffle,
  // TensorFlow's operators, with channels last.
  tensorflow_extract_image_patches,
  tensorflow_space_to_batch,
  tensorflow_batch_to_space,
  tensorflow_space_to_depth,
  tensorflow_depth_to_space,
};

/// Returns all kinds, by their names. They live as long as the process.
const std::vector<Kind>& kinds();
inline const Kind& kind_of(KindName name) {
  return kinds()[name];
}

}  // namespace patchfold::plugins::openvino
