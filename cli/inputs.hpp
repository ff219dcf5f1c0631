// SPDX-License-Identifier: Apache-2.0
// Tensors on their way from files to operators: reading, converting, and arranging the axes of pictures.
#pragma once

#include "cli/arguments.hpp"
#include "formats/metadata.hpp"
#include "formats/npy.hpp"

namespace patchfold::cli {

/// Returns the data input: an array, or a picture as H x W x C or C x H x W, converted if the request asks for it. `metadata` gets
/// the metadata of a picture.
formats::LoadedTensor load_data(const RunRequest& request, formats::Metadata& metadata);

/// Returns the integers of a tensor as a shape input. Throws Error(type, length, overflow).
IndexTensor index_tensor(const OperatorSpec& op, const ArgumentSpec& argument, const formats::LoadedTensor& tensor);

/// Returns a picture of H x W x C as C x H x W.
ConstTensorView channels_first(const ConstTensorView& picture);
/// Returns a picture of C x H x W as H x W x C.
ConstTensorView channels_last(const ConstTensorView& picture);
/// Returns the picture with a batch axis of length 1 in front.
ConstTensorView with_batch(const ConstTensorView& picture);

/// Returns the tensor with its elements converted, in the same order in memory. A number that the type cannot hold becomes the
/// nearest one that it holds: floating-point numbers are rounded to nearest, ties to even, and integers are clipped. NaN becomes 0
/// in an integer type; any number but 0 becomes true. Complex numbers convert only to complex types. Throws Error(dtype,
/// out_of_memory) that names the subject.
formats::LoadedTensor convert(const formats::LoadedTensor& tensor, DType dtype, const formats::Subject& subject);

/// Sets the operator's layout to that of its pictures: channels last, or first with --chw. If the command line names a
/// layout, or the operator has a fixed layout, this layout must be that of the pictures. For a picture, a single number for
/// the kernel or the block becomes two. Throws Error(usage).
void settle_layout(RunRequest& request);

/// Returns the request with the other layout, channels first or last, if the operator has a layout.
RunRequest with_other_layout(const RunRequest& request);

}  // namespace patchfold::cli
