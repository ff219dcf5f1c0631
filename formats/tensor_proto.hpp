// SPDX-License-Identifier: Apache-2.0
// ONNX's TensorProto as a tensor.
#pragma once

#include <onnx/onnx_pb.h>

#include "formats/file.hpp"
#include "formats/npy.hpp"

namespace patchfold::formats {

/// The library's element type for TensorProto.DataType; nothing for strings, 4-bit and other types that we do not have.
std::optional<DType> dtype_of_onnx(int data_type) noexcept;

/// Takes the values out of `proto`: raw_data is kept as it is, typed fields are converted. Throws Error(file_format) if
/// their number does not agree with the shape, Error(file_unsupported) for other types and for data in other files.
LoadedTensor take_tensor(::onnx::TensorProto& proto, const Subject& subject);

}  // namespace patchfold::formats
