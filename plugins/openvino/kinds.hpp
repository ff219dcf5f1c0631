// SPDX-License-Identifier: Apache-2.0
// The kinds of nodes that the extension adds to OpenVINO.
#pragma once

#include <cstddef>
#include <openvino/core/type.hpp>
#include <vector>

#include "plugins/common/operation.hpp"

namespace patchfold::plugins::openvino {

/// A kind of node: its type in OpenVINO, its operator in the library, and its attributes.
struct Kind {
  ov::DiscreteTypeInfo
      type;  ///< unlike every type of OpenVINO's own, and with a version, so that saved models can be read
  Definition definition;
  std::vector<Setting> attributes;  ///< the node's attributes, with their defaults
  /// Returns the number of axes of the output, for data with `data` axes, `spatial` of which are spatial.
  int (*rank)(int data, int spatial);
  /// If the data has at least this many axes, its first axis is a batch that the output keeps. 0: the batch of the output
  /// differs from that of the data.
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

/// Returns all kinds, in the order of KindName. They live as long as the process.
const std::vector<Kind>& kinds();
inline const Kind& kind_of(KindName name) {
  return kinds()[name];
}

}  // namespace patchfold::plugins::openvino
