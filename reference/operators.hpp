// SPDX-License-Identifier: Apache-2.0
// The operators by file. `held` is used by fold alone.
#pragma once

#include "reference/reference.hpp"

namespace reference {

// windows.cpp
Array unfold(const Array& image, const Arguments& arguments);
Array fold(const Array& columns, const Arguments& arguments, const Array* held);
Array coverage(const Array& type, const Arguments& arguments);

// blocks.cpp
Array reorder(const Array& columns, const Arguments& arguments);
Array space_to_batch(const Array& image, const Arguments& arguments);
Array batch_to_space(const Array& batches, const Arguments& arguments);
Array space_to_depth(const Array& image, const Arguments& arguments);
Array depth_to_space(const Array& deep, const Arguments& arguments);

namespace onnx {
Array col2im(const Array& input, const Arguments& arguments);
Array space_to_depth(const Array& input, const Arguments& arguments);
Array depth_to_space(const Array& input, const Arguments& arguments);
}  // namespace onnx

namespace openvino {
Array col2im(const Array& data, const Arguments& arguments);
Array extract_image_patches(const Array& data, const Arguments& arguments);
Array space_to_batch(const Array& data, const Arguments& arguments);
Array batch_to_space(const Array& data, const Arguments& arguments);
Array space_to_depth(const Array& data, const Arguments& arguments);
Array depth_to_space(const Array& data, const Arguments& arguments);
}  // namespace openvino

namespace tensorflow {
Array space_to_batch(const Array& input, const Arguments& arguments);
Array space_to_batch_nd(const Array& input, const Arguments& arguments);
Array batch_to_space(const Array& input, const Arguments& arguments);
Array batch_to_space_nd(const Array& input, const Arguments& arguments);
Array space_to_depth(const Array& input, const Arguments& arguments);
Array depth_to_space(const Array& input, const Arguments& arguments);
Array extract_image_patches(const Array& images, const Arguments& arguments);
Array extract_volume_patches(const Array& input, const Arguments& arguments);
}  // namespace tensorflow

namespace torch {
Array fold(const Array& input, const Arguments& arguments);
Array unfold(const Array& input, const Arguments& arguments);
Array pixel_shuffle(const Array& input, const Arguments& arguments);
Array pixel_unshuffle(const Array& input, const Arguments& arguments);
}  // namespace torch

}  // namespace reference
