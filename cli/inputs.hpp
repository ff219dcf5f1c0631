// SPDX-License-Identifier: Apache-2.0
// Loads files as the input tensors of operators.
#pragma once

#include "cli/arguments.hpp"
#include "formats/metadata.hpp"
#include "formats/npy.hpp"

namespace patchfold::cli {

/// Returns the data input: an array, or a picture as H x W x C or C x H x W, converted if the request asks for a conversion.
/// `metadata` gets the metadata of a picture.
formats::LoadedTensor load_data(const RunRequest& request, formats::Metadata& metadata);

/// Returns a tensor of integers as a shape input. Throws Error(type, length, overflow).
IndexTensor index_tensor(const OperatorSpec& op, const ArgumentSpec& argument, const formats::LoadedTensor& tensor);

/// Returns a picture of H x W x C as C x H x W.
ConstTensorView channels_first(const ConstTensorView& picture);
/// Returns a picture of C x H x W as H x W x C.
ConstTensorView channels_last(const ConstTensorView& picture);
/// Returns the picture with a batch axis of length 1 in front.
ConstTensorView with_batch(const ConstTensorView& picture);

}  // namespace patchfold::cli
